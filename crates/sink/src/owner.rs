//! Who made an artifact: a process, told apart from later ones with the same number.
//!
//! Starts and signals nothing; it only asks whether the process is still there.

use serde::{Deserialize, Serialize};
use std::fs;

/// A process by number, start and where the number counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pid: u32,
    /// Clock ticks from boot to its start; field 22 of `/proc/<pid>/stat`. 0 where that cannot be read.
    start: u64,
    /// Boot and pid namespace. Numbers of another boot mean nothing, those of another namespace cannot be asked for.
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

    /// Whether it is certain that the process is no more.
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
    // The command's name is in parentheses and may hold anything; state is the first field after it.
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
