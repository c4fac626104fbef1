//! Process identity beyond a process's lifetime: its pid may be reused, also after a reboot.

use crate::ProcessInfo;
use crate::platform::{open_handle, signal_handle};
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;

/// A process of a particular boot, independent of pid reuse. Linux only; elsewhere no process counts as alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_time: u64,
    /// The kernel's boot id.
    pub boot: String,
}

impl ProcessIdentity {
    /// The process that has this pid now; `None` if there is none.
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self {
            pid,
            start_time: ProcessInfo::read(pid)?.start_time,
            boot: boot_id()?,
        })
    }

    /// Whether it is alive. A zombie is not.
    pub fn is_alive(&self) -> bool {
        self.info().is_some_and(|info| !info.zombie)
    }

    /// Whether it belongs to the current boot; otherwise its pid means nothing.
    pub fn is_of_this_boot(&self) -> bool {
        boot_id().is_some_and(|boot| boot == self.boot)
    }

    /// Its entry in `/proc`; `None` if it has ended, even if its pid was reused.
    pub fn info(&self) -> Option<ProcessInfo> {
        let info = ProcessInfo::read(self.pid)?;
        (info.start_time == self.start_time && self.is_of_this_boot()).then_some(info)
    }

    /// Sends SIGCONT, in case it was stopped.
    ///
    /// # Errors
    /// It has ended, or we may not signal it.
    pub fn wake(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Sends it a signal, and never another process that has its pid by now.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = Pid::from_raw(self.pid).ok_or(io::ErrorKind::NotFound)?;
        let handle = open_handle(pid)?;
        // If the pid was reused before this check, the check fails; if after, the pidfd is that of the dead
        // process.
        if !self.is_alive() {
            return Err(io::ErrorKind::NotFound.into());
        }
        signal_handle(handle, signal)
    }
}

/// The current boot id; `None` if the system has none.
pub(crate) fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn another_with_the_same_number_is_somebody_else() {
        let own = std::process::id().cast_signed();
        let me = ProcessIdentity::of(own).unwrap();
        assert!(me.is_alive());
        for other in [
            ProcessIdentity {
                start_time: me.start_time - 1,
                ..me.clone()
            },
            ProcessIdentity {
                boot: "another".into(),
                ..me.clone()
            },
            ProcessIdentity {
                pid: i32::MAX,
                ..me.clone()
            },
        ] {
            assert!(!other.is_alive(), "{other:?}");
            assert!(other.wake().is_err(), "{other:?}");
        }
        me.wake().unwrap();
    }
}
