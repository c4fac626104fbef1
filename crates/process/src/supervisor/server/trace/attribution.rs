//! Attributes processes to the calls of a shell, so that a survivor's changes belong to its own
//! call while the shell runs another one.
//!
//! A descendant of the shell belongs to the running call, a descendant of a survivor to the
//! survivor's call. A process that lost its parent before it was observed cannot be attributed. If
//! several calls are possible, the record is marked as uncertain.

use super::open_files;
use super::record::TraceContext;
use agent_bash_changes::{BackgroundChanges, ChangesError};
use agent_bash_os::{ProcessInfo, process_of_thread};
use std::collections::HashMap;

/// The live processes when a record begins or ends.
#[derive(Debug, Default)]
pub(in crate::supervisor::server) struct LiveProcesses {
    /// The shell, while it is running.
    pub(in crate::supervisor::server) shell: Option<i32>,
    /// All processes, including the shell.
    pub(in crate::supervisor::server) processes: Vec<ProcessInfo>,
}

impl LiveProcesses {
    /// Returns the shell, if there is no other process.
    pub(super) fn lone_shell(&self) -> Option<i32> {
        match (self.shell, &*self.processes) {
            (Some(shell), [only]) => (only.pid == shell).then_some(shell),
            _ => None,
        }
    }
}

/// The call that a process belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The running call.
    Running,
    /// The earlier call with this index.
    Earlier(usize),
    /// The call is unknown.
    Unknown,
}

/// The start times of processes, by pid or thread id.
type StartTimes = HashMap<i32, u64>;

/// The survivors of one call.
#[derive(Debug)]
struct CallSurvivors {
    processes: StartTimes,
    background: BackgroundChanges,
    /// True if an earlier call's survivors may also be among these processes.
    is_unsure: bool,
}

/// The survivors of all calls.
#[derive(Debug, Default)]
pub(super) struct Attribution {
    shell: Option<i32>,
    calls: Vec<CallSurvivors>,
    /// The observed processes of the running call, remembered because their parents may exit.
    running: StartTimes,
}

impl Attribution {
    /// True if there are no survivors, so that every change belongs to the running call.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the owner of a thread's process, and remembers the process and its ancestors,
    /// because the ancestors may exit.
    pub(super) fn owner(&mut self, thread: i32) -> Owner {
        if Some(thread) == self.shell {
            return Owner::Running;
        }
        let process = ProcessInfo::read(thread);
        process.map_or(Owner::Unknown, |process| self.owner_of(process))
    }

    fn owner_of(&mut self, thread: ProcessInfo) -> Owner {
        let mut lineage = Vec::new();
        let mut ancestor = thread;
        let owner = loop {
            if Some(ancestor.pid) == self.shell {
                break Owner::Running;
            }
            let is_known =
                |known: &StartTimes| known.get(&ancestor.pid) == Some(&ancestor.start_time);
            if is_known(&self.running) {
                break Owner::Running;
            }
            if let Some(call) = self.calls.iter().position(|call| is_known(&call.processes)) {
                break Owner::Earlier(call);
            }
            lineage.push((ancestor.pid, ancestor.start_time));
            let parent = match process_of_thread(ancestor.pid) {
                Some(leader) if leader != ancestor.pid => leader,
                _ => ancestor.parent,
            };
            // The supervisor and its ancestors belong to no call.
            let is_below_supervisor = parent > 1 && parent != std::process::id().cast_signed();
            match ProcessInfo::read(parent).filter(|_| is_below_supervisor) {
                Some(parent) => ancestor = parent,
                None => break Owner::Unknown,
            }
        };
        match owner {
            Owner::Running => self.running.extend(lineage),
            Owner::Earlier(call) => self.calls[call].processes.extend(lineage),
            Owner::Unknown => {}
        }
        owner
    }

    /// Returns the background change set for a process that is about to change a file; `None` for a
    /// process of the running call. `running` is the background change set of the running call.
    ///
    /// A process with an unknown owner belongs to the only call with survivors, if no call is
    /// running.
    pub(super) fn background_set(
        &mut self,
        owner: Owner,
        thread: i32,
        running: Option<&BackgroundChanges>,
    ) -> Option<&mut BackgroundChanges> {
        let call = match owner {
            Owner::Running => return None,
            Owner::Earlier(call) => call,
            Owner::Unknown => self.unattributed(running)?,
        };
        if owner == Owner::Unknown
            && let Some(process) = ProcessInfo::read(thread)
        {
            let processes = &mut self.calls[call].processes;
            processes.insert(process.pid, process.start_time);
        }
        Some(&mut self.calls[call].background)
    }

