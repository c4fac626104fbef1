//! `workspace`: runs in the workspace root, 30 s, the first 100 KB, `[Exit code: N]` at the very
//! end.

use agent_bash_core::{
    OutputLimits, Profile, ProfileName, ShellChoice, Streams, SurvivorPolicy, TextLayout, Timeouts,
    Truncation,
};
use std::time::Duration;

/// The profile of a workspace.
pub const WORKSPACE: Profile = Profile {
    name: ProfileName::Workspace,
    normalise: false,
    timeouts: Timeouts {
        default: Duration::from_secs(30),
        // A call that asks for more time gets the limit of `standard`.
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
    layout: TextLayout::Workspace,
    shell: ShellChoice::ZshOrBashLogin,
    pty: false,
    survivors: SurvivorPolicy::Adopt,
    completion_status: false,
    schema_fields: &["command"],
};
