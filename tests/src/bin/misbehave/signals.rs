//! Ignored signals, and signals sent to too many processes.

use crate::{Outcome, processes};
use rustix::process::{Signal, getpid, getppid, kill_current_process_group, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(crate) fn ignore_term(_: &str) -> Outcome {
    let received = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&received))?;
    }
    say("ready")?;
    processes::linger("")
}

pub(crate) fn last_words(text: &str) -> Outcome {
    let mut signals = Signals::new([SIGTERM])?;
    say("ready")?;
    signals.forever().next();
    say(text)
}

pub(crate) fn stop_self(_: &str) -> Outcome {
    say("stopping")?;
    kill_process(getpid(), Signal::STOP)?;
    say("continued")
}

pub(crate) fn kill_group(_: &str) -> Outcome {
    say("killing")?;
    Ok(kill_current_process_group(Signal::KILL)?)
}

pub(crate) fn kill_parent(_: &str) -> Outcome {
    let parent = getppid().ok_or("no parent")?;
    say("killing")?;
    Ok(kill_process(parent, Signal::KILL)?)
}

/// Prints a line and flushes, as the test waits for it.
fn say(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}
