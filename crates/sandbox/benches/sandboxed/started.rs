//! Starts a program in a sandbox, or without one.

use agent_bash_sandbox::{
    HostFacts, LauncherStart, Order, Plan, Tier, WantedSandbox, WriteLevel, resolve,
};
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The sides of a comparison: no sandbox, and a sandbox of each tier.
pub(crate) const SIDES: [(&str, Option<Tier>); 3] = [
    ("none", None),
    ("base", Some(Tier::Base)),
    ("full", Some(Tier::Full)),
];

/// The program that becomes a launcher: this one, or the one of `--launcher`.
pub(crate) struct Launcher(pub(crate) PathBuf);

/// How to start a program.
#[derive(Clone, Copy)]
pub(crate) enum In<'a> {
    /// Directly.
    Nothing,
    /// By a launcher with this sandbox, or with none, and with these private directories.
    Box(Option<&'a Plan>, &'a [PathBuf]),
}

/// The sandbox of a call in this directory.
pub(crate) fn plan(tier: Tier, workspace: &Path) -> Plan {
    let facts = HostFacts::new(std::env::home_dir(), workspace.to_owned(), tier);
    resolve(&WantedSandbox::new(WriteLevel::WorkspaceWrite), &facts)
        .unwrap()
        .plan
}

impl Launcher {
    /// Starts a program. Returns the microseconds until it runs.
    pub(crate) fn start(
        &self,
        how: In<'_>,
        words: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> (Child, f64) {
        let begun = Instant::now();
        let mut program = Command::new(words[0]);
        let launched = match how {
            In::Nothing => {
                program.args(&words[1..]);
                None
            }
            In::Box(plan, own) => {
                let order = Order {
                    plan: plan.cloned(),
                    trial: None,
                    trace: false,
                    observes_refusals: false,
                    writable: own.to_vec(),
                    env: Vec::new(),
                    inherited: Vec::new(),
                    network: None,
                };
                let start = LauncherStart::new(&order).unwrap();
                program = Command::new(&self.0);
                program
                    .arg0(LauncherStart::name())
                    .args(start.words(OsStr::new(words[0]), OsStr::new(words[0])))
                    .args(&words[1..]);
                Some(start)
            }
        };
        program.stdin(Stdio::null()).stdout(Stdio::null());
        prepare(&mut program);
        let child = program.spawn().unwrap();
        if let Some(start) = launched {
            start.report(Duration::from_secs(5)).unwrap();
        }
        (child, begun.elapsed().as_secs_f64() * 1e6)
    }
}
