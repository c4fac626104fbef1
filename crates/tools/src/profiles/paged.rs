//! The profile `paged`: stdout and stderr are shown separately, each up to 50 KB or 2000 lines. Of
//! a longer stream, the first and last 500 lines and the path of a file are shown.

mod schema;
mod text;

use crate::profile_tool::{ProfileTool, ReaderTool};
use agent_bash_core::{
    OutputLimits, Profile, ProfileName, ShellChoice, Streams, SurvivorPolicy, Timeouts, Truncation,
};
use agent_bash_sink::Naming;
use std::time::Duration;

const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// The profile for a model that pages through the output in a file.
pub const PAGED: Profile = Profile {
    name: ProfileName::Paged,
    normalise: false,
    timeouts: Timeouts {
        default: Duration::from_secs(120),
        slow: MAX_TIMEOUT,
        background: Duration::from_secs(24 * 60 * 60),
        min: Duration::from_millis(1),
        max: MAX_TIMEOUT,
    },
    grace: Duration::from_secs(2),
    streams: Streams::Split,
    output: OutputLimits {
        truncation: Truncation::HeadTail {
            max_bytes: 50 * 1024,
            max_lines: 2000,
            head_lines: 500,
            tail_lines: 500,
        },
        max_line_chars: None,
    },
    shell: ShellChoice::Bash,
    pty: false,
    survivors: SurvivorPolicy::Adopt,
    completion_status: false,
    schema_fields: &["command", "timeout", "description"],
};

/// The tool under this profile.
pub(super) const TOOL: ProfileTool = ProfileTool {
    profile: PAGED,
    description: schema::description,
    field: crate::schema::fields::field,
    write: text::write,
    reader: ReaderTool::BY_PATH,
    naming: Naming::Paged,
    has_fixed_fields: false,
};
