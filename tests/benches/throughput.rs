//! Measures the calls per second of one server with several calls in flight, compared with `xargs
//! -P` and bare bash, interleaved. Measured without a record of changes, then with it, as servers
//! do by default.
//!
//! `cargo xtask bench tests -- 600` sets the number of calls of each kind. Only the ratio within a
//! line is meaningful: speed differs between machines and from minute to minute.

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, Stdio};
use std::time::Instant;

/// Default number of calls.
const CALLS: usize = 600;

/// The command of each call.
const COMMAND: &str = "/bin/true";

fn main() -> Result<()> {
    let calls = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(CALLS);
    let world = World::new()?;
    let settings = world.home().join(".config/agent-bash/config.toml");
    std::fs::create_dir_all(settings.parent().context("it is in a directory")?)?;
    for (level, at_once) in ["off", "undo"]
        .into_iter()
        .flat_map(|level| [1, 2, 4, 16, 64].map(|at_once| (level, at_once)))
    {
        std::fs::write(&settings, format!("[changes]\nlevel = \"{level}\"\n"))?;
        // The better of two runs: other load on the machine slows down only one of them.
        let mut best = [0.0_f64; 2];
        for _ in 0..2 {
            best[0] = best[0].max(server(&world, calls, at_once)?);
            best[1] = best[1].max(xargs(&world, calls, at_once)?);
        }
        let [server, xargs] = best;
        say(&format!(
            "{level:>4}, {at_once:3} in flight: rpc {server:6.0}/s, xargs -P {xargs:6.0}/s, ratio {:.2}",
            server / xargs
        ));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a benchmark says what it found")]
fn say(text: &str) {
    println!("{text}");
}

/// Calls per second through `agent-bash rpc`.
fn server(world: &World, calls: usize, at_once: usize) -> Result<f64> {
    let mut server = world
        .command(product::agent_bash()?)
        .arg("rpc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = server.stdin.take().context("stdin is piped")?;
    let mut lines = BufReader::new(server.stdout.take().context("stdout is piped")?).lines();
    let begin = now();
    let mut sent = 0;
    while sent < at_once.min(calls) {
        send(&mut input, &mut sent)?;
    }
    let mut answered = 0;
    while answered < calls {
        let line: Value = serde_json::from_str(&lines.next().context("it has ended")??)?;
        // Update lines come between the answers.
        if line.get("success").is_none() {
            continue;
        }
        ensure!(line["data"]["status"]["code"] == 0, "{line}");
        answered += 1;
        if sent < calls {
            send(&mut input, &mut sent)?;
        }
    }
    let rate = per_second(calls, begin);
    drop(input);
    ensure!(server.wait()?.success());
    Ok(rate)
}

fn send(input: &mut ChildStdin, sent: &mut usize) -> Result<()> {
    let call = json!({"id": sent, "type": "tool_call", "request": {"command": COMMAND}});
    *sent += 1;
    Ok(writeln!(input, "{call}")?)
}

/// Calls per second with bare bash.
fn xargs(world: &World, calls: usize, at_once: usize) -> Result<f64> {
    let begin = now();
    let mut xargs = world
        .command("xargs")
        .args(["-P", &at_once.to_string(), "-n1", "bash", "-c", COMMAND])
        .stdin(Stdio::piped())
        .spawn()?;
    let mut input = xargs.stdin.take().context("stdin is piped")?;
    input.write_all("x\n".repeat(calls).as_bytes())?;
    drop(input);
    ensure!(xargs.wait()?.success());
    Ok(per_second(calls, begin))
}

#[expect(clippy::cast_precision_loss, reason = "some hundreds of calls")]
fn per_second(calls: usize, begin: Instant) -> f64 {
    calls as f64 / begin.elapsed().as_secs_f64()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn now() -> Instant {
    Instant::now()
}
