//! opencode: `tool.execute.before` of a plugin. Its hooks are functions, so a plugin file calls
//! this program; the format between the two is our own.

use super::agent::{Agent, Form, SettingsPath, ShellTool};
use serde_json::{Value, json};

/// opencode.
pub const OPENCODE: Agent = Agent {
    name: "opencode",
    tried_with: "opencode-ai 1.18.33",
    event: "tool.execute.before",
    tools: &[ShellTool {
        name: "bash",
        command: "command",
        optional: false,
        directory: Some("workdir"),
    }],
    refuse,
    advise,
    rewrite: None,
    settings: SettingsPath {
        variable: "XDG_CONFIG_HOME",
        below_variable: "opencode",
        below_home: ".config/opencode",
        below_project: ".opencode",
        file: "plugins/agent-bash.js",
    },
    form: Form::Plugin(plugin),
    then: "opencode reads its plugins when it starts.",
};

fn refuse(reason: &str) -> Value {
    json!({ "refused": reason })
}

fn advise(advice: &str) -> Value {
    json!({ "advice": advice })
}

/// The plugin. An error that it throws blocks the call, and is shown to the model.
fn plugin(program: &str) -> String {
    let program = Value::from(program);
    PLUGIN_TEXT.replacen("PROGRAM", &program.to_string(), 1)
}

const PLUGIN_TEXT: &str = include_str!("opencode.js");
