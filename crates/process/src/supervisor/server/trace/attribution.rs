//! What earlier calls of a shell have left running, and which of them a process belongs to: what it changes is that call's,
//! whatever the shell runs by then.
//!
//! It is told by parents: who is below the shell belongs to the call that runs, who is below a process that a call has left
//! belongs to that call. A process whose parent has ended before it was seen is nobody's child any more. Where that leaves more than
//! one call, it is said that it is not known which.

use super::held;
use super::paths::leader;
use super::record::Surroundings;
use agent_bash_changes::{BackgroundChanges, ChangesError};
use agent_bash_os::ProcessInfo;
use std::collections::HashMap;

/// The processes besides the shell, when a record begins or ends.
#[derive(Debug, Default)]
pub(in crate::supervisor::server) struct LiveProcesses {
    /// The shell, while it is there.
    pub(in crate::supervisor::server) shell: Option<i32>,
    /// All of them, the shell as well.
    pub(in crate::supervisor::server) processes: Vec<ProcessInfo>,
}

/// Whose a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The call's that runs.
    Running,
    /// Of the calls before, this one's.
    Earlier(usize),
    /// It is not known.
    Unknown,
}

/// Pids, or threads, with when they were started.
type Processes = HashMap<i32, u64>;

/// What one call has left.
#[derive(Debug)]
struct Call {
    processes: Processes,
    background: BackgroundChanges,
    /// Whether it is what may be an earlier one's as well.
    is_unsure: bool,
}

/// What all of them have.
#[derive(Debug, Default)]
pub(super) struct Attribution {
    shell: Option<i32>,
    calls: Vec<Call>,
    /// Of the running call, as far as they were seen: their parents may end.
    running: Processes,
}

impl Attribution {
    /// Whether no call has left anything, so that whatever changes a file is the running call's.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whose this thread's process is. It is remembered: its parents may end.
    pub(super) fn owner(&mut self, thread: i32) -> Owner {
        if Some(thread) == self.shell {
            return Owner::Running;
        }
        let seen = ProcessInfo::read(thread);
        seen.map_or(Owner::Unknown, |seen| self.whose_is(seen))
    }

    fn whose_is(&mut self, thread: ProcessInfo) -> Owner {
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
            // Above us nobody belongs to a call.
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

    /// What a process is about to change is recorded there. One that is nobody's child is the call's that has left
    /// something, if there is only one and no other runs; `running` would be that one's.
    pub(super) fn background_set(
        &mut self,
        whose: Owner,
        thread: i32,
        running: Option<&BackgroundChanges>,
    ) -> Option<&mut BackgroundChanges> {
        let call = match whose {
            Owner::Running => return None,
            Owner::Earlier(call) => call,
            Owner::Unknown => self.nobodys(running)?,
        };
        if whose == Owner::Unknown
            && let Some(process) = ProcessInfo::read(thread)
        {
            let processes = &mut self.calls[call].processes;
            processes.insert(process.pid, process.start_time);
        }
        Some(&mut self.calls[call].background)
    }

    fn nobodys(&mut self, running: Option<&BackgroundChanges>) -> Option<usize> {
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

    /// A call begins: what others change from here on is in further sets, and what they have open they may write to. Returns
    /// those who may be the call's.
    pub(super) fn begun(
        &mut self,
        living: &LiveProcesses,
        surroundings: &mut Surroundings,
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
        surroundings: &mut Surroundings,
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

    /// Remembers whose all of them are, and concludes what calls have left of which nobody is there any more. `running`
    /// would be the set of the call that runs. Returns those that are that one's, and the shell.
    pub(super) fn look<'a>(
        &mut self,
        living: &'a LiveProcesses,
        running: Option<&BackgroundChanges>,
    ) -> Vec<&'a ProcessInfo> {
        let mut all: Vec<&ProcessInfo> = living.processes.iter().collect();
        // With nobody left they can only be its own.
        if self.is_empty() {
            return all;
        }
        let there: Processes = all.iter().map(|it| (it.pid, it.start_time)).collect();
        all.retain(|process| match self.whose_is((*process).clone()) {
            Owner::Running => true,
            Owner::Earlier(_) => false,
            Owner::Unknown => {
                self.background_set(Owner::Unknown, process.pid, running);
                false
            }
        });
        for call in &mut self.calls {
            // A process whose parent ended while the list was made is not in it.
            let is_listed = |pid, start| there.get(&pid) == Some(&start);
            call.processes
                .retain(|pid, start| is_listed(*pid, *start) || is_there(*pid, *start));
        }
        for mut call in self.calls.extract_if(.., |call| call.processes.is_empty()) {
            concluded(call.background.conclude());
        }
        all
    }

    /// Nobody is left.
    pub(super) fn end(&mut self) {
        for mut call in self.calls.drain(..) {
            concluded(call.background.conclude());
        }
        self.running.clear();
    }
}

/// What these have open they may write to from now on.
fn keep_open(late: &mut BackgroundChanges, processes: &Processes, surroundings: &mut Surroundings) {
    let pids: Vec<i32> = processes.keys().copied().collect();
    if held::record(&pids, surroundings, late).is_err() {
        concluded(late.lacks());
    }
}

fn is_there(pid: i32, start: u64) -> bool {
    let process = ProcessInfo::read(pid);
    process.is_some_and(|process| process.start_time == start && !process.zombie)
}

/// Nobody waits for it, so that nobody can be told: the set says itself that it was interrupted.
pub(super) fn concluded(_: Result<(), ChangesError>) {}
