//! Measures the cost of recording changes, and of trials. The same work runs in bash, through a
//! server at each recording level, and in a trial, interleaved.
//!
//! `cargo xtask bench recorded -- 7` sets the number of rounds. Only the ratios within a line are
//! meaningful.

#[path = "common/lines.rs"]
mod lines;

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context as _, Result, ensure};
use lines::{Server, percentiles, timed};
use serde_json::json;
use std::fs;
use std::time::Duration;

/// Default number of rounds.
const ROUNDS: usize = 5;

/// Levels of recording, each with its own server.
const LEVELS: [&str; 3] = ["off", "list", "undo"];

/// The repository for all work.
const REPOSITORY: &str = "\
set -e
git init -q -b base .
git config user.name tester; git config user.email tester@example.org
for d in {1..100}; do mkdir -p files/$d; for f in {1..20}; do echo $d $f >files/$d/$f; done; done
git add -A; git commit -qm first
git checkout -q -b other
for f in files/{1..10}/*; do echo other >>$f; done
git commit -qam other; git checkout -q base
for n in {1..40}; do echo \"int f$n(int x) { return x + $n; }\" >$n.c; done";

/// A piece of work and its preparation.
struct Work {
    name: &'static str,
    before: &'static str,
    script: &'static str,
}

const WORK: [Work; 6] = [
    Work {
        name: "true",
        before: "",
        script: "true",
    },
    Work {
        name: "10 x git status",
        before: "",
        script: "for i in {1..10}; do git status >/dev/null || exit; done",
    },
    Work {
        name: "git checkout of 200 files, there and back",
        before: "",
        script: "git checkout -q other && git checkout -q base",
    },
    Work {
        name: "40 x gcc -c",
        before: "rm -f *.o",
        script: "for n in {1..40}; do gcc -c $n.c -o $n.o || exit; done",
    },
    Work {
        name: "10,000 new files, made and removed",
        before: "",
        script: "mkdir new && for ((n = 0; n < 10000; n++)); do echo >new/$n; done && rm -r new",
    },
    Work {
        name: "rm -rf of 2,000 files",
        before: "rm -rf gone; mkdir gone; for n in {1..2000}; do echo 123456789 >gone/$n; done",
        script: "rm -rf gone",
    },
];

fn main() -> Result<()> {
    let rounds = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(ROUNDS);
    let world = World::new()?;
    bash(&world, REPOSITORY)?;
    let settings = world.home().join(".config/agent-bash/config.toml");
    fs::create_dir_all(settings.parent().context("it is in a directory")?)?;
    let mut servers = Vec::new();
    for level in LEVELS {
        fs::write(&settings, format!("[changes]\nlevel = \"{level}\"\n"))?;
        let mut command = world.command(product::agent_bash()?);
        command.arg("rpc");
        let mut server = Server::start(command)?;
        // The server has read its settings when it answers.
        call(&mut server, "true", false)?;
        servers.push(server);
    }
    for work in &WORK {
        // The competitors: bash, each level, and a trial on the last server.
        let mut times = [const { Vec::new() }; LEVELS.len() + 2];
        for round in 0..=rounds {
            for at in 0..times.len() {
                // Alternate rounds run backward, so that no competitor always follows the same one.
                let side = if round % 2 == 0 {
                    at
                } else {
                    times.len() - 1 - at
                };
                bash(&world, work.before)?;
                // Earlier writes are flushed outside of the measurement.
                bash(&world, "sync")?;
                let is_trial = side > LEVELS.len();
                let duration = match side.checked_sub(1) {
                    None => timed(|| bash(&world, work.script))?,
                    Some(at) => {
                        let server = &mut servers[at.min(LEVELS.len() - 1)];
                        timed(|| call(server, work.script, is_trial))?
                    }
                };
                times[side].push(duration);
            }
        }
        // The first round is a warm-up.
        let [bash, off, list, undo, trial] = times.map(|times| percentiles(times[1..].to_vec())[1]);
        let of_off = |it: Duration| it.as_secs_f64() / off.as_secs_f64();
        say(&format!(
            "{:42} bash {:8.2} ms, off {:8.2} ms; against off: list {:.2}, undo {:.2}, trial {:.2} ({:+.2} ms)",
            work.name,
            bash.as_secs_f64() * 1e3,
            off.as_secs_f64() * 1e3,
            of_off(list),
            of_off(undo),
            of_off(trial),
            (trial.as_secs_f64() - off.as_secs_f64()) * 1e3,
        ));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a benchmark says what it found")]
fn say(text: &str) {
    println!("{text}");
}

fn bash(world: &World, script: &str) -> Result<()> {
    let mut bash = world.command("bash");
    let status = bash.args(["-c", script]).status()?;
    ensure!(status.success(), "{script}: {status}");
    Ok(())
}

/// One call through a server; in a trial, its changes are held.
fn call(server: &mut Server, script: &str, is_trial: bool) -> Result<()> {
    let mut request = json!({"command": script});
    if is_trial {
        request["trial"] = json!(true);
    }
    let mut line = server.ask(&json!({"id": 1, "type": "tool_call", "request": request}))?;
    // Update lines come before the response.
    while line.get("success").is_none() {
        line = serde_json::from_str(&server.line()?)?;
    }
    ensure!(line["data"]["status"]["code"] == 0, "{line}");
    Ok(())
}
