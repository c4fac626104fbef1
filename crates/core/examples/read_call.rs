//! Parses a tool call as a model writes it (JSON on stdin) and prints the result: `echo '{"cmd":
//! "make", "timeout": "90s"}' | cargo run -p agent-bash-core --example read_call`.

#![expect(clippy::print_stdout, reason = "a program prints")]

use agent_bash_core::parse_request;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let call: serde_json::Value = serde_json::from_reader(std::io::stdin().lock())?;
    Ok(match parse_request(&call) {
        Ok(parsed) => {
            println!("{:#?}", parsed.request);
            for notice in parsed.notices {
                println!("notice: {}", notice.text);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("no call: {error}");
            ExitCode::FAILURE
        }
    })
}
