//! Finds the remaining processes of a job whose supervisor was killed: the processes in the job's
//! process session, and the processes that can write to its output. Other processes are not found.

use crate::proc_scan;
use crate::shown_command::shown_command;
use agent_bash_core::Survivor;
use agent_bash_os::{ProcessIdentity, ProcessInfo};
use std::collections::BTreeSet;

/// The properties by which leftovers are found.
#[derive(Debug, Clone)]
pub struct Leftovers {
    /// The supervisor, which was the session leader. Older processes cannot be leftovers.
    pub supervisor: ProcessIdentity,
    /// Inode of the output pipe.
    pub pipe: Option<u64>,
}

impl Leftovers {
    /// Returns the running leftovers. Empty while the supervisor is alive, which lists its
    /// processes itself.
    pub fn find(&self) -> Vec<ProcessIdentity> {
        if !self.supervisor.is_local() || self.supervisor.is_alive() {
            return Vec::new();
        }
        // The kernel does not assign a pid that is still in use as a session id. So if the
        // supervisor's pid was reused, the session with that id is a new one. A dead supervisor
        // that was not reaped still has its pid.
        let session = ProcessInfo::read(self.supervisor.pid)
            .is_none_or(|now| now.start_time == self.supervisor.start_time)
            .then_some(self.supervisor.pid);
        let own = std::process::id().cast_signed();
        let is_leftover = |process: &ProcessInfo| {
            !process.zombie
                && process.pid != own
                && process.pid != self.supervisor.pid
                && process.start_time >= self.supervisor.start_time
                && (Some(process.session) == session || self.writes_to_output(process.pid))
        };
        proc_scan::processes()
            .into_iter()
            .filter(is_leftover)
            .map(|process| ProcessIdentity::new(process.pid, process.start_time))
            .collect()
    }

    /// Returns the leftovers with their command lines. While the supervisor is alive, returns all
    /// its descendants instead.
    pub fn survivors(&self) -> Vec<Survivor> {
        let pids: BTreeSet<i32> = if self.supervisor.is_alive() {
            self.descendants_in(&running_processes())
        } else {
            self.find().into_iter().map(|process| process.pid).collect()
        };
        let survivor = |pid: i32| {
            let holds_output = self.writes_to_output(pid);
            Survivor::new(pid.unsigned_abs(), shown_command(pid), holds_output)
        };
        pids.into_iter().map(survivor).collect()
    }

    /// Returns the running descendants of the living supervisor: all of them, or only `first` with
    /// its descendants and the processes that write to the output.
    pub fn below_supervisor(&self, first: Option<i32>) -> Vec<ProcessIdentity> {
        if !self.supervisor.is_alive() {
            return Vec::new();
        }
        let running = running_processes();
        let all = self.descendants_in(&running);
        let members = first.map(|first| {
            let mut members = BTreeSet::from([first]);
            members.extend(all.iter().filter(|pid| self.writes_to_output(**pid)));
            proc_scan::add_descendants(&mut members, &running);
            members
        });
        let is_member = |pid: &i32| members.as_ref().is_none_or(|members| members.contains(pid));
        running
            .iter()
            .filter(|process| all.contains(&process.pid) && is_member(&process.pid))
            .map(|process| ProcessIdentity::new(process.pid, process.start_time))
            .collect()
    }

    /// True if a process can write to the job's output.
    fn writes_to_output(&self, pid: i32) -> bool {
        proc_scan::writes_to(pid, self.pipe.as_slice())
    }

    /// Returns the descendants of the supervisor among `running`, including orphans, which are
    /// reparented to it.
    fn descendants_in(&self, running: &[ProcessInfo]) -> BTreeSet<i32> {
        let mut descendants = BTreeSet::from([self.supervisor.pid]);
        proc_scan::add_descendants(&mut descendants, running);
        descendants.remove(&self.supervisor.pid);
        descendants
    }
}

fn running_processes() -> Vec<ProcessInfo> {
    let mut running = proc_scan::processes();
    running.retain(|process| !process.zombie);
    running
}
