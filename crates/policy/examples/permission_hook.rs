//! A permission hook: reads a tool call as JSON on standard input, answers allow or deny as JSON.
//!
//! ```sh
//! echo '{"tool_name": "bash", "tool_input": {"command": "sudo rm -rf /"}, "cwd": "/tmp/w"}' \
//!     | cargo run -q -p agent-bash-policy --example permission_hook
//! ```
//!
//! The exit code is 0 for allow and 2 for deny, with the reason on standard error too, which is what agents
//! with hooks of this kind expect and show to their model. Calls of other tools, which have no command, are allowed.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own, whose answer goes to standard output and error"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a program of its own reads its environment itself"
)]

use std::io::Read;
use std::process::ExitCode;

use agent_bash_policy::{Context, Policy};
use serde::Deserialize;

#[derive(Deserialize)]
struct Call {
    tool_name: Option<String>,
    tool_input: Input,
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct Input {
    command: Option<String>,
}

fn main() -> ExitCode {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    let call: Call = match read
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()))
    {
        Ok(call) => call,
        // What cannot be understood is not let through.
        Err(error) => return deny(&format!("not a tool call: {error}"), None, None),
    };
    let command = match (call.tool_input.command, call.tool_name) {
        (Some(command), _) => command,
        (None, Some(_)) => return allow(),
        (None, None) => return deny("not a tool call: no tool_name and no command", None, None),
    };
    let mut context = Context::new(call.cwd.unwrap_or_else(|| "/".to_owned()));
    context.home = std::env::var_os("HOME").map(Into::into);
    let verdict = Policy::standard().decide(&command, &context);
    match verdict.finding().filter(|_| verdict.refuses()) {
        Some(finding) => deny(
            &finding.message,
            Some(&finding.rule),
            Some(&finding.suggestion),
        ),
        None => allow(),
    }
}

fn allow() -> ExitCode {
    println!("{}", serde_json::json!({ "decision": "allow" }));
    ExitCode::SUCCESS
}

fn deny(reason: &str, rule: Option<&str>, suggestion: Option<&str>) -> ExitCode {
    println!(
        "{}",
        serde_json::json!({
            "decision": "deny",
            "reason": reason,
            "rule": rule,
            "suggestion": suggestion,
        })
    );
    eprintln!("{reason}");
    ExitCode::from(2)
}
