//! Attempts to escape from the box, each made three times: without a box, where it must succeed (the control that shows
//! that the attempt is one), in a box of the base tier, and in one of the full tier; as root and as an unprivileged
//! user. Judged by what is there afterwards, seen from outside, and never by what the attempt says of itself.
//!
//! `rows/*.toml` is the table. Every run is on a stage of its own: namespaces in which nothing of the machine can be
//! changed and nobody can be signalled, because what the attempts would do unboxed is what they are for. `main` is our
//! own, as this program starts itself again as the first process of a stage.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own, which starts processes and waits in real time"
)]

mod kit;
mod row;
mod run;
mod stage;
mod trial;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some(run::STAGE) {
        return stage::play(&words.next().unwrap_or_default());
    }
    match trials() {
        Ok(trials) => {
            let mut arguments = Arguments::from_args();
            // Stages wait far more than they compute.
            arguments.test_threads.get_or_insert(8);
            trial::conclude(&arguments, trials)
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> anyhow::Result<Vec<Trial>> {
    let kit = Arc::new(kit::Kit::new()?);
    Ok(trial::all(&kit, row::table()?))
}
