//! The profile `workspace`: calls run in the workspace root for at most 30 s by default. The text
//! has the first 100 KB of output, and `[Exit code: N]` as its last line.

mod schema;
mod text;

use crate::profile_tool::{ProfileTool, ReaderTool};
use agent_bash_core::{
    OutputLimits, Profile, ProfileName, ShellChoice, Streams, SurvivorPolicy, Timeouts, Truncation,
};
use agent_bash_sink::Naming;
use std::time::Duration;

/// The profile for calls in the root of a workspace.
pub const WORKSPACE: Profile = Profile {
    name: ProfileName::Workspace,
    normalise: false,
    timeouts: Timeouts {
        default: Duration::from_secs(30),
        // The same limits as in the profile `standard`.
        slow: Duration::from_secs(15 * 60),
        background: Duration::from_secs(24 * 60 * 60),
        min: Duration::from_millis(1),
        max: Duration::from_secs(3600),
    },
    grace: Duration::from_secs(2),
    streams: Streams::Split,
    output: OutputLimits {
        truncation: Truncation::Head {
            bytes: 100 * 1024,
            whole_lines: false,
        },
        max_line_chars: None,
    },
    shell: ShellChoice::ZshOrBashLogin,
    pty: false,
    survivors: SurvivorPolicy::Adopt,
    completion_status: false,
    schema_fields: &["command"],
};

/// The tool under this profile.
pub(super) const TOOL: ProfileTool = ProfileTool {
    profile: WORKSPACE,
    description: schema::description,
    field: crate::schema::fields::field,
    write: text::write,
    reader: ReaderTool::BY_NUMBER,
    naming: Naming::Numbered,
    has_fixed_fields: false,
};
