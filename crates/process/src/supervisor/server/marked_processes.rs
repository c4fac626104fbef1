//! Finds the processes in a shell's tree without being their subreaper, by scanning `/proc`. A
//! process belongs to the tree by its session, an environment variable, its parent, its open output
//! pipes, or an earlier scan.
//!
//! A process that removes all of these (a double fork into a new session with an empty environment
//! and its output closed) is not found.

use super::handles::{POLL_INTERVAL, ProcessHandles};
use super::reaped::{ReapOutcome, shell_end};
use crate::proc_scan;
use agent_bash_os::{ProcessHandle, ProcessInfo, read_environment};
use rustix::process::{Pid, WaitOptions};
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::BorrowedFd;
use std::time::Instant;

/// The environment variable that marks a call's processes.
pub(super) const CALL_VARIABLE: &str = "AGENT_BASH_CALL";

/// The processes of the shells that one thread starts one after another.
#[derive(Debug)]
pub(super) struct MarkedProcesses {
    /// Value of [`CALL_VARIABLE`].
    value: String,
    shell: Option<SessionLeader>,
    /// Processes found so far.
    known: ProcessHandles,
    /// True if the last scan is outdated.
    stale: bool,
}

/// A shell, which leads its session.
#[derive(Debug)]
struct SessionLeader {
    pid: i32,
    start_time: u64,
    /// `None` if the handle cannot be opened: the shell is then polled.
    handle: Option<ProcessHandle>,
    reaped: bool,
    /// Inodes of the shell's output pipes.
    pipes: Vec<u64>,
}

impl SessionLeader {
    fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.handle.as_ref().and_then(ProcessHandle::pidfd)
    }
}

impl MarkedProcesses {
    pub(super) fn new(value: String) -> Self {
        Self {
            value,
            shell: None,
            known: ProcessHandles::default(),
            stale: false,
        }
    }

    /// Registers a shell that was started as a child of this process.
    pub(super) fn set_shell(&mut self, pid: i32, pipes: &[u64]) {
        self.known.clear();
        self.shell = Some(SessionLeader {
            pid,
            // The child has not been reaped, so its pid was not reused.
            start_time: ProcessInfo::read(pid).map_or(0, |process| process.start_time),
            handle: ProcessHandle::open(pid).ok(),
            reaped: false,
            pipes: pipes.to_vec(),
        });
    }

    /// Descriptors that become readable when a process ends.
    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let shell = self.unreaped().and_then(SessionLeader::pidfd);
        shell.into_iter().chain(self.known.fds()).collect()
    }

    /// Returns the time of the next [`Self::reap`] for processes without a descriptor; `None` if
    /// every process has one.
    pub(super) fn next_check(&self, now: Instant) -> Option<Instant> {
        let shell = self.unreaped().filter(|shell| shell.pidfd().is_none());
        let shell = shell.map(|_| now + POLL_INTERVAL);
        shell.or_else(|| self.known.next_check(now))
    }

    fn unreaped(&self) -> Option<&SessionLeader> {
        self.shell.as_ref().filter(|shell| !shell.reaped)
    }

    /// Reaps `shell`, the shell's pid while it is running. Scans for the other processes if one has
    /// ended.
    pub(super) fn reap(&mut self, shell: Option<i32>) -> ReapOutcome {
        let mut reaped = ReapOutcome {
            empty: self.shell.is_none(),
            ..ReapOutcome::default()
        };
        if let Some(pid) = shell.and_then(Pid::from_raw) {
            match rustix::process::waitpid(Some(pid), WaitOptions::NOHANG) {
                Ok(Some((_, status))) => reaped.end = shell_end(status),
                Ok(None) | Err(rustix::io::Errno::INTR) => return reaped,
                Err(_) => reaped.lost = true,
            }
            if let Some(shell) = &mut self.shell {
                shell.reaped = true;
            }
            self.stale = true;
        }
        reaped.others_ended = self.known.any_has_ended();
        if self.stale || reaped.others_ended {
            self.stale = false;
            self.scan();
        }
        reaped.empty = self.known.is_empty();
        reaped
    }

    /// Returns all running processes of the shell's tree.
    pub(super) fn scan(&mut self) -> Vec<ProcessInfo> {
        let Some(shell) = &self.shell else {
            return Vec::new();
        };
        let own = std::process::id().cast_signed();
        let entry = format!("{CALL_VARIABLE}={}", self.value);
        let all: Vec<ProcessInfo> = proc_scan::processes()
            .into_iter()
            .filter(|process| {
                process.pid != own && !process.zombie && process.start_time >= shell.start_time
            })
            .collect();
        let is_marked = |process: &ProcessInfo| {
            process.session == shell.pid
                || (process.pid == shell.pid && !shell.reaped)
                || self.known.has(process)
                || has_in_environment(process.pid, entry.as_bytes())
                // In this order: otherwise a process that executes its program between the two
                // checks would wrongly count as marked.
                || (!is_before_exec(process, own)
                    && proc_scan::writes_to(process.pid, &shell.pipes))
        };
        let mut found: BTreeSet<i32> = all
            .iter()
            .filter(|process| is_marked(process))
            .map(|process| process.pid)
            .collect();
        // Descendants may have removed the mark.
        proc_scan::add_descendants(&mut found, &all);
        let members: Vec<ProcessInfo> = all
            .into_iter()
            .filter(|process| found.contains(&process.pid))
            .collect();
        self.known.forget_ended();
        for process in &members {
            self.known.add(process);
        }
        members
    }
}