    /// Returns the index of the call to which a process with an unknown owner is attributed. Adds
    /// such a call if necessary.
    fn unattributed(&mut self, running: Option<&BackgroundChanges>) -> Option<usize> {
        if running.is_none() && self.calls.len() == 1 {
            return Some(0);
        }
        if let Some(unsure) = self.calls.iter().position(|call| call.is_unsure) {
            return Some(unsure);
        }
        let background = running.or(self.calls.last().map(|call| &call.background))?;
        let background = background.maybe_earlier();
        self.calls.push(CallSurvivors {
            processes: StartTimes::new(),
            background,
            is_unsure: true,
        });
        Some(self.calls.len() - 1)
    }

    /// Begins a call: from now on, the changes of survivors go to new change sets, as do changes of
    /// files that they have open. Returns the processes that may belong to the call.
    pub(super) fn begin_call(
        &mut self,
        live: &LiveProcesses,
        context: &mut TraceContext,
    ) -> Vec<i32> {
        self.shell = live.shell;
        self.running.clear();
        let members = self.attribute_all(live, None);
        for call in &mut self.calls {
            ignore_result(call.background.conclude());
            preserve_open_files(&mut call.background, &call.processes, context);
        }
        members.iter().map(|process| process.pid).collect()
    }

    /// Ends the running call: its remaining processes become its survivors.
    pub(super) fn end_call(
        &mut self,
        live: &LiveProcesses,
        background: BackgroundChanges,
        context: &mut TraceContext,
    ) {
        self.shell = live.shell;
        let mut members = self.attribute_all(live, Some(&background));
        members.retain(|process| Some(process.pid) != live.shell);
        self.running.clear();
        if members.is_empty() {
            return;
        }
        let members = members
            .iter()
            .map(|process| (process.pid, process.start_time));
        let mut call = CallSurvivors {
            processes: members.collect(),
            background,
            is_unsure: false,
        };
        preserve_open_files(&mut call.background, &call.processes, context);
        self.calls.push(call);
    }

    /// Attributes all processes, and closes the change sets of calls without processes. `running`
    /// is the background change set of the running call. Returns that call's processes, including
    /// the shell.
    pub(super) fn attribute_all<'a>(
        &mut self,
        live: &'a LiveProcesses,
        running: Option<&BackgroundChanges>,
    ) -> Vec<&'a ProcessInfo> {
        let mut all: Vec<&ProcessInfo> = live.processes.iter().collect();
        // Without survivors the processes can only be the call's own.
        if self.is_empty() {
            return all;
        }
        let listed: StartTimes = all
            .iter()
            .map(|process| (process.pid, process.start_time))
            .collect();
        all.retain(|process| match self.owner_of((*process).clone()) {
            Owner::Running => true,
            Owner::Earlier(_) => false,
            Owner::Unknown => {
                self.background_set(Owner::Unknown, process.pid, running);
                false
            }
        });
        for call in &mut self.calls {
            // The listing can lack a process that lost its parent meanwhile, so each missing
            // process is read again.
            let is_listed = |pid, start| listed.get(&pid) == Some(&start);
            call.processes
                .retain(|pid, start| is_listed(*pid, *start) || is_alive(*pid, *start));
        }
        for mut call in self.calls.extract_if(.., |call| call.processes.is_empty()) {
            ignore_result(call.background.conclude());
        }
        all
    }

    /// Closes all change sets, because no process remains.
    pub(super) fn close_all(&mut self) {
        for mut call in self.calls.drain(..) {
            ignore_result(call.background.conclude());
        }
        self.running.clear();
    }
}

/// Saves the former contents of the files that these processes have open.
fn preserve_open_files(
    background: &mut BackgroundChanges,
    processes: &StartTimes,
    context: &mut TraceContext,
) {
    let pids: Vec<i32> = processes.keys().copied().collect();
    if open_files::record(&pids, context, background)
        .recorded
        .is_err()
    {
        ignore_result(background.mark_incomplete());
    }
}

fn is_alive(pid: i32, start: u64) -> bool {
    let process = ProcessInfo::read(pid);
    process.is_some_and(|process| process.start_time == start && !process.zombie)
}

/// Ignores an error, because a change set that cannot be closed stays marked as interrupted.
pub(super) fn ignore_result(_: Result<(), ChangesError>) {}
