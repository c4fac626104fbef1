//! The profile `modes`: the field `mode` determines the time limit. Up to 128 KB of output are
//! shown; of a longer output, the first and last 4 KB.

mod schema;
mod text;

use crate::profile_tool::{ProfileTool, ReaderTool};
use agent_bash_core::{
    OutputLimits, Profile, ProfileName, ShellChoice, Streams, SurvivorPolicy, Timeouts, Truncation,
};
use agent_bash_sink::Naming;
use std::time::Duration;

const ONE_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The profile with execution modes.
pub const MODES: Profile = Profile {
    name: ProfileName::Modes,
    normalise: false,
    timeouts: Timeouts {
        default: Duration::from_secs(30),
        slow: Duration::from_secs(15 * 60),
        background: ONE_DAY,
        // The field `timeout` is accepted although the schema does not show it.
        min: Duration::from_millis(1),
        max: ONE_DAY,
    },
    // Fixed by docs/profiles/modes.md.
    grace: Duration::from_secs(15),
    streams: Streams::Merged,
    output: OutputLimits {
        truncation: Truncation::Middle {
            max: 128 * 1024,
            ends: 4 * 1024,
        },
        max_line_chars: None,
    },
    shell: ShellChoice::Bash,
    // Fixed by docs/profiles/modes.md.
    pty: false,
    survivors: SurvivorPolicy::Adopt,
    completion_status: true,
    schema_fields: &["command", "mode"],
};

/// The tool under this profile.
pub(super) const TOOL: ProfileTool = ProfileTool {
    profile: MODES,
    description: schema::description,
    field: schema::field,
    write: text::write,
    reader: ReaderTool::BY_NUMBER,
    naming: Naming::Numbered,
    has_fixed_fields: true,
};
