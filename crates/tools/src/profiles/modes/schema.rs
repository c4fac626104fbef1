//! The description and the schema of the tool under the profile `modes`, fixed by
//! docs/profiles/modes.md.

use agent_bash_core::Profile;
use serde_json::{Value, json};

pub(crate) fn description(_: &Profile, cwd: &str) -> String {
    format!(
        r#"Executes shell commands via bash -c, returning combined stdout/stderr.
Bash state changes (working dir, variables, aliases) don't persist between calls.

With mode="background", returns immediately with output redirected to a file.
Use background for servers/demos that need to stay running.

Use mode="slow" for potentially slow commands: builds, downloads,
installs, tests, or any other substantive operation.

IMPORTANT: Keep commands concise. The command input must be less than 60k tokens.
For complex scripts, write them to a file first and then execute the file.

<pwd>{cwd}</pwd>"#
    )
}

pub(crate) fn field(_: &Profile, name: &str) -> Value {
    match name {
        "command" => {
            json!({ "type": "string", "description": "Shell command to execute via bash -c" })
        }
        "mode" => json!({
            "type": "string",
            "enum": ["default", "slow", "background"],
            "description": "Execution mode: default (30s timeout), slow (15min timeout), background (detached)"
        }),
        _ => json!({}),
    }
}
