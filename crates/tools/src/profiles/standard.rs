//! The profile `standard`: the last 50 KB of one merged stream and a link `artifact://`, and time
//! limits from 1 s to 1 h.

mod schema;
pub(crate) mod text;

use crate::profile_tool::{ProfileTool, ReaderTool};
use agent_bash_core::{
    OutputLimits, Profile, ProfileName, ShellChoice, Streams, SurvivorPolicy, Timeouts, Truncation,
    words,
};
use agent_bash_sink::Naming;
use std::time::Duration;

/// The default profile.
pub const STANDARD: Profile = Profile {
    name: ProfileName::Standard,
    normalise: true,
    timeouts: Timeouts {
        default: Duration::from_secs(300),
        // The same limit as in the profile `modes`.
        slow: Duration::from_secs(15 * 60),
        background: Duration::from_secs(24 * 60 * 60),
        min: Duration::from_secs(1),
        max: Duration::from_secs(3600),
    },
    grace: Duration::from_secs(2),
    streams: Streams::Merged,
    output: OutputLimits {
        truncation: Truncation::Tail { bytes: 50 * 1024 },
        max_line_chars: None,
    },
    shell: ShellChoice::UserBash,
    pty: true,
    survivors: SurvivorPolicy::Adopt,
    completion_status: false,
    schema_fields: words![
        "command mode timeout wait cwd head tail show show_kb session pty env stdin description",
    ],
};

/// The tool under this profile.
pub(super) const TOOL: ProfileTool = ProfileTool {
    profile: STANDARD,
    description: schema::description,
    field: crate::schema::fields::field,
    write: text::write,
    reader: ReaderTool::BY_NUMBER,
    naming: Naming::Numbered,
    has_fixed_fields: false,
};
