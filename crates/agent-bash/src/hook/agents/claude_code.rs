//! Claude Code: `PreToolUse`, as declared in its SDK (`PreToolUseHookInput`,
//! `PreToolUseHookSpecificOutput`).
//!
//! `allow` is never answered, as it would suppress the question to the user.

use super::agent::{Agent, Form, SettingsForm, SettingsPath, ShellTool};
use serde_json::{Value, json};

const HOOK_EVENT: &str = "PreToolUse";

/// Claude Code.
pub const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    tried_with: "@anthropic-ai/claude-code 2.1.197",
    event: HOOK_EVENT,
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
    advise,
    rewrite: None,
    settings: SettingsPath {
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
            "hookEventName": HOOK_EVENT,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    })
}

/// Advice without a decision; also used for Codex.
pub(super) fn advise(advice: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": HOOK_EVENT, "additionalContext": advice } })
}
