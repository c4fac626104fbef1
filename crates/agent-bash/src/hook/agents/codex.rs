//! Codex: `PreToolUse`. It reports a call of `exec_command` as one of `Bash`, with the command's directory as that
//! of the call.

use super::agent::{Agent, Form, GoOn, Place, SettingsForm, ShellTool};
use super::claude_code::{add, refuse};
use serde_json::{Value, json};

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
    go_on,
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

/// Codex accepts a replaced input only together with `allow`. That suppresses no question there: a separate hook
/// (`PermissionRequest`) grants what the user would be asked.
fn go_on(with: &GoOn) -> Value {
    let mut specific = json!({ "hookEventName": "PreToolUse" });
    if with.input.is_some() {
        specific["permissionDecision"] = "allow".into();
    }
    add(&mut specific, with);
    json!({ "hookSpecificOutput": specific })
}
