//! Gemini CLI: `BeforeTool`, as documented.

use super::agent::{Agent, Form, GoOn, Place, SettingsForm, ShellTool};
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
    go_on,
    place: Place {
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

/// There is no field before a tool call that the model would read, and text for the user would not reach it.
fn go_on(with: &GoOn) -> Value {
    let Some(input) = &with.input else {
        return Value::Null;
    };
    json!({ "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input } })
}
