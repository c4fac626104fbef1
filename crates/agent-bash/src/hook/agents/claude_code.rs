//! Claude Code: `PreToolUse`, as its SDK declares it (`PreToolUseHookInput`, `PreToolUseHookSpecificOutput`).
//!
//! `allow` is never answered: it would skip the question to the user. An input that is replaced goes through the
//! agent's own permissions as the first one would have.

use super::{Agent, Form, Place, SettingsForm, ShellTool};
use serde_json::{Map, Value, json};

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
    replace,
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

fn replace(input: &Map<String, Value>) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": EVENT, "updatedInput": input } })
}
