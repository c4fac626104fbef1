//! Measures the steps of a sandbox's start: the rules, the namespaces, and a shell that exits.

use crate::median;
use crate::started::{In, Launcher, SIDES, plan};
use agent_bash_sandbox::{Plan, Tier, WriteLevel};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

const ROUNDS: usize = 300;

/// The number of rules in the row of rules, and of mounts in the row of mounts.
const RULES: usize = 100;
const MOUNTS: usize = 17;

pub(crate) fn rows(launcher: &Launcher) {
    let directory = tempfile::tempdir().unwrap();
    let directory = fs::canonicalize(directory.path()).unwrap();
    steps(launcher, &directory);
    cold(launcher, &directory);
}

/// The steps, by what they add to a launcher that does nothing.
fn steps(launcher: &Launcher, directory: &Path) {
    let many = directories(directory, "rule", RULES - rules_of_every_box());
    let workspace = directory.join("workspace");
    let protected = directories(&workspace, "protected", MOUNTS - 1);
    let (rules, few, mounts) = (
        bare(Tier::Base, many, Vec::new()),
        bare(Tier::Base, vec![workspace.clone()], protected.clone()),
        bare(Tier::Full, vec![workspace], protected),
    );
    let plans = [None, Some(&rules), Some(&few), Some(&mounts)];
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for (plan, times) in plans.iter().zip(&mut times) {
            let (mut child, duration) = launcher.start(In::Box(*plan, &[]), &["/bin/true"], |_| {});
            times.push(duration);
            child.wait().unwrap();
        }
    }
    let [nothing, rules, few, mounts] = times.map(|mut times| median(&mut times));
    println!("a launcher that restricts nothing                       {nothing:8.1} µs");
    println!(
        "restricting with {RULES} rules                            + {:8.1} µs   (goal 1000)",
        rules - nothing
    );
    println!(
        "namespaces with {MOUNTS} mounts of its own and a network      + {:8.1} µs   (goal 1500)",
        mounts - few
    );
}

/// `bash -c true`, from its start to its end.
fn cold(launcher: &Launcher, directory: &Path) {
    let workspace = directory.join("project");
    fs::create_dir_all(workspace.join(".git/hooks")).unwrap();
    let plans = SIDES.map(|(_, tier)| tier.map(|tier| plan(tier, &workspace)));
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (plan, times) in plans.iter().zip(&mut times) {
            let how = plan
                .as_ref()
                .map_or(In::Nothing, |plan| In::Box(Some(plan), &[]));
            let begun = Instant::now();
            let (mut child, _) = launcher.start(how, &["/bin/bash", "-c", "true"], |_| {});
            child.wait().unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
    }
    let [none, base, full] = times.map(|mut times| median(&mut times));
    println!(
        "cold `bash -c true`: {none:.1} µs; base {:.2} × (goal 1.8), full {:.2} × (goal 2.8)",
        base / none,
        full / none
    );
}

/// A plan with only these paths.
fn bare(tier: Tier, writable: Vec<PathBuf>, protected: Vec<PathBuf>) -> Plan {
    Plan {
        writable,
        protected,
        ..Plan::new(WriteLevel::WorkspaceWrite, tier)
    }
}

fn directories(parent: &Path, name: &str, count: usize) -> Vec<PathBuf> {
    let made = (0..count).map(|number| parent.join(format!("{name}-{number}")));
    made.inspect(|path| fs::create_dir_all(path).unwrap())
        .collect()
}

/// Returns the number of implicit rules: the directories at the root, and the devices.
fn rules_of_every_box() -> usize {
    const DEVICES: usize = 8;
    let entries = fs::read_dir("/").unwrap().flatten();
    let read = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    read.count() + DEVICES
}
