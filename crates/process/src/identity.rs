//! Who a process is, for longer than it lives: its number may be given to another, also by the next boot.

use crate::ProcessInfo;
use crate::platform::{open_handle, signal_handle};
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;

/// One process of one boot, whatever becomes of its pid. Linux only; elsewhere none is ever alive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: i32,
    /// Clock ticks between the boot and its start.
    pub start_time: u64,
    /// The kernel's id of the boot.
    pub boot: String,
}

impl ProcessIdentity {
    /// Of the process that has this pid now; `None` if there is none.
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self {
            pid,
            start_time: ProcessInfo::read(pid)?.start_time,
            boot: boot_id()?,
        })
    }

    /// Whether it lives. A zombie does not.
    pub fn is_alive(&self) -> bool {
        self.info().is_some_and(|info| !info.zombie)
    }

    /// Whether the boot is this one, so that numbers of its time mean something.
    pub fn is_of_this_boot(&self) -> bool {
        boot_id().is_some_and(|boot| boot == self.boot)
    }

    /// What `/proc` says of it; `None` if it is gone, even where another has its pid.
    pub fn info(&self) -> Option<ProcessInfo> {
        let info = ProcessInfo::read(self.pid)?;
        (info.start_time == self.start_time && self.is_of_this_boot()).then_some(info)
    }

    /// Lets it go on, should somebody have stopped it.
    ///
    /// # Errors
    /// It is gone, or is not ours to signal.
    pub fn wake(&self) -> io::Result<()> {
        self.signal(Signal::CONT)
    }

    /// Sends it a signal, and nobody else who may have its pid by now.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let pid = Pid::from_raw(self.pid).ok_or(io::ErrorKind::NotFound)?;
        let handle = open_handle(pid)?;
        // If the number changed hands before this look, it is seen; if after, the handle is that of the dead.
        if !self.is_alive() {
            return Err(io::ErrorKind::NotFound.into());
        }
        signal_handle(handle, signal)
    }
}

/// The id of this boot; `None` where the system has none.
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
