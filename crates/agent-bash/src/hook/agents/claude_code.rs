//! Claude Code: `PreToolUse`, as declared in its SDK (`PreToolUseHookInput`, `PreToolUseHookSpecificOutput`).
//!
//! `allow` is never answered, as it would suppress the question to the user. A replaced input is subject to the
//! agent's own permissions, like the original.

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
        // Monitors a command's output, or a web socket, which has no command.
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

/// The answer that refuses; also used for Codex.
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

/// Adds data without a decision. Codex has the same fields.
pub(super) fn add(specific: &mut Value, with: &GoOn) {
    if let Some(input) = &with.input {
        specific["updatedInput"] = Value::Object(input.clone());
    }
    if let Some(advice) = &with.advice {
        specific["additionalContext"] = advice.as_str().into();
    }
}
