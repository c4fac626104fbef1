//! The processes in a shell's tree. Signals them without a risk for other processes.
//!
//! A direct child that has not been reaped keeps its pid and process group id, so the child and its
//! group can be signalled by number. All other processes are signalled through a pidfd, which is
//! opened before the check that the pid still belongs to the tree. If the pid is reused after the
//! check, the pidfd refers to the process that has ended, and no process is signalled.

use super::marked_processes::MarkedProcesses;
use super::reaped::{ReapOutcome, shell_end};
use super::terminal::ContinuedGroup;
use crate::proc_scan;
use crate::process_group::own_process_group;
use crate::shown_command::command_line;
use agent_bash_core::Survivor;
use agent_bash_os::{ProcessHandle, ProcessInfo};
use rustix::process::{Pid, Signal, WaitOptions};
use std::collections::BTreeSet;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// The processes of a call, and how they are found.
#[derive(Debug)]
pub(super) enum CallProcesses {
    /// The processes are descendants of this process, their subreaper.
    Descendants {
        /// Receives a byte for every SIGCHLD.
        children: UnixStream,
        /// Processes of jobs, which are not members.
        excluded: BTreeSet<i32>,
        /// A process session that also contains processes outside the tree. A member can join any
        /// process group of that session, such as the group of the user's shell.
        foreign_session: Option<i32>,
    },
    /// The processes are found by marks, because the supervisor is a thread of the host.
    Marked(MarkedProcesses),
}

impl CallProcesses {
    /// Descriptors to poll for reading.
    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Descendants { children, .. } => vec![children.as_fd()],
            Self::Marked(marked) => marked.fds(),
        }
    }

    /// Returns the time of the next [`Self::reap`] for processes without a descriptor; `None` if
    /// every process has one.
    pub(super) fn next_check(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Descendants { .. } => None,
            Self::Marked(marked) => marked.next_check(now),
        }
    }

    /// Reaps all children that have ended. `shell` is the call's shell while it is running.
    pub(super) fn reap(
        &mut self,
        shell: Option<i32>,
        on_terminal: bool,
        now: Instant,
    ) -> ReapOutcome {
        match self {
            Self::Descendants { children, .. } => {
                let mut buffer = [0u8; 64];
                while matches!((&*children).read(&mut buffer), Ok(count) if count == buffer.len()) {
                }
                reap_children(shell, on_terminal, now)
            }
            Self::Marked(marked) => marked.reap(shell),
        }
    }

    /// Excludes these processes, so that they are neither ended nor reported.
    pub(super) fn exclude(&mut self, pids: BTreeSet<i32>) {
        if let Self::Descendants { excluded, .. } = self {
            *excluded = pids;
        }
    }

    /// Records that the members are in the process session of the host, so that no process group of
    /// that session is signalled as a whole.
    pub(super) fn share_session(&mut self) {
        if let Self::Descendants {
            foreign_session, ..
        } = self
        {
            // As in `/proc`, 0 if the leader is outside this PID namespace.
            *foreign_session = Some(nix::unistd::getsid(None).map_or(0, nix::unistd::Pid::as_raw));
        }
    }

    /// True if the process is excluded, as it belongs to a job.
    pub(super) fn is_excluded(&self, pid: i32) -> bool {
        match self {
            Self::Descendants { excluded, .. } => excluded.contains(&pid),
            Self::Marked(_) => false,
        }
    }

    /// True if a process group may be signalled as a whole.
    fn may_signal_group(&self, group: i32) -> bool {
        match self {
            Self::Descendants {
                excluded,
                foreign_session,
                ..
            } => foreign_session.is_none() && has_no_excluded_member(group, excluded),
            Self::Marked(_) => true,
        }
    }

    /// Sends SIGTERM to all members.
    pub(super) fn terminate(&mut self, shell: Option<i32>) {
        self.send_to_all(shell, Signal::TERM);
    }

    /// Sends SIGHUP to all members, as the kernel does when a terminal disappears.
    pub(super) fn hang_up(&mut self, shell: Option<i32>) {
        self.send_to_all(shell, Signal::HUP);
    }

    /// Sends a signal, then SIGCONT (without which a stopped process does not handle the signal),
    /// to the shell's process group and to all processes outside of it, once each.
    fn send_to_all(&mut self, shell: Option<i32>, signal: Signal) {
        let signals = [signal, Signal::CONT];
        let shell = shell.filter(|group| self.may_signal_group(*group));
        for signal in signals {
            if let Some(group) = shell.and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, signal);
            }
        }
        let members = self.members();
        for process in &members {
            if Some(process.group) != shell {
                for signal in signals {
                    self.signal(process, &members, signal);
                }
            }
        }
    }

    /// Stops the shell, then sends SIGTERM and SIGCONT to all other members.
    pub(super) fn stop_and_terminate(&mut self, shell: i32) {
        if let Some(pid) = Pid::from_raw(shell) {
            let _ = rustix::process::kill_process(pid, Signal::STOP);
        }
        let members = self.members();
        for process in members.iter().filter(|process| process.pid != shell) {
            for signal in [Signal::TERM, Signal::CONT] {
                self.signal(process, &members, signal);
            }
        }
    }

    /// True if only the shell is left. Its unreaped children do not count.
    pub(super) fn is_alone(&mut self, shell: i32) -> bool {
        self.members().iter().all(|process| process.pid == shell)
    }

    /// Sends SIGKILL to all members. Processes that are forked meanwhile are killed in the next
    /// round.
    pub(super) fn kill_round(&mut self, shell: Option<i32>) {
        match self {
            Self::Descendants {
                excluded,
                foreign_session,
                ..
            } => kill_children(excluded, *foreign_session),
            Self::Marked(_) => self.send_to_all(shell, Signal::KILL),
        }
    }

    /// Returns all running processes, including the shell and the processes of jobs.
    pub(super) fn all_processes(&mut self) -> Vec<ProcessInfo> {
        match self {
            Self::Descendants { .. } => {
                let mut all = proc_scan::descendants(own_pid());
                all.retain(|process| !process.zombie);
                all
            }
            Self::Marked(marked) => marked.scan(),
        }
    }

    /// Returns all running processes, including the shell, except the processes of jobs.
    pub(super) fn members(&mut self) -> Vec<ProcessInfo> {
        let mut members = self.all_processes();
        members.retain(|process| !self.is_excluded(process.pid));
        members
    }

    fn signal(&self, process: &ProcessInfo, members: &[ProcessInfo], signal: Signal) {
        let Ok(handle) = ProcessHandle::open(process.pid) else {
            return;
        };
        let Some(now) = ProcessInfo::of_child(process.pid, process.parent) else {
            return;
        };
        let is_the_same = match self {
            // An orphan may have been reparented to this process meanwhile.
            Self::Descendants { .. } => {
                now.parent == own_pid() || members.iter().any(|other| other.pid == now.parent)
            }
            Self::Marked(_) => now.start_time == process.start_time,
        };
        if is_the_same {
            let _ = handle.signal(signal.as_raw());
        }
    }
}

