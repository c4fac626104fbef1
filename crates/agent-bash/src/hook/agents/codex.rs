//! Codex: `PreToolUse`. Codex reports `exec_command` as `Bash`; `cwd` is the directory of the
//! command.

use super::agent::{Agent, Form, SettingsForm, SettingsPath, ShellTool};
use super::claude_code::{advise, refuse};
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
    advise,
    rewrite: Some(rewrite),
    settings: SettingsPath {
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

/// Codex 0.171.0 takes a new input only with `allow`: without it, the hook fails and the old
/// command runs.
fn rewrite(input: &Value, advice: Option<&str>) -> Value {
    let mut answer = json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": input,
        }
    });
    if let Some(advice) = advice {
        answer["hookSpecificOutput"]["additionalContext"] = advice.into();
    }
    answer
}