/// True for a child of this process before or during `exec`, which still has all descriptors of
/// this process, such as the outputs of other shells. The kernel first changes the program, then
/// closes descriptors, then sets the arguments.
fn is_before_exec(process: &ProcessInfo, own: i32) -> bool {
    let program = |pid: i32| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let runs_this_program = || program(process.pid).is_some_and(|path| Some(path) == program(own));
    process.parent == own && (runs_this_program() || proc_scan::arguments(process.pid).is_empty())
}

/// True if a process has this entry in its environment. False without permission.
fn has_in_environment(pid: i32, entry: &[u8]) -> bool {
    read_environment(format!("/proc/{pid}")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == entry)
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test starts what it looks for")]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::process::{Command, Stdio};

    /// The program of a child in the test below. Run as a test, it has no input and ends.
    #[test]
    fn child_waits_for_the_end_of_its_input() {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    }

    #[test]
    fn scan_ignores_child_before_exec() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let inode = rustix::fs::fstat(&write).unwrap().st_ino;
        let mut shell = Command::new("true").spawn().unwrap();
        let mut marked = MarkedProcesses::new("unused".to_owned());
        marked.set_shell(shell.id().cast_signed(), &[inode]);
        let child = |program: &str, arguments: &[&str], output: OwnedFd| {
            Command::new(program)
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(output)
                .spawn()
                .unwrap()
        };
        let own = std::env::current_exe().unwrap();
        let name =
            "supervisor::server::marked_processes::tests::child_waits_for_the_end_of_its_input";
        let before = child(
            own.to_str().unwrap(),
            &[name, "--exact", "--nocapture"],
            write.try_clone().unwrap(),
        );
        let after = child("cat", &[], write);
        // Wait until the second child has executed its program, and has its arguments.
        let exe = format!("/proc/{}/exe", after.id());
        while fs::read_link(&exe).is_ok_and(|program| program == own)
            || proc_scan::arguments(after.id().cast_signed()).is_empty()
        {
            std::thread::yield_now();
        }
        let (before_pid, after_pid) = (before.id().cast_signed(), after.id().cast_signed());
        let found: Vec<i32> = marked.scan().iter().map(|one| one.pid).collect();
        for mut child in [before, after] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        shell.wait().unwrap();
        drop(read);
        assert!(found.contains(&after_pid), "{found:?}");
        assert!(!found.contains(&before_pid), "{found:?}");
    }
}
