//! Cost of a call through each interface: round trip of a warm `true` through the library, RPC and MCP, interleaved
//! so that all of them see the same machine load and the same idle times.
//!
//! `cargo xtask bench tests -- 2000` sets the number of rounds. What counts is the difference to the library: a
//! server may add at most 150 µs with RPC and 400 µs with MCP, including the client's own I/O. `echo` is the part
//! that no server can save: the line of the answer sent through `cat` and back. On a busy machine only the fastest
//! tenth is meaningful.

use agent_bash::core::{Cancel, Status};
use agent_bash::process::supervisor::{self, Supervisor};
use agent_bash::session::SessionOptions;
use agent_bash::settings::Settings;
use agent_bash::{HostContext, Session};
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Default number of rounds.
const ROUNDS: usize = 500;

/// Warm-up rounds.
const WARM_UP: usize = 20;

fn main() -> Result<()> {
    // Must come first: this program is a host and re-executes itself as a supervisor.
    let token = supervisor::init();
    let rounds = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(ROUNDS);
    let world = World::new()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let _on_runtime = runtime.enter();
    let environment = world.environment().into_iter();
    let host = HostContext {
        cwd: world.cwd(),
        home: Some(world.home()),
        env: Arc::new(
            environment
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ),
        tools: None,
    };
    let options = SessionOptions::many_calls("bench", Supervisor::this_program(&token));
    let session = Session::open(&Settings::default(), host, options)?;
    let session = Arc::new(session);
    let mut echo = Server::start(world.command(Path::new("cat")), Joined::Pipes)?;
    let server = |protocol| -> Result<_> {
        let mut command = world.command(product::agent_bash()?);
        command.arg(protocol);
        Ok(command)
    };
    let mut rpc = Server::start(server("rpc")?, Joined::Pipes)?;
    let mut by_sockets = Server::start(server("rpc")?, Joined::Sockets)?;
    let mut mcp = Server::start(server("mcp")?, Joined::Pipes)?;
    mcp.ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}))?;
    mcp.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;

    let mut times = [const { Vec::new() }; 5];
    let mut line = json!(null);
    for round in 0..rounds + WARM_UP {
        let library = {
            let session = Arc::clone(&session);
            // In a task, as in hosts and servers: a future driven by `block_on` pays for a thread switch at each
            // step.
            let call = runtime.spawn(async move {
                let (cancel, begin) = (Cancel::new(), now());
                let call = session.tool().execute(json!({"command": "true"}), &cancel);
                let result = Box::pin(call).await;
                (result, begin.elapsed())
            });
            let (result, time) = runtime.block_on(call)?;
            ensure!(result.status == Status::Exited { code: 0 }, "{result:?}");
            time
        };
        let by_echo = timed(|| {
            ensure!(echo.ask(&line)? == line);
            Ok(())
        })?;
        let mut call_rpc = |server: &mut Server| {
            timed(|| {
                line = server.ask(
                    &json!({"id": round, "type": "tool_call", "request": {"command": "true"}}),
                )?;
                ensure!(line["data"]["status"]["code"] == 0, "{line}");
                Ok(())
            })
        };
        let by_rpc = [call_rpc(&mut rpc)?, call_rpc(&mut by_sockets)?];
        let by_mcp = timed(|| {
            let answer = mcp.ask(
                &json!({"jsonrpc": "2.0", "id": round + 1, "method": "tools/call",
                "params": {"name": "bash", "arguments": {"command": "true"}}}),
            )?;
            ensure!(
                answer["result"]["content"][0]["text"] == "(no output)",
                "{answer}"
            );
            Ok(())
        })?;
        if round >= WARM_UP {
            let round = [library, by_echo, by_rpc[0], by_rpc[1], by_mcp];
            for (all, time) in times.iter_mut().zip(round) {
                all.push(time);
            }
        }
    }
    let [library, echo_alone, by_rpc, by_rpc_sockets, by_mcp] = times.map(deciles);
    report("library", library, library);
    report("rpc", by_rpc, library);
    report("  by sockets", by_rpc_sockets, library);
    report("mcp", by_mcp, library);
    report("echo alone", echo_alone, [Duration::ZERO; 3]);
    drop((rpc, by_sockets, mcp, echo));
    session.close();
    Ok(())
}

/// A server and its client.
struct Server {
    child: Child,
    input: Option<Box<dyn Write>>,
    output: BufReader<Box<dyn Read>>,
}

/// How a server and its client are connected.
#[derive(Clone, Copy)]
enum Joined {
    Pipes,
    /// As clients on Node do.
    Sockets,
}

impl Server {
    fn start(mut command: Command, by: Joined) -> Result<Self> {
        let (input, output): (Box<dyn Write>, Box<dyn Read>);
        let child;
        match by {
            Joined::Pipes => {
                let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut started = piped.spawn()?;
                input = Box::new(started.stdin.take().context("stdin is piped")?);
                output = Box::new(started.stdout.take().context("stdout is piped")?);
                child = started;
            }
            Joined::Sockets => {
                let (stdin, stdout) = (UnixStream::pair()?, UnixStream::pair()?);
                command.stdin(OwnedFd::from(stdin.0));
                command.stdout(OwnedFd::from(stdout.0));
                child = command.spawn()?;
                (input, output) = (Box::new(stdin.1), Box::new(stdout.1));
            }
        }
        Ok(Self {
            child,
            input: Some(input),
            output: BufReader::new(output),
        })
    }

    fn tell(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("it is open")?;
        Ok(input.write_all(format!("{message}\n").as_bytes())?)
    }

    fn ask(&mut self, message: &Value) -> Result<Value> {
        self.tell(message)?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        // It ends when its input does.
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn now() -> Instant {
    Instant::now()
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let begin = now();
    work()?;
    Ok(begin.elapsed())
}

/// The 10th percentile, the median, and the 90th percentile.
fn deciles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    [1, 5, 9].map(|tenth| {
        times
            .get(times.len() * tenth / 10)
            .copied()
            .unwrap_or_default()
    })
}

#[expect(clippy::print_stdout, reason = "a benchmark says what it found")]
fn report(name: &str, times: [Duration; 3], library: [Duration; 3]) {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let [low, median, high] = times.map(micros);
    let [low_more, more, _] = [0, 1, 2].map(|at| micros(times[at]) - micros(library[at]));
    println!(
        "{name:<12} fastest tenth {low:6.0} µs ({low_more:+5.0}), median {median:6.0} µs ({more:+5.0}), slowest tenth {high:6.0} µs"
    );
}
