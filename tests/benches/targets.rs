//! Measures the cost of a target beyond the client that leads to it. A warm remote call is compared
//! with a local one and with a line that the client alone carries both ways. The start of the
//! remote worker is compared with a command that the client alone runs.
//!
//! `cargo xtask bench targets`, best at real-time priority: `chrt -f 10 cargo xtask bench targets`.
//! All measurements of a kind are interleaved. Goals: a remote call takes no longer than a local
//! one, the line, and 0.3 ms; an installed worker answers at most 100 ms after the client alone
//! would have. `-- 100 docker` sets the number of calls and the engines (ssh, docker, podman).

#[path = "common/lines.rs"]
mod lines;

use agent_bash_tests::targets::{Docker, NAME, Podman, Sshd, docker, podman};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs, product};
use anyhow::{Context, Result, ensure};
use lines::{Server, percentiles, timed};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Default number of warm calls.
const ROUNDS: usize = 500;

/// Warm-up calls.
const WARM_UP: usize = 20;

/// The pause between two calls: both ends have a warm shell again.
const BETWEEN: Duration = Duration::from_millis(12);

/// The number of calls per start.
const CALLS_A_START: usize = 25;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = words.iter().find_map(|word| word.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    let is_named = |engine: &Engine| words.iter().any(|word| word == engine.0);
    let are_named = ENGINES.iter().any(is_named);
    for engine in ENGINES
        .iter()
        .filter(|engine| !are_named || is_named(engine))
    {
        (engine.1)(rounds)?;
    }
    Ok(())
}

