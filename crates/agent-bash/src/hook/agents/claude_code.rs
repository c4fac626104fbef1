//! Claude Code: `PreToolUse`, as its SDK declares it (`PreToolUseHookInput`, `PreToolUseHookSpecificOutput`).
//!
//! `allow` is never answered: it would skip the question to the user. An input that is replaced goes through the
//! agent's own permissions as the first one would have.

use super::agent::{Agent, Form, GoOn, Place, SettingsForm, ShellTool};
use serde_json::{Value, json};

const EVENT: &str = "PreToolUse";

/// Claude Code.
pub const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    tried_with: "@anthropic-ai/claude-code 2.1.197",
    event: EVENT,
    tools: &[
        ShellTool {
            name: "Bash",
            command: "command",
            optional: false,
            directory: None,
        },
        // Watches what a command prints, or a web socket, which has no command.
        ShellTool {
            name: "Monitor",
            command: "command",
            optional: true,
            directory: None,
        },
    ],
    refuse,
    go_on,
    place: Place {
        variable: "CLAUDE_CONFIG_DIR",
        below_variable: "",
        below_home: ".claude",
        below_project: ".claude",
        file: "settings.json",
    },
    form: Form::Settings(SettingsForm {
        matcher: "Bash|Monitor",
        timeout: 30,
        comments: false,
    }),
    then: "Claude Code lists it under /hooks.",
};

/// The answer that refuses. Codex takes the same.
pub(super) fn refuse(reason: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": EVENT,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    })
}

fn go_on(with: &GoOn) -> Value {
    let mut specific = json!({ "hookEventName": EVENT });
    add(&mut specific, with);
    json!({ "hookSpecificOutput": specific })
}

/// What goes with a call, without a decision. Codex has the same fields.
pub(super) fn add(specific: &mut Value, with: &GoOn) {
    if let Some(input) = &with.input {
        specific["updatedInput"] = Value::Object(input.clone());
    }
    if let Some(advice) = &with.advice {
        specific["additionalContext"] = advice.as_str().into();
    }
}
