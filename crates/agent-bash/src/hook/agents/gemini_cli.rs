//! Gemini CLI: `BeforeTool`, as documented.

use super::agent::{Agent, Form, SettingsForm, SettingsPath, ShellTool};
use serde_json::{Value, json};

/// Gemini CLI.
pub const GEMINI_CLI: Agent = Agent {
    name: "gemini-cli",
    tried_with: "@google/gemini-cli 0.61.0",
    event: "BeforeTool",
    tools: &[ShellTool {
        name: "run_shell_command",
        command: "command",
        optional: false,
        directory: Some("dir_path"),
    }],
    refuse,
    // No field before a tool call is read by the model, and text for the user would not reach it.
    advise: |_| Value::Null,
    rewrite: None,
    settings: SettingsPath {
        variable: "GEMINI_CLI_HOME",
        below_variable: ".gemini",
        below_home: ".gemini",
        below_project: ".gemini",
        file: "settings.json",
    },
    form: Form::Settings(SettingsForm {
        matcher: "run_shell_command",
        timeout: 30_000,
        comments: true,
    }),
    then: "Gemini CLI lists it under /hooks.",
};

fn refuse(reason: &str) -> Value {
    json!({ "decision": "deny", "reason": reason })
}
