//! Common work: git, reading a tree, an incremental build; in a clone of this repository.

use crate::median;
use crate::started::{In, Launcher, SIDES, plan};
use nix::sys::resource::{UsageWho, getrusage};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A row: name, repetitions, the goal for the ratio, the preparing command, the measured command.
struct Row {
    name: &'static str,
    rounds: usize,
    goal: f64,
    before: &'static str,
    script: &'static str,
}

const ROWS: [Row; 3] = [
    Row {
        name: "40 × git status",
        rounds: 15,
        goal: 1.08,
        before: "git status >/dev/null",
        script: "for i in {1..40}; do git status >/dev/null; done",
    },
    Row {
        name: "grep and cat of a tree",
        rounds: 40,
        goal: 1.15,
        before: "grep -rn needle crates >/dev/null",
        script: "grep -rn needle crates >/dev/null; find crates -type f -exec cat {} + >/dev/null",
    },
    Row {
        name: "incremental cargo check",
        rounds: 12,
        goal: 1.08,
        before: "cargo check -q --offline -p agent-bash-core",
        script: "touch crates/core/src/lib.rs && cargo check -q --offline -p agent-bash-core",
    },
];

pub(crate) fn rows(launcher: &Launcher) {
    let directory = tempfile::tempdir().unwrap();
    let workspace = fs::canonicalize(directory.path()).unwrap().join("clone");
    let repository = concat!("file://", env!("CARGO_MANIFEST_DIR"), "/../..");
    let cloned = Command::new("git")
        .args(["clone", "-q", "--depth", "1", repository])
        .arg(&workspace)
        .status();
    assert!(cloned.unwrap().success());
    for row in ROWS {
        compare(launcher, &row, &workspace);
    }
}

fn compare(launcher: &Launcher, row: &Row, workspace: &Path) {
    let plans = SIDES.map(|(_, tier)| tier.map(|tier| plan(tier, workspace)));
    let own = [workspace.join("target")];
    fs::create_dir_all(&own[0]).unwrap();
    let mut times = [const { [const { Vec::new() }; 2] }; 3];
    let run = |how, script| {
        let (begun, spent) = (Instant::now(), spent());
        let (mut child, _) = launcher.start(how, &["/bin/bash", "-c", script], |program| {
            program
                .current_dir(workspace)
                .env("CARGO_TARGET_DIR", &own[0])
                .env("TMPDIR", &own[0]);
        });
        assert!(child.wait().unwrap().success(), "{script}");
        [begun.elapsed().as_secs_f64(), self::spent() - spent]
    };
    run(In::Nothing, row.before);
    for _ in 0..row.rounds {
        for (plan, times) in plans.iter().zip(&mut times) {
            let how = plan
                .as_ref()
                .map_or(In::Nothing, |plan| In::Box(Some(plan), &own));
            for (duration, times) in run(how, row.script).into_iter().zip(times) {
                times.push(duration);
            }
        }
    }
    let [none, base, full] = times.map(|kinds| kinds.map(|mut times| median(&mut times)));
    println!(
        "{}: {:.0} ms; base {:.2} ×, full {:.2} × (goal {}); by CPU time {:.2} ×, {:.2} ×",
        row.name,
        none[0] * 1e3,
        base[0] / none[0],
        full[0] / none[0],
        row.goal,
        base[1] / none[1],
        full[1] / none[1]
    );
}

/// Seconds of CPU time of all children that have ended.
fn spent() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
        .sum()
}
