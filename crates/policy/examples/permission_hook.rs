//! A permission hook: reads a tool call as JSON on standard input, answers allow or deny as JSON.
//!
//! ```sh
//! echo '{"tool_name": "bash", "tool_input": {"command": "sudo rm -rf /"}, "cwd": "/tmp/w"}' \
//!     | cargo run -q -p agent-bash-policy --example permission_hook
//! ```
//!
//! The exit code is 0 for allow and 2 for deny, which is what agents with hooks of this kind expect.

#![expect(
    clippy::print_stdout,
    reason = "a program of its own, whose answer goes to standard output"
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
    tool_input: Input,
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct Input {
    command: String,
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
        Err(error) => {
            println!(
                "{}",
                serde_json::json!({ "decision": "deny", "reason": format!("not a tool call: {error}") })
            );
            return ExitCode::from(2);
        }
    };
    let mut context = Context::new(call.cwd.unwrap_or_else(|| "/".to_owned()));
    context.home = std::env::var_os("HOME").map(Into::into);
    let verdict = Policy::standard().decide(&call.tool_input.command, &context);
    if verdict.refuses() {
        let finding = verdict.finding();
        println!(
            "{}",
            serde_json::json!({
                "decision": "deny",
                "reason": finding.map(|finding| &finding.message),
                "rule": finding.map(|finding| &finding.rule),
                "suggestion": finding.map(|finding| &finding.suggestion),
            })
        );
        return ExitCode::from(2);
    }
    println!("{}", serde_json::json!({ "decision": "allow" }));
    ExitCode::SUCCESS
}
