//! The stage, seen from its first process: a workspace in a home, somebody else's files, a process of the same user and
//! listeners to reach; then the call, and what it did.
//!
//! Everything that may be written lies on file systems of the stage's own below `/mnt`, `/tmp` and `/dev/shm`; the rest
//! of the machine is mounted read-only, for root too.

mod around;
mod call;
mod listeners;
mod scenery;

use crate::run::{Outcome, Run, Seen};
use anyhow::{Context, Result, ensure};
use std::process::ExitCode;

/// Shows the run that `order` describes, as JSON, and prints what was seen.
pub(crate) fn play(order: &str) -> ExitCode {
    let seen = show(order).unwrap_or_else(|error| Seen {
        outcome: Outcome::Fault(format!("{error:#}")),
        missing: Vec::new(),
        said: String::new(),
    });
    match serde_json::to_string(&seen) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn show(order: &str) -> Result<Seen> {
    let run: Run = serde_json::from_str(order).context("the order")?;
    // What follows would harm a machine: `kill -1` spares nobody but pid 1.
    ensure!(std::process::id() == 1, "this is no stage");
    scenery::build(&run)?;
    let ports = listeners::open(run.user)?;
    call::make(&run, &ports)
}
