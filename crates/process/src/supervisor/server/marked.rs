//! Finds the processes in a shell's tree without being their subreaper: by session, by an environment variable, by
//! parent, by the output they can write to, and by having been found before. Works by scanning `/proc`.
//!
//! A process that removes all of these (a double fork into a new session with an empty environment and its output
//! closed) is not found.

use super::handles::Handles;
use super::reaped::{Reaped, shell_end};
use crate::proc_fs;
use agent_bash_os::{ProcessHandle, ProcessInfo};
use rustix::process::{Pid, WaitOptions};
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};

/// The environment variable that marks a call's processes.
pub(super) const VARIABLE: &str = "AGENT_BASH_CALL";

/// The processes of the shells that one thread starts one after another.
#[derive(Debug)]
pub(super) struct Marked {
    /// Value of [`VARIABLE`].
    value: String,
    shell: Option<Leader>,
    /// Processes found so far.
    known: Handles,
    /// The last scan is outdated.
    stale: bool,
}

/// A shell, which leads its session.
#[derive(Debug)]
struct Leader {
    pid: i32,
    start_time: u64,
    handle: ProcessHandle,
    reaped: bool,
    /// Inodes of its output pipes.
    pipes: Vec<u64>,
}

impl Marked {
    pub(super) fn new(value: String) -> Self {
        Self {
            value,
            shell: None,
            known: Handles::default(),
            stale: false,
        }
    }

    /// Registers a shell that was started as a child of this process.
    pub(super) fn leads(&mut self, pid: i32, pipes: &[u64]) {
        self.known.clear();
        self.shell = ProcessHandle::open(pid).ok().map(|handle| Leader {
            pid,
            // It has not been reaped, so the pid is still its own.
            start_time: ProcessInfo::read(pid).map_or(0, |process| process.start_time),
            handle,
            reaped: false,
            pipes: pipes.to_vec(),
        });
    }

    /// Descriptors that become readable when a process ends.
    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let shell = self.shell.iter().filter(|shell| !shell.reaped);
        shell
            .map(|shell| shell.handle.as_fd())
            .chain(self.known.fds())
            .collect()
    }

    pub(super) fn reap(&mut self, shell: Option<i32>) -> Reaped {
        let mut reaped = Reaped {
            end: None,
            empty: self.shell.is_none(),
            lost: false,
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
        if self.stale || self.known.somebody_has_ended() {
            self.stale = false;
            self.look();
        }
        reaped.empty = self.known.is_empty();
        reaped
    }

    /// Scans for all living processes.
    pub(super) fn look(&mut self) -> Vec<ProcessInfo> {
        let Some(shell) = &self.shell else {
            return Vec::new();
        };
        let own = std::process::id().cast_signed();
        let entry = format!("{VARIABLE}={}", self.value);
        let all: Vec<ProcessInfo> = proc_fs::processes()
            .into_iter()
            .filter(|process| {
                process.pid != own && !process.zombie && process.start_time >= shell.start_time
            })
            .collect();
        let is_marked = |process: &ProcessInfo| {
            process.session == shell.pid
                || (process.pid == shell.pid && !shell.reaped)
                || self.known.has(process)
                || bears(process.pid, entry.as_bytes())
                || proc_fs::writes_to(process.pid, &shell.pipes)
        };
        let mut found: BTreeSet<i32> = all
            .iter()
            .filter(|process| is_marked(process))
            .map(|process| process.pid)
            .collect();
        // They may have removed the mark.
        proc_fs::add_descendants(&mut found, &all);
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

/// Whether a process has this entry in its environment. False if we may not look.
fn bears(pid: i32, entry: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|one| one == entry))
}
