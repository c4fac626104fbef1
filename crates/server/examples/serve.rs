//! A server and its client in one program, speaking JSON lines over an in-memory duplex stream:
//! `cargo run -p agent-bash-server --example serve -- 'ls | wc -l'`.

#![expect(clippy::print_stdout, reason = "a program prints")]

use agent_bash::core::Cancel;
use agent_bash::process::supervisor::{self, Supervisor};
use agent_bash::session::ConversationOptions;
use agent_bash::{Conversation, HostContext, settings};
use agent_bash_server::rpc;
use serde_json::json;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    // Must come first, before any thread exists: this program re-executes itself as the supervisor
    // of its commands.
    let token = supervisor::init();
    let host = HostContext::capture(std::path::absolute(".")?);
    let settings = settings::load(&host)?.settings;
    let options = ConversationOptions::long_lived("served", Supervisor::this_program(&token));
    let script = std::env::args().nth(1).unwrap_or("echo hello".to_owned());
    tokio::runtime::Runtime::new()?.block_on(async {
        let session = Arc::new(Conversation::open(&settings, host, options)?);
        // A socket or a pipe would work as well.
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(ours);
        let stop = Cancel::new();
        let (served, asked) = tokio::join!(
            rpc::serve(input, output, session, &stop),
            ask(theirs, &script)
        );
        served?;
        asked
    })
}

/// Makes one call with live updates, prints every line of the answer, and closes the connection.
async fn ask(stream: tokio::io::DuplexStream, script: &str) -> Result<(), Failed> {
    let (answers, mut requests) = tokio::io::split(stream);
    let request =
        json!({"id": "1", "type": "tool_call", "stream": true, "request": {"command": script}});
    requests
        .write_all(format!("{request}\n").as_bytes())
        .await?;
    let mut answers = BufReader::new(answers).lines();
    while let Some(line) = answers.next_line().await? {
        println!("{line}");
        if line.contains(r#""type":"response""#) {
            break;
        }
    }
    requests.shutdown().await?;
    Ok(())
}
