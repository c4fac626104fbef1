//! Attempts to escape from the sandbox, each made three times: without a sandbox, where it must
//! succeed (the control), in the base tier, and in the full tier; as root and as an unprivileged
//! user. The test checks the state afterwards from outside, never the attempt's own report.
//!
//! `rows/*.toml` is the table. Every run has its own stage: namespaces in which nothing of the
//! machine can be changed and no outside process can be signalled, because the attempts are harmful
//! without a sandbox. `main` is custom, since this program starts itself again as the first process
//! of a stage, and as the proxy of a sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own, which starts processes and waits in real time"
)]

mod kit;
mod proxy;
mod row;
mod run;
mod stage;
mod trial;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some(run::STAGE) => return stage::play(&words.next().unwrap_or_default()),
        Some(proxy::PROXY) => return proxy::serve(words),
        _ => {}
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