/// Describes processes for the host. `pipes` are the inodes of the call's output.
/// `startup_argument` is the argument by which a fork of the shell is recognised: a subshell, or a
/// child before `exec`.
pub(super) fn describe(
    processes: &[ProcessInfo],
    pipes: &[u64],
    startup_argument: &[u8],
) -> Vec<Survivor> {
    let describe = processes.iter().map(|process| {
        let holds_output = proc_scan::holds_pipe(process.pid, pipes);
        Survivor::new(
            process.pid.unsigned_abs(),
            name_of(process.pid, startup_argument),
            holds_output,
        )
    });
    describe.collect()
}

/// Returns the command line of a process, or the kernel's name for a process without arguments (for
/// example during `exec`). Never empty.
fn name_of(pid: i32, startup_argument: &[u8]) -> String {
    let line = command_line(&proc_scan::arguments(pid), startup_argument);
    if !line.is_empty() {
        return line;
    }
    let name = proc_scan::name(pid).map(|name| command_line(&[name], b""));
    name.filter(|name| !name.is_empty())
        .unwrap_or_else(|| UNKNOWN_NAME.to_owned())
}

/// The reported name of a process if its name cannot be read.
const UNKNOWN_NAME: &str = "(unknown name)";

/// True if a process group contains none of the excluded processes.
fn has_no_excluded_member(group: i32, excluded: &BTreeSet<i32>) -> bool {
    let is_member =
        |pid: &i32| ProcessInfo::read(*pid).is_some_and(|process| process.group == group);
    !excluded.iter().any(is_member)
}

fn reap_children(shell: Option<i32>, on_terminal: bool, now: Instant) -> ReapOutcome {
    let mut options = WaitOptions::NOHANG;
    if on_terminal {
        options |= WaitOptions::UNTRACED;
    }
    let mut reaped = ReapOutcome::default();
    loop {
        match rustix::process::wait(options) {
            Ok(Some((pid, status))) if status.stopped() => {
                reaped.continued = ContinuedGroup::stopped(pid, status, now).or(reaped.continued);
            }
            Ok(Some((pid, status))) => {
                if shell == Some(pid.as_raw_pid()) {
                    reaped.end = shell_end(status);
                } else {
                    reaped.others_ended = true;
                }
            }
            Ok(None) => return reaped,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                reaped.empty = true;
                return reaped;
            }
        }
    }
}

/// Sends SIGKILL to every direct child and its process group. Their children are then reparented to
/// this process and killed in the next round, like processes that are forked meanwhile. Excluded
/// processes and other members of `foreign_session` are not signalled.
fn kill_children(excluded: &BTreeSet<i32>, foreign_session: Option<i32>) {
    let own_group = own_process_group().map_or(0, Pid::as_raw_pid);
    let mut groups = BTreeSet::new();
    let children = proc_scan::children(own_pid());
    for pid in children.into_iter().filter(|pid| !excluded.contains(pid)) {
        let Some(process) = ProcessInfo::of_child(pid, own_pid()) else {
            continue;
        };
        if process.group != own_group
            && Some(process.session) != foreign_session
            && groups.insert(process.group)
            && has_no_excluded_member(process.group, excluded)
            && let Some(group) = Pid::from_raw(process.group)
        {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        if let Some(number) = Pid::from_raw(pid).filter(|_| !process.zombie) {
            let _ = rustix::process::kill_process(number, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_missing_process_is_not_empty() {
        assert_eq!(name_of(-1, b""), UNKNOWN_NAME);
        assert!(!name_of(own_pid(), b"").is_empty());
    }
}
