//! Attributes processes to the calls of a shell, so that a survivor's changes belong to its own
//! call, whatever the shell runs meanwhile.
//!
//! Parents decide: a process below the shell belongs to the running call, a process below a
//! survivor belongs to the survivor's call. A process that lost its parent before it was observed
//! cannot be attributed. If several calls are possible, the record says so.

use super::held;
use super::paths::leader;
use super::record::TraceContext;
use agent_bash_changes::{BackgroundChanges, ChangesError};
use agent_bash_os::ProcessInfo;
use std::collections::HashMap;

/// The processes besides the shell, when a record begins or ends.
#[derive(Debug, Default)]
pub(in crate::supervisor::server) struct LiveProcesses {
    /// The shell, while it is there.
    pub(in crate::supervisor::server) shell: Option<i32>,
    /// All processes, including the shell.
    pub(in crate::supervisor::server) processes: Vec<ProcessInfo>,
}

/// The call that a process belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The call's that runs.
    Running,
    /// The earlier call with this index.
    Earlier(usize),
    /// The call is unknown.
    Unknown,
}

/// Pids, or threads, with when they were started.
type Processes = HashMap<i32, u64>;

/// The survivors of one call.
#[derive(Debug)]
struct Call {
    processes: Processes,
    background: BackgroundChanges,
    /// True if an earlier call's survivors may also be among these processes.
    is_unsure: bool,
}

/// The survivors of all calls.
#[derive(Debug, Default)]
pub(super) struct Attribution {
    shell: Option<i32>,
    calls: Vec<Call>,
    /// The seen processes of the running call: their parents may end.
    running: Processes,
}

impl Attribution {
    /// True if no call has left processes, so that the running call makes every change.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the owner of a thread's process. It is cached, because the parents may end.
    pub(super) fn owner(&mut self, thread: i32) -> Owner {
        if Some(thread) == self.shell {
            return Owner::Running;
        }
        let seen = ProcessInfo::read(thread);
        seen.map_or(Owner::Unknown, |seen| self.owner_of(seen))
    }

    fn owner_of(&mut self, thread: ProcessInfo) -> Owner {
        let mut seen = Vec::new();
        let mut at = thread;
        let whose = loop {
            if Some(at.pid) == self.shell {
                break Owner::Running;
            }
            let is_known = |known: &Processes| known.get(&at.pid) == Some(&at.start_time);
            if is_known(&self.running) {
                break Owner::Running;
            }
            if let Some(call) = self.calls.iter().position(|it| is_known(&it.processes)) {
                break Owner::Earlier(call);
            }
            seen.push((at.pid, at.start_time));
            let above = match leader(at.pid) {
                Some(leader) if leader != at.pid => leader,
                _ => at.parent,
            };
            // Processes above the supervisor belong to no call.
            let is_within = above > 1 && above != std::process::id().cast_signed();
            match ProcessInfo::read(above).filter(|_| is_within) {
                Some(above) => at = above,
                None => break Owner::Unknown,
            }
        };
        match whose {
            Owner::Running => self.running.extend(seen),
            Owner::Earlier(call) => self.calls[call].processes.extend(seen),
            Owner::Unknown => {}
        }
        whose
    }

    /// Returns the background change set for a process that is about to change a file. An
    /// unattributed process belongs to the only call with survivors, if no other runs; `running`
    /// would be the set of the running call.
    pub(super) fn background_set(
        &mut self,
        whose: Owner,
        thread: i32,
        running: Option<&BackgroundChanges>,
    ) -> Option<&mut BackgroundChanges> {
        let call = match whose {
            Owner::Running => return None,
            Owner::Earlier(call) => call,
            Owner::Unknown => self.unattributed(running)?,
        };
        if whose == Owner::Unknown
            && let Some(process) = ProcessInfo::read(thread)
        {
            let processes = &mut self.calls[call].processes;
            processes.insert(process.pid, process.start_time);
        }
        Some(&mut self.calls[call].background)
    }

