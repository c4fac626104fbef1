//! The process that created an artifact, told apart from later processes with the same pid.
//!
//! Nothing is started or signalled here; the only question is whether the process still exists.

use serde::{Deserialize, Serialize};
use std::fs;

/// A process, identified by pid, start time, boot and pid namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pid: u32,
    /// Start time in clock ticks since boot: field 22 of `/proc/<pid>/stat`. 0 if it cannot be read.
    start: u64,
    /// Boot id and pid namespace. A pid of another boot is meaningless, one of another namespace cannot be looked
    /// up.
    boot: String,
    namespace: String,
}

impl Owner {
    /// This process.
    pub(crate) fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start: start_of(pid).unwrap_or(0),
            boot: boot(),
            namespace: namespace(),
        }
    }

    /// Whether it is this process.
    pub(crate) fn is_me(&self) -> bool {
        *self == Self::current()
    }

    /// Whether the process has certainly ended.
    pub(crate) fn is_dead(&self) -> bool {
        if self.boot != boot() {
            return true;
        }
        if self.namespace != namespace() {
            return false;
        }
        match start_of(self.pid) {
            Some(start) => start != self.start,
            None => fs::metadata("/proc/self/stat").is_ok(),
        }
    }
}

fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name is in parentheses and may contain anything, including `)`; the state is the first field
    // after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let zombie = matches!(fields.next(), Some("Z" | "X"));
    let ticks = fields.nth(18)?.parse().ok()?;
    (!zombie).then_some(ticks)
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

fn namespace() -> String {
    fs::read_link("/proc/self/ns/pid")
        .map(|link| link.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_told_from_the_living() {
        let me = Owner::current();
        assert!(me.start > 0, "{me:?}");
        let cases = [
            (me.clone(), false),
            (
                Owner {
                    start: me.start + 1,
                    ..me.clone()
                },
                true,
            ),
            (
                Owner {
                    pid: u32::MAX,
                    ..me.clone()
                },
                true,
            ),
            (
                Owner {
                    boot: "another".into(),
                    ..me.clone()
                },
                true,
            ),
            (
                Owner {
                    pid: u32::MAX,
                    namespace: "another".into(),
                    ..me
                },
                false,
            ),
        ];
        for (owner, dead) in cases {
            assert_eq!(owner.is_dead(), dead, "{owner:?}");
        }
    }
}
