//! A complete agent in miniature: a model, a loop, three tools, and a user alongside. Run it with
//! `cargo run -p agent-bash --example agent_loop`.
//!
//! The model is scripted, everything else is real. It breaks a rule and reads why, pages through an
//! output that was too long, starts a background job and waits for it, while the user runs a
//! command of their own with `!`.

#![expect(clippy::print_stdout, reason = "a program prints")]

use agent_bash::core::{ArtifactId, Cancel, JobId};
use agent_bash::exec::{OutputRange, WaitOutcome};
use agent_bash::process::supervisor::{self, Supervisor};
use agent_bash::session::{BangOptions, Conversation, ConversationOptions, parse_bang};
use agent_bash::settings::Settings;
use agent_bash::{HostContext, sink};
use serde_json::{Value, json};
use std::error::Error;
use std::time::Duration;

/// The answer of a model: a tool call, or that it is done.
enum ModelAnswer {
    Call(&'static str, Value),
    Done(String),
}

/// The scripted model. Like a real one it sees only text: `seen` is the result of its last call.
fn model(turn: usize, seen: &str) -> ModelAnswer {
    match turn {
        0 => ModelAnswer::Call("bash", json!({"command": "git add -A"})),
        1 if seen.starts_with("Blocked: ") => {
            let command = "for i in $(seq 20000); do echo \"line $i of a long build\"; done";
            ModelAnswer::Call("bash", json!({"command": command, "timeout": "1m"}))
        }
        2 if seen.contains("Full: artifact://") => {
            let id = seen.split("artifact://").nth(1).unwrap_or_default();
            let id = id.trim_end_matches(']');
            ModelAnswer::Call("read_artifact", json!({"id": id, "offset": 10_000}))
        }
        3 => {
            let command = "for i in 1 2 3; do echo tick $i; sleep 0.1; done";
            ModelAnswer::Call("bash", json!({"command": command, "mode": "background"}))
        }
        4 => ModelAnswer::Call("bash_output", json!({"job": "1"})),
        _ => ModelAnswer::Done(format!("the job said: {}", seen.replace('\n', " "))),
    }
}

/// The agent's tools. Errors are returned to the model as text.
async fn call(session: &Conversation, tool: &str, arguments: Value) -> String {
    let answer = match tool {
        "bash" => {
            let result = session.tool().execute(arguments, &Cancel::new()).await;
            return result.text;
        }
        "read_artifact" => read_artifact(session, &arguments),
        "bash_output" => bash_output(session, &arguments).await,
        other => Err(format!("there is no tool {other}").into()),
    };
    answer.unwrap_or_else(|error| error.to_string())
}

/// Three lines of a stored output, from `offset` on.
fn read_artifact(session: &Conversation, arguments: &Value) -> Result<String, Box<dyn Error>> {
    let id: ArtifactId = arguments["id"].as_str().unwrap_or_default().parse()?;
    let artifacts = session.artifacts().ok_or("nothing is kept")?;
    let page: sink::Page = artifacts
        .open(id)?
        .lines(arguments["offset"].as_u64().unwrap_or(1), Some(3))?;
    let hint = page.hint().unwrap_or_default();
    Ok(format!("{}{hint}", page.piece.marked()))
}

/// The complete output of a job, once it has ended.
async fn bash_output(session: &Conversation, arguments: &Value) -> Result<String, Box<dyn Error>> {
    let jobs = session.jobs().ok_or("jobs are not kept")?;
    let id = JobId(arguments["job"].as_str().unwrap_or_default().to_owned());
    let deadline = Some(Duration::from_secs(30));
    let WaitOutcome::Over(job) = jobs.wait(&id, deadline, &Cancel::new()).await? else {
        return Ok("it still runs".to_owned());
    };
    let all = OutputRange::From {
        offset: 0,
        max_bytes: 50 * 1024,
    };
    let output = jobs.output(&job.id, all)?;
    Ok(String::from_utf8_lossy(&output.bytes).into_owned())
}

/// Runs until the model is done. What the user ran meanwhile is added to the conversation at the
/// end of the turn.
async fn converse(session: &Conversation) -> Result<(), Box<dyn Error>> {
    let mut seen = String::new();
    session.begin_turn();
    for turn in 0.. {
        match model(turn, &seen) {
            ModelAnswer::Call(tool, arguments) => {
                println!("model  {tool} {arguments}");
                seen = call(session, tool, arguments).await;
                println!("tool   {}", shortened(&seen));
            }
            ModelAnswer::Done(text) => {
                println!("model  {text}");
                break;
            }
        }
        if turn == 2 {
            user_types(session, "!echo what the user wanted to know").await?;
        }
    }
    for message in session.end_turn() {
        let text = message.for_model().unwrap_or_default();
        println!("told   {}", text.replace('\n', "\n       "));
    }
    Ok(())
}

async fn user_types(session: &Conversation, line: &str) -> Result<(), Box<dyn Error>> {
    let bang = parse_bang(line).ok_or("a line for the model")?;
    let options = BangOptions {
        excluded_from_context: bang.excluded_from_context,
        ..BangOptions::default()
    };
    println!("user   {line}");
    let message = session
        .execute_bash(&bang.command, options, &Cancel::new())
        .await?;
    println!("shown  {}", shortened(&message.output));
    Ok(())
}

/// First and last line, for this program's own output.
fn shortened(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next_back() {
        Some(last) => format!("{first} … {last}"),
        None => first.to_owned(),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Must come first: in a supervisor process this call does not return.
    let token = supervisor::init();
    let directory = std::env::temp_dir();
    let host = HostContext::capture(directory);
    let options = ConversationOptions::long_lived("agent-loop", Supervisor::this_program(&token));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = Conversation::open(&Settings::default(), host, options)?;
        converse(&session).await
    })
}