/// An engine's name and its measurement.
type Engine = (&'static str, fn(usize) -> Result<()>);

const ENGINES: &[Engine] = &[
    ("ssh", by_ssh),
    ("docker", by_docker),
    ("podman", by_podman),
];

fn by_ssh(rounds: usize) -> Result<()> {
    let world = World::new()?;
    let _sshd = Sshd::start(&world, None)?;
    measure("ssh", &world, rounds, &|word| {
        let mut ssh = world.command("ssh");
        ssh.args(["box", word]);
        ssh
    })
}

fn by_docker(rounds: usize) -> Result<()> {
    if let Some(why) = docker::cannot_run() {
        say(&format!("docker is not measured: {why}"));
        return Ok(());
    }
    let container = Arc::new(Docker::start()?).with_bash_only()?;
    let world = World::new()?;
    container.add_target(&world, None, None)?;
    measure("docker", &world, rounds, &|word| {
        let mut exec = world.command("docker");
        exec.args(["exec", "-i", &container.id, word]);
        exec
    })
}

fn by_podman(rounds: usize) -> Result<()> {
    if let Some(why) = podman::cannot_run() {
        say(&format!("podman is not measured: {why}"));
        return Ok(());
    }
    let container = Podman::start()?;
    let world = World::new()?;
    container.add_target(&world)?;
    measure("podman", &world, rounds, &|word| {
        let mut exec = world.command("podman");
        exec.args(["exec", "-i", &container.id, word]);
        exec
    })
}

fn measure(
    name: &str,
    world: &World,
    rounds: usize,
    client: &dyn Fn(&str) -> Command,
) -> Result<()> {
    let rpc = |on: Option<&str>| -> Result<Command> {
        let mut command = world.command(product::agent_bash()?);
        command.arg("rpc").args(on);
        Ok(command)
    };
    let on = format!("--on={NAME}");
    // The first start uploads the program.
    let mut there = Server::start(rpc(Some(&on))?)?;
    ask(&mut there)?;
    let mut here = Server::start(rpc(None)?)?;
    let mut echo = Server::start(client("cat"))?;
    for pause in [BETWEEN, Duration::ZERO] {
        say(&format!(
            "{name:<7} {} ms between calls:",
            pause.as_millis()
        ));
        calls(name, rounds, pause, [&mut here, &mut there, &mut echo])?;
    }
    let [mut starts, mut starts_alone] = [const { Vec::new() }; 2];
    for _ in 0..(rounds / CALLS_A_START).max(5) {
        starts_alone.push(timed(|| {
            ensure!(client("true").status()?.success());
            Ok(())
        })?);
        let command = rpc(Some(&on))?;
        let mut server = None;
        starts.push(timed(|| ask(server.insert(Server::start(command)?)))?);
    }
    let [alone, ours] = [starts_alone, starts].map(percentiles);
    report(name, "client alone", alone);
    report(name, "ready there", ours);
    let over = millis(ours[1]) - millis(alone[1]);
    say(&format!(
        "{name:<7} it is ready {over:+.1} ms after the client alone (goal: at most +100)"
    ));
    let worker = Worker::find()?;
    say(&format!(
        "{name:<7} our program there, after {} calls: {:.1} MiB resident, {:.1} of them private (goal: at most 12)",
        rounds + WARM_UP,
        worker.resident,
        worker.private
    ));
    Ok(())
}

/// Warm remote calls, local calls, and lines, interleaved, with a pause before each.
fn calls(
    name: &str,
    rounds: usize,
    pause: Duration,
    [here, there, echo]: [&mut Server; 3],
) -> Result<()> {
    let [mut remote_calls, mut local_calls, mut lines] = [const { Vec::new() }; 3];
    let (mut answer, mut carried) = (json!(null), String::new());
    for round in 0..rounds + WARM_UP {
        poll::pause(pause);
        let here = timed(|| call(here, round).map(drop))?;
        poll::pause(pause);
        let there = timed(|| {
            answer = call(there, round)?;
            Ok(())
        })?;
        poll::pause(pause);
        // Sent as text: parsing would not belong to the client's cost.
        let line = timed(|| {
            echo.send(&answer)?;
            carried = echo.line()?;
            Ok(())
        })?;
        ensure!(carried.trim_end() == answer.to_string());
        if round >= WARM_UP {
            local_calls.push(here);
            remote_calls.push(there);
            lines.push(line);
        }
    }
    let calls = [local_calls, lines, remote_calls].map(percentiles);
    let [here, line, there] = calls.map(|[_, median, _]| median);
    for (what, times) in ["call here", "line alone", "call there"].iter().zip(calls) {
        report(name, what, times);
    }
    let over = millis(there) - millis(here) - millis(line);
    say(&format!(
        "{name:<7} a call there is here + line {over:+.3} ms (goal: at most +0.3)"
    ));
    Ok(())
}

/// A call that does nothing.
fn call(server: &mut Server, id: usize) -> Result<Value> {
    let request = json!({"id": id, "type": "tool_call", "request": {"command": "true"}});
    let answer = server.ask(&request)?;
    ensure!(answer["data"]["status"]["code"] == 0, "{answer}");
    Ok(answer)
}

/// A request that only the remote worker can answer.
fn ask(server: &mut Server) -> Result<()> {
    let answer = server.ask(&json!({"id": "ask", "type": "session.list"}))?;
    ensure!(answer["success"] == true, "{answer}");
    Ok(())
}

/// Memory of the worker on a target, in MiB.
struct Worker {
    resident: f64,
    private: f64,
}

impl Worker {
    fn find() -> Result<Self> {
        let all = procfs::processes().into_iter();
        let ours = std::fs::metadata(product::agent_bash()?)?.len();
        // Other processes may test another build meanwhile.
        let is_ours = |pid: u32| {
            let exe = std::fs::metadata(format!("/proc/{pid}/exe"));
            exe.is_ok_and(|exe| exe.len() == ours)
        };
        let mut all =
            all.filter(|process| process.command.ends_with("rpc --worker") && is_ours(process.pid));
        let worker = all.next().context("no worker")?;
        let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", worker.pid))?;
        let sum = |names: &[&str]| -> f64 {
            let lines = rollup.lines();
            let sizes = lines.filter_map(|line| {
                let (name, size) = line.split_once(':')?;
                names.contains(&name).then_some(())?;
                size.split_whitespace().next()?.parse::<f64>().ok()
            });
            sizes.sum::<f64>() / 1024.0
        };
        Ok(Self {
            resident: sum(&["Rss"]),
            private: sum(&["Private_Clean", "Private_Dirty"]),
        })
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn report(engine: &str, what: &str, times: [Duration; 3]) {
    let [low, median, high] = times.map(millis);
    say(&format!(
        "{engine:<7} {what:<13} fastest tenth {low:8.3} ms, median {median:8.3} ms, slowest tenth {high:8.3} ms"
    ));
}

#[expect(clippy::print_stdout, reason = "a benchmark says what it found")]
fn say(line: &str) {
    println!("{line}");
}
