//! What a target costs beside the client that leads to it: a warm call there and here, beside a line that the client alone
//! carries there and back; and the time until our program there answers, beside a command that the client alone runs.
//!
//! `cargo xtask bench targets`, best at real-time priority: `chrt -f 10 cargo xtask bench targets`. All of a kind take turns,
//! so that they see the same machine. Goals: a call there takes no longer than one here, the line, and 0.3 ms; our program,
//! which is there already, answers at most 100 ms after the client alone would have. `-- 100 docker` sets the number of calls,
//! and which ways (ssh, docker, podman).

#[path = "common/lines.rs"]
mod lines;

use agent_bash_tests::targets::{Docker, NAME, Podman, Sshd, docker, podman};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs, product};
use anyhow::{Context, Result, ensure};
use lines::{Server, deciles, timed};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Default number of warm calls.
const ROUNDS: usize = 500;

/// Calls before that.
const WARM_UP: usize = 20;

/// Between two calls: the next shell waits by then, at either end.
const BETWEEN: Duration = Duration::from_millis(12);

/// One start for so many calls.
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

/// What leads to a target, and how that is measured.
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
    // Sends our program there, if it is the first.
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
    let [alone, ours] = [starts_alone, starts].map(deciles);
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

/// Warm calls here and there, and lines, by turns, with a pause in front of each.
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
        // As text, since what the client alone takes is nothing of ours.
        let line = timed(|| {
            echo.tell(&answer)?;
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
    let calls = [local_calls, lines, remote_calls].map(deciles);
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

/// A question that only our program there can answer.
fn ask(server: &mut Server) -> Result<()> {
    let answer = server.ask(&json!({"id": "ask", "type": "session.list"}))?;
    ensure!(answer["success"] == true, "{answer}");
    Ok(())
}

/// Memory of our program at a target, in MiB.
struct Worker {
    resident: f64,
    private: f64,
}

impl Worker {
    fn find() -> Result<Self> {
        let all = procfs::processes().into_iter();
        let ours = std::fs::metadata(product::agent_bash()?)?.len();
        // Others may test another build meanwhile.
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
