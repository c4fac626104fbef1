//! The stage, from its first process: a workspace in a home, another user's files, a process of the
//! same user and listeners; then the call, and its effects.
//!
//! Everything writable is on the stage's own file systems below `/mnt`, `/tmp` and `/dev/shm`; the
//! rest of the machine is mounted read-only, for root too.

mod around;
mod call;
mod listeners;
mod scenery;

use crate::run::{Observations, Outcome, Run};
use anyhow::{Context, Result, ensure};
use std::process::ExitCode;

/// Makes the run that `order` describes, as JSON, and prints the observations.
pub(crate) fn play(order: &str) -> ExitCode {
    let seen = show(order).unwrap_or_else(|error| Observations {
        outcome: Outcome::Fault(format!("{error:#}")),
        missing: Vec::new(),
        printed: String::new(),
    });
    match serde_json::to_string(&seen) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn show(order: &str) -> Result<Observations> {
    let run: Run = serde_json::from_str(order).context("the order")?;
    // The following would harm a machine: `kill -1` signals every process but pid 1.
    ensure!(std::process::id() == 1, "this is no stage");
    scenery::build(&run)?;
    let ports = listeners::open(run.user)?;
    call::make(&run, &ports)
}
