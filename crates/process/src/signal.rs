//! Signal names, and protecting a process's memory.

use nix::sys::signal::Signal;

/// The first real-time signal for programs on Linux: glibc reserves 32 and 33.
const FIRST_REAL_TIME: i32 = 34;

/// `SIGKILL` for 9; `SIGRTMIN+2` for 36; `SIG99` for unknown numbers.
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

/// Prevents other processes of the same user from reading this one's environment and memory through
/// `/proc` (clears `PR_SET_DUMPABLE`). Root still can. Linux only; elsewhere a no-op.
///
/// This project's binaries call it for their own process. A library host decides for itself: it
/// also hides `/proc/<pid>/fd` from other processes, and disables core dumps.
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
    fn every_number_has_a_name() {
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
