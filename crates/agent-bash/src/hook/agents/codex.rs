//! Codex: `PreToolUse`. It writes what its `exec_command` is given as a call of `Bash`, and the directory that the
//! command runs in as that of the call.

use super::claude_code::refuse;
use super::{Agent, Form, Place, SettingsForm, ShellTool};
use serde_json::{Map, Value, json};

/// Codex.
pub const CODEX: Agent = Agent {
    name: "codex",
    tried_with: "@openai/codex 0.169.0",
    event: "PreToolUse",
    tools: &[ShellTool {
        name: "Bash",
        command: "command",
        optional: false,
        directory: None,
    }],
    refuse,
    replace,
    place: Place {
        variable: "CODEX_HOME",
        below_variable: "",
        below_home: ".codex",
        below_project: ".codex",
        file: "hooks.json",
    },
    form: Form::Settings(SettingsForm {
        matcher: "Bash",
        timeout: 30,
        comments: false,
    }),
    then: "Codex asks for your trust in a new hook, and until you have given it under /hooks no command is checked.",
};

/// Codex takes another input together with `allow` only. That skips no question there: hooks that grant what the user
/// would be asked are others (`PermissionRequest`).
fn replace(input: &Map<String, Value>) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": input,
        }
    })
}
