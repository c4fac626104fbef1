//! Identifies a process beyond its lifetime: pids are reused, also after a reboot, and each pid
//! namespace has its own.

use crate::{ProcessHandle, ProcessInfo};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io;
use std::str::FromStr;

/// Identifies one process, even if its pid is reused later. The [`fmt::Display`] form can be part
/// of a file name, and can be parsed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessIdentity {
    /// The process id in the process's own pid namespace.
    pub pid: i32,
    /// The start of the process in clock ticks after boot; 0 if unknown.
    pub start_time: u64,
    /// The kernel's boot ID; empty if the system has none.
    pub boot: String,
    /// Inode of the pid namespace; 0 if the system has none.
    pub namespace: u64,
}

impl ProcessIdentity {
    /// Returns the identity of this process.
    pub fn current() -> Self {
        let pid = std::process::id().cast_signed();
        Self::new(
            pid,
            ProcessInfo::read(pid).map_or(0, |info| info.start_time),
        )
    }

    /// Returns the process that has this pid now. `None` if no process has it, or without `/proc`.
    pub fn of(pid: i32) -> Option<Self> {
        Some(Self::new(pid, ProcessInfo::read(pid)?.start_time))
    }

    /// Returns a process of this boot and namespace with this pid and start time.
    pub fn new(pid: i32, start_time: u64) -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            pid,
            start_time,
            boot: boot.trim().to_owned(),
            namespace: namespace(),
        }
    }

    /// Returns another process of the same boot and namespace.
    #[must_use]
    pub fn with_process(&self, pid: i32, start_time: u64) -> Self {
        Self {
            pid,
            start_time,
            ..self.clone()
        }
    }

    /// True if the process belongs to this boot and pid namespace, so that its pid and start time
    /// are meaningful.
    pub fn is_local(&self) -> bool {
        let current = Self::new(self.pid, self.start_time);
        (&self.boot, self.namespace) == (&current.boot, current.namespace)
    }

    /// Returns the process's entry in `/proc`; `None` if the process has ended, even if its pid was
    /// reused.
    pub fn info(&self) -> Option<ProcessInfo> {
        let info = ProcessInfo::read(self.pid)?;
        (info.start_time == self.start_time && self.is_local()).then_some(info)
    }

    /// True if the process is certainly alive. A zombie is not.
    pub fn is_alive(&self) -> bool {
        self.info().is_some_and(|info| !info.zombie)
    }

    /// True if the process is certainly dead. False for processes of other namespaces, and if
    /// `/proc` cannot be read.
    pub fn is_dead(&self) -> bool {
        let current = Self::new(self.pid, self.start_time);
        if self.boot != current.boot {
            return true;
        }
        self.namespace == current.namespace
            && !self.is_alive()
            && fs::metadata("/proc/self/stat").is_ok()
    }

    /// Sends SIGCONT, in case the process was stopped.
    ///
    /// # Errors
    /// The process has ended, or the permission is missing.
    pub fn wake(&self) -> io::Result<()> {
        self.signal(Signal::CONT.as_raw())
    }

    /// Sends a signal by number, but never to another process that reused the pid.
    ///
    /// # Errors
    /// The process has ended, or the permission is missing.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        let handle = ProcessHandle::open(self.pid)?;
        // If the pid was reused before this check, the check fails. If the pid is reused later, the
        // handle refers to the dead process.
        if !self.is_alive() {
            return Err(io::ErrorKind::NotFound.into());
        }
        handle.signal(signal)
    }
}

impl fmt::Display for ProcessIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid,
            start_time,
            boot,
            namespace,
        } = self;
        write!(f, "{pid}.{start_time}.{boot}.{namespace}")
    }
}

impl FromStr for ProcessIdentity {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        let mut parts = text.split('.');
        let mut next = || parts.next().ok_or(NotAnIdentity);
        let identity = Self {
            pid: next()?.parse().map_err(|_| NotAnIdentity)?,
            start_time: next()?.parse().map_err(|_| NotAnIdentity)?,
            boot: next()?.to_owned(),
            namespace: next()?.parse().map_err(|_| NotAnIdentity)?,
        };
        parts
            .next()
            .is_none()
            .then_some(identity)
            .ok_or(NotAnIdentity)
    }
}

/// The text does not identify a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnIdentity;

impl fmt::Display for NotAnIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a process is written as <pid>.<start>.<boot>.<namespace>")
    }
}

impl std::error::Error for NotAnIdentity {}

/// Returns the inode of this process's pid namespace; 0 if the system has none.
fn namespace() -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn process_with_the_same_pid_is_another_process() {
        let me = ProcessIdentity::current();
        assert_eq!(ProcessIdentity::of(me.pid), Some(me.clone()));
        let other = |change: fn(&mut ProcessIdentity)| {
            let mut other = me.clone();
            change(&mut other);
            other
        };
        for (process, lives, dead) in [
            (me.clone(), true, false),
            (other(|p| p.start_time -= 1), false, true),
            (other(|p| p.pid = i32::MAX), false, true),
            (other(|p| p.boot = "another".into()), false, true),
            // The process may be alive in its own namespace, which cannot be checked from this one.
            (other(|p| p.namespace += 1), false, false),
        ] {
            let found = (process.is_alive(), process.is_dead());
            assert_eq!(found, (lives, dead), "{process:?}");
            assert_eq!(process.wake().is_ok(), lives, "{process:?}");
        }
    }

    #[test]
    fn identity_survives_text_and_json() {
        let me = ProcessIdentity::current();
        assert_eq!(me.to_string().parse(), Ok(me.clone()));
        let json = serde_json::to_string(&me).unwrap();
        assert_eq!(serde_json::from_str::<ProcessIdentity>(&json).unwrap(), me);
        for text in ["", "1.2.3", "1.2.b.4.5", "x.2.b.4"] {
            assert_eq!(text.parse::<ProcessIdentity>(), Err(NotAnIdentity));
        }
    }
}
