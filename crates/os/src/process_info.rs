//! Reads information about one process from `/proc`. [`ProcessInfo::of_child`] also works without
//! `/proc`.
//!
//! A process may end, and its pid may be reused, right after the read. To signal a process safely,
//! use a [`ProcessHandle`](crate::ProcessHandle).

use crate::pidfd;
use crate::{read_proc, status_field};
use rustix::io::Errno;
use rustix::process::{Pid, getpgid, getsid, test_kill_process};
use std::fs::read_link;
use std::path::PathBuf;

/// A process according to `/proc/<pid>/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Process id.
    pub pid: i32,
    /// The pid of the parent process.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// Session.
    pub session: i32,
    /// Device number of its controlling terminal; 0 without one.
    pub terminal: i32,
    /// Start time in clock ticks since boot. Together with the pid it identifies a process
    /// uniquely.
    pub start_time: u64,
    /// True if the process has ended and is not reaped yet.
    pub zombie: bool,
    /// True if a signal stopped the process. False if `/proc` does not show it.
    pub stopped: bool,
}

impl ProcessInfo {
    /// Reads a process; `None` if no process has this pid, or `/proc` does not show it.
    pub fn read(pid: i32) -> Option<Self> {
        Self::parse(pid, &read_proc(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads a process and its name. The kernel writes a newline or backslash of the name as an
    /// escape sequence.
    pub fn read_with_name(pid: i32) -> Option<(Self, String)> {
        let stat = read_proc(format!("/proc/{pid}/stat")).ok()?;
        let begin = stat.iter().position(|byte| *byte == b'(')? + 1;
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let name = String::from_utf8_lossy(stat.get(begin..end)?).into_owned();
        Some((Self::parse(pid, &stat)?, name))
    }

    /// Reads a child of `parent`, even if `/proc` does not show it because of `hidepid` or a
    /// missing `/proc`. `None` if no process has this pid. Unknown fields are 0.
    pub fn of_child(pid: i32, parent: i32) -> Option<Self> {
        if let Some(shown) = Self::read(pid) {
            return Some(shown);
        }
        let number = Pid::from_raw(pid)?;
        let has_ended = match pidfd::open(number) {
            Ok(opened) => pidfd::has_ended(&opened),
            Err(Errno::SRCH) => return None,
            // The system refuses pidfds.
            Err(_) if test_kill_process(number) == Err(Errno::SRCH) => return None,
            Err(_) => false,
        };
        let raw = |found: Result<Pid, Errno>| found.map_or(0, Pid::as_raw_pid);
        Some(Self {
            pid,
            parent,
            group: raw(getpgid(Some(number))),
            session: raw(getsid(Some(number))),
            terminal: 0,
            start_time: 0,
            zombie: has_ended,
            stopped: false,
        })
    }

    /// True if the process is a zombie, or certainly no process has this pid.
    pub fn has_ended(pid: i32) -> bool {
        let signalled = Pid::from_raw(pid).map(test_kill_process);
        // A missing file is no proof: `/proc` may hide processes of other users.
        let is_missing = signalled.is_none_or(|found| found == Err(Errno::SRCH));
        is_missing || Self::read(pid).is_some_and(|process| process.zombie)
    }

    /// Parses `pid (comm) state ppid pgrp session …`, see proc(5). The name may contain anything,
    /// including parentheses, so fields are counted from the last `)`.
    fn parse(pid: i32, stat: &[u8]) -> Option<Self> {
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // The index 0 is the state, field 3 of proc(5).
        let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
        let state = *fields.first()?;
        Some(Self {
            pid,
            // A process also has this state if only its main thread has ended; field 17 is the
            // number of its threads.
            zombie: matches!(state, "Z" | "X" | "x") && number(17)? <= 1,
            // A process that a debugger stopped has the state `t`.
            stopped: state == "T",
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            terminal: number(4)?,
            start_time: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Returns the pid of the process that a thread belongs to.
pub fn process_of_thread(thread: i32) -> Option<i32> {
    let status = read_proc(format!("/proc/{thread}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    status_field(&status, "Tgid")?.parse().ok()
}

/// Returns the name of a process's network namespace, such as `net:[4026531840]`. `None` without
/// permission.
pub fn network_namespace(pid: u32) -> Option<PathBuf> {
    read_link(format!("/proc/{pid}/ns/net")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_handles_parentheses_in_the_name() {
        let stat = b"7 (a) Z 1 (b) S 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let info = ProcessInfo::parse(7, stat).unwrap();
        assert_eq!((info.parent, info.group, info.session), (3, 4, 5));
        assert_eq!((info.start_time, info.zombie), (4242, false));
    }

    #[test]
    fn process_with_a_running_thread_is_not_a_zombie() {
        for (state, threads, zombie) in [("S", 1, false), ("Z", 1, true), ("Z", 2, false)] {
            let stat = format!("7 (a) {state} 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 42 0");
            let info = ProcessInfo::parse(7, stat.as_bytes()).unwrap();
            assert_eq!(info.zombie, zombie, "{stat}");
        }
    }

    #[test]
    fn stopped_by_signal_differs_from_stopped_by_debugger() {
        for (state, stopped) in [("S", false), ("T", true), ("t", false)] {
            let stat = format!("7 (a) {state} 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 42 0");
            let info = ProcessInfo::parse(7, stat.as_bytes()).unwrap();
            assert_eq!(info.stopped, stopped, "{stat}");
        }
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts and reaps this child itself"
    )]
    fn running_process_has_not_ended_and_zombie_has() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = child.id().cast_signed();
        assert!(!ProcessInfo::has_ended(pid));
        assert!(!ProcessInfo::has_ended(1), "another user's");
        child.kill().unwrap();
        while ProcessInfo::read(pid).is_some_and(|process| !process.zombie) {
            std::thread::yield_now();
        }
        assert!(ProcessInfo::has_ended(pid));
        child.wait().unwrap();
        assert!(ProcessInfo::has_ended(pid));
        assert!(ProcessInfo::has_ended(0) && ProcessInfo::has_ended(i32::MAX));
    }

    #[test]
    fn parse_rejects_malformed_stat() {
        for stat in [
            &b""[..],
            b"7 (a",
            b"7 (a) S",
            b"7 (a) S x y z",
            b"7 (a) \xff",
        ] {
            assert_eq!(ProcessInfo::parse(7, stat), None);
        }
    }
}