    fn unattributed(&mut self, running: Option<&BackgroundChanges>) -> Option<usize> {
        if running.is_none() && self.calls.len() == 1 {
            return Some(0);
        }
        if let Some(unsure) = self.calls.iter().position(|it| it.is_unsure) {
            return Some(unsure);
        }
        let late = running.or(self.calls.last().map(|call| &call.background))?;
        let late = late.or_earlier();
        self.calls.push(Call {
            processes: Processes::new(),
            background: late,
            is_unsure: true,
        });
        Some(self.calls.len() - 1)
    }

    /// Begins a call: changes by others from now on go to further change sets, including their open
    /// files. Returns the processes that may belong to the call.
    pub(super) fn begun(
        &mut self,
        living: &LiveProcesses,
        surroundings: &mut TraceContext,
    ) -> Vec<i32> {
        self.shell = living.shell;
        self.running.clear();
        let own = self.look(living, None);
        for call in &mut self.calls {
            concluded(call.background.conclude());
            keep_open(&mut call.background, &call.processes, surroundings);
        }
        own.iter().map(|process| process.pid).collect()
    }

    /// The call has ended: what lives and is no earlier call's it has left.
    pub(super) fn ended(
        &mut self,
        living: &LiveProcesses,
        late: BackgroundChanges,
        surroundings: &mut TraceContext,
    ) {
        self.shell = living.shell;
        let mut own = self.look(living, Some(&late));
        own.retain(|process| Some(process.pid) != living.shell);
        self.running.clear();
        if own.is_empty() {
            return;
        }
        let own = own.iter().map(|it| (it.pid, it.start_time));
        let mut call = Call {
            processes: own.collect(),
            background: late,
            is_unsure: false,
        };
        keep_open(&mut call.background, &call.processes, surroundings);
        self.calls.push(call);
    }

    /// Attributes all processes, and closes the change sets of calls without processes. `running`
    /// would be the set of the running call. Returns the processes of that call, and the shell.
    pub(super) fn look<'a>(
        &mut self,
        living: &'a LiveProcesses,
        running: Option<&BackgroundChanges>,
    ) -> Vec<&'a ProcessInfo> {
        let mut all: Vec<&ProcessInfo> = living.processes.iter().collect();
        // Without survivors the processes can only be the call's own.
        if self.is_empty() {
            return all;
        }
        let there: Processes = all.iter().map(|it| (it.pid, it.start_time)).collect();
        all.retain(|process| match self.owner_of((*process).clone()) {
            Owner::Running => true,
            Owner::Earlier(_) => false,
            Owner::Unknown => {
                self.background_set(Owner::Unknown, process.pid, running);
                false
            }
        });
        for call in &mut self.calls {
            // A process that lost its parent during the listing is missing.
            let is_listed = |pid, start| there.get(&pid) == Some(&start);
            call.processes
                .retain(|pid, start| is_listed(*pid, *start) || is_there(*pid, *start));
        }
        for mut call in self.calls.extract_if(.., |call| call.processes.is_empty()) {
            concluded(call.background.conclude());
        }
        all
    }

    /// Closes everything, because no process remains.
    pub(super) fn end(&mut self) {
        for mut call in self.calls.drain(..) {
            concluded(call.background.conclude());
        }
        self.running.clear();
    }
}

/// Preserves the open files of these processes.
fn keep_open(late: &mut BackgroundChanges, processes: &Processes, surroundings: &mut TraceContext) {
    let pids: Vec<i32> = processes.keys().copied().collect();
    if held::record(&pids, surroundings, late).is_err() {
        concluded(late.lacks());
    }
}

fn is_there(pid: i32, start: u64) -> bool {
    let process = ProcessInfo::read(pid);
    process.is_some_and(|process| process.start_time == start && !process.zombie)
}

/// Ignores the result, because it has no receiver: the change set itself is marked as interrupted.
pub(super) fn concluded(_: Result<(), ChangesError>) {}
