//! The smallest host: a session on this machine, and one call. `cargo run -p agent-bash --example
//! run_once -- 'ls | wc -l'`

#![expect(clippy::print_stdout, reason = "a program prints")]

use agent_bash::core::Cancel;
use agent_bash::process::supervisor::{self, Supervisor};
use agent_bash::session::ConversationOptions;
use agent_bash::{Conversation, HostContext, settings};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Must come first, before any thread exists: this program re-executes itself as the supervisor
    // of its commands.
    let token = supervisor::init();
    let host = HostContext::capture(std::path::absolute(".")?);
    let settings = settings::load(&host)?.settings;
    let options = ConversationOptions::long_lived("my-agent", Supervisor::this_program(&token));
    let script = std::env::args().nth(1).unwrap_or("echo hello".to_owned());
    tokio::runtime::Runtime::new()?.block_on(async {
        let session = Conversation::open(&settings, host, options)?;
        let request = json!({ "command": script, "timeout": "2m" });
        let result = session.tool().execute(request, &Cancel::new()).await;
        println!("{}", result.text); // for the model
        println!("{:?}", result.status); // for the program
        Ok(())
    })
}
