//! Measures the cost of a call through each interface: the round trip of a warm `true` through the
//! library, RPC and MCP, interleaved so that all of them see the same machine load and the same
//! idle times.
//!
//! `cargo xtask bench tests -- 2000` sets the number of rounds. The goal is a limit on the
//! difference to the library: at most 150 µs for RPC and 400 µs for MCP, including the client's own
//! I/O. `echo` is the unavoidable part: the response line sent through `cat` and back. On a busy
//! machine only the fastest tenth is meaningful.

#[path = "common/lines.rs"]
mod lines;

use agent_bash::core::{Cancel, Status};
use agent_bash::process::supervisor::{self, Supervisor};
use agent_bash::session::ConversationOptions;
use agent_bash::settings::Settings;
use agent_bash::{Conversation, HostContext};
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Result, ensure};
use lines::{Server, now, percentiles, timed};
use serde_json::json;
use std::io::BufReader;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

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
        processes: Arc::default(),
    };
    let options = ConversationOptions::long_lived("bench", Supervisor::this_program(&token));
    let session = Conversation::open(&Settings::default(), host, options)?;
    let session = Arc::new(session);
    let mut echo = Server::start(world.command(Path::new("cat")))?;
    let server = |protocol| -> Result<_> {
        let mut command = world.command(product::agent_bash()?);
        command.arg(protocol);
        Ok(command)
    };
    let mut rpc = Server::start(server("rpc")?)?;
    let mut rpc_by_sockets = by_sockets(server("rpc")?)?;
    let mut mcp = Server::start(server("mcp")?)?;
    mcp.ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}))?;
    mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;

    let mut times = [const { Vec::new() }; 5];
    let mut line = json!(null);
    for round in 0..rounds + WARM_UP {
        let library = {
            let session = Arc::clone(&session);
            // In a task, as in hosts and servers: a future driven by `block_on` pays for a thread
            // switch at each step.
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
        let by_rpc = [call_rpc(&mut rpc)?, call_rpc(&mut rpc_by_sockets)?];
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
    let [library, echo_alone, by_rpc, by_rpc_sockets, by_mcp] = times.map(percentiles);
    report("library", library, library);
    report("rpc", by_rpc, library);
    report("  by sockets", by_rpc_sockets, library);
    report("mcp", by_mcp, library);
    report("echo alone", echo_alone, [Duration::ZERO; 3]);
    drop((rpc, rpc_by_sockets, mcp, echo));
    session.close();
    Ok(())
}

/// A server connected to its client by sockets, as clients on Node do.
fn by_sockets(mut command: Command) -> Result<Server> {
    let (stdin, stdout) = (UnixStream::pair()?, UnixStream::pair()?);
    command.stdin(OwnedFd::from(stdin.0));
    command.stdout(OwnedFd::from(stdout.0));
    Ok(Server {
        child: command.spawn()?,
        input: Some(Box::new(stdin.1)),
        output: BufReader::new(Box::new(stdout.1)),
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
