//! Compares this build with the program of an earlier revision, by turns in one run.
//!
//! `cargo xtask bench earlier -- REVISION` builds that program, and names it to this benchmark.
//! A ratio above [`MAX_RATIO`] is marked. Only the ratios are meaningful.

#[path = "common/lines.rs"]
mod lines;

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context as _, Result, ensure};
use lines::{Server, percentiles, timed};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// The variable that names the earlier program.
const EARLIER_PROGRAM: &str = "AGENT_BASH_EARLIER";

/// The largest ratio that is no loss.
const MAX_RATIO: f64 = 1.1;

/// The rounds of each measurement, after one for warming up.
const ROUNDS: usize = 60;

/// The calls that are in flight at the same time.
const IN_FLIGHT: usize = 64;

/// The work that is measured.
enum Work {
    /// A whole process with these arguments, and this text as its input.
    Process(&'static [&'static str], &'static str),
    /// One call through a server, in a session or not.
    Call(&'static str, Option<&'static str>),
    /// Many calls through a server at the same time.
    Calls(&'static str),
}

const HOOK_INPUT: &str = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/", "tool_input": {"command": "ls"}}"#;

const ALL_WORK: [(&str, Work); 10] = [
    ("run true", Work::Process(&["run", "true"], "")),
    (
        "run --changes=undo 'echo x >a'",
        Work::Process(&["run", "--changes=undo", "echo x >a"], ""),
    ),
    (
        "run --sandbox workspace_write true",
        Work::Process(&["run", "--sandbox", "workspace_write", "true"], ""),
    ),
    (
        "run --trial true",
        Work::Process(&["run", "--trial", "true"], ""),
    ),
    ("hook", Work::Process(&["hook", "claude-code"], HOOK_INPUT)),
    ("isolated true", Work::Call("true", None)),
    ("isolated 'echo x >a'", Work::Call("echo x >a", None)),
    ("session true", Work::Call("true", Some("s"))),
    ("session /bin/true", Work::Call("/bin/true", Some("s"))),
    ("64 x /bin/true in flight", Work::Calls("/bin/true")),
];

/// A program, and its own world.
struct Side {
    program: PathBuf,
    world: World,
    server: Server,
}

fn main() -> Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark reads its own environment"
    )]
    let Some(earlier) = std::env::var_os(EARLIER_PROGRAM) else {
        say("no earlier program: cargo xtask bench earlier -- REVISION");
        return Ok(());
    };
    let mut sides = [
        Side::new(Path::new(&earlier))?,
        Side::new(product::agent_bash()?)?,
    ];
    for (name, work) in &ALL_WORK {
        let mut times = [const { Vec::new() }; 2];
        for round in 0..=ROUNDS {
            // By turns, the other one first.
            for side in [round % 2, 1 - round % 2] {
                times[side].push(timed(|| sides[side].run(work))?);
            }
        }
        let [earlier, now] = times.map(|times| percentiles(times[1..].to_vec())[1]);
        let ratio = now.as_secs_f64() / earlier.as_secs_f64();
        let mark = if ratio > MAX_RATIO { "  slower" } else { "" };
        let shown = |it: Duration| it.as_secs_f64() * 1e3;
        say(&format!(
            "{name:36} earlier {:8.2} ms, now {:8.2} ms, ratio {ratio:.2}{mark}",
            shown(earlier),
            shown(now),
        ));
    }
    Ok(())
}

impl Side {
    fn new(program: &Path) -> Result<Self> {
        let world = World::new()?;
        let mut command = world.command(program);
        command.arg("rpc");
        let mut server = Server::start(command)?;
        server.ask(&json!({"id": 0, "type": "ping"}))?;
        Ok(Self {
            program: program.to_owned(),
            world,
            server,
        })
    }

    fn run(&mut self, work: &Work) -> Result<()> {
        match work {
            Work::Process(arguments, input) => self.process(arguments, input),
            Work::Call(script, session) => {
                self.send(0, script, *session)?;
                self.answers(1)
            }
            Work::Calls(script) => {
                (0..IN_FLIGHT).try_for_each(|id| self.send(id, script, None))?;
                self.answers(IN_FLIGHT)
            }
        }
    }

    fn process(&self, arguments: &[&str], input: &str) -> Result<()> {
        let mut command = self.world.command(&self.program);
        command.args(arguments).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::null()).spawn()?;
        let mut stdin = child.stdin.take().context("stdin is piped")?;
        stdin.write_all(input.as_bytes())?;
        drop(stdin);
        let status = child.wait()?;
        ensure!(status.success(), "{arguments:?}: {status}");
        Ok(())
    }

    fn send(&mut self, id: usize, script: &str, session: Option<&str>) -> Result<()> {
        let mut request = json!({"command": script});
        if let Some(session) = session {
            request["session"] = json!(session);
        }
        let message = json!({"id": id, "type": "tool_call", "request": request});
        self.server.send(&message)
    }

    /// Waits for this number of responses.
    fn answers(&mut self, number: usize) -> Result<()> {
        let mut received = 0;
        while received < number {
            let line: serde_json::Value = serde_json::from_str(&self.server.line()?)?;
            // Update lines come before the response.
            if line.get("success").is_some() {
                ensure!(line["data"]["status"]["code"] == 0, "{line}");
                received += 1;
            }
        }
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark says what it found")]
fn say(text: &str) {
    println!("{text}");
}
