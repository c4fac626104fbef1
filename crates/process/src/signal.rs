//! Signal names, how this process treats signals, and protecting a process's memory.

use agent_bash_os::{read_proc, status_field};
use nix::sys::signal::Signal;

/// The first real-time signal for programs on Linux: glibc reserves 32 and 33.
const FIRST_REAL_TIME: i32 = 34;

/// Returns `SIGKILL` for 9, `SIGRTMIN+2` for 36, `SIG99` for the unknown 99.
pub fn signal_name(number: i32) -> String {
    match Signal::try_from(number) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) if number == FIRST_REAL_TIME => "SIGRTMIN".to_owned(),
        Err(_) if (FIRST_REAL_TIME..=64).contains(&number) => {
            format!("SIGRTMIN+{}", number - FIRST_REAL_TIME)
        }
        Err(_) => format!("SIG{number}"),
    }
}

/// Returns the signals that this process ignores. Empty without `/proc`.
pub fn ignored_signals() -> Vec<i32> {
    signals_of_this_process("SigIgn").unwrap_or_default()
}

/// Returns the signals that this process handles; `None` without `/proc`.
#[cfg(target_os = "linux")]
pub(crate) fn handled_signals() -> Option<Vec<i32>> {
    signals_of_this_process("SigCgt")
}

fn signals_of_this_process(mask: &str) -> Option<Vec<i32>> {
    let status = read_proc("/proc/self/status").ok()?;
    signals_in(&String::from_utf8_lossy(&status), mask)
}

/// Parses a signal mask of `/proc/PID/status`.
fn signals_in(status: &str, mask: &str) -> Option<Vec<i32>> {
    let mask = u64::from_str_radix(status_field(status, mask)?, 16).ok()?;
    let signals = (1..=64).filter(|signal| mask & (1 << (signal - 1)) != 0);
    Some(signals.collect())
}

/// Prevents other processes of the same user from reading this one's environment and memory through
/// `/proc` (clears `PR_SET_DUMPABLE`). Root still can. Linux only; elsewhere a no-op.
///
/// The binaries of this project call this function for their own process. A host that uses the
/// library decides for itself: the setting also hides `/proc/<pid>/fd` and disables core dumps.
pub fn hide_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "this process's memory stays readable to its user");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_in_parses_masks_of_proc_status() {
        let status = "Name:\tx\nSigIgn:\t0000000000001003\nSigCgt:\tff\n";
        assert_eq!(signals_in(status, "SigIgn"), Some(vec![1, 2, 13]));
        assert_eq!(signals_in(status, "SigCgt"), Some((1..=8).collect()));
        for bad in ["", "SigIgn:", "SigIgn:\tzz"] {
            assert_eq!(signals_in(bad, "SigIgn"), None);
        }
    }

    #[test]
    fn signal_name_covers_real_time_and_unknown_numbers() {
        for (number, name) in [
            (9, "SIGKILL"),
            (15, "SIGTERM"),
            (34, "SIGRTMIN"),
            (36, "SIGRTMIN+2"),
            (99, "SIG99"),
        ] {
            assert_eq!(signal_name(number), name);
        }
    }
}
