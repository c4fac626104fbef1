//! Who is left of a job whose supervisor was killed: nobody can be asked any more, so they are looked for. Whoever is
//! still in its session, and whoever can still write to its output, is one of them. Who has left both is not found.

use crate::proc_fs;
use crate::supervisor::command_line;
use agent_bash_core::Survivor;
use agent_bash_os::ProcessIdentity;
use agent_bash_os::ProcessInfo;
use rustix::process::Signal;

/// What leftovers are known by.
#[derive(Debug, Clone)]
pub struct Leftovers {
    /// The supervisor, which led the session. Whoever was started before it is nobody's leftover.
    pub supervisor: ProcessIdentity,
    /// Inode of the pipe that is the output.
    pub pipe: Option<u64>,
}

impl Leftovers {
    /// Those who live. Nobody while the supervisor lives: it is to be asked then.
    pub fn find(&self) -> Vec<ProcessIdentity> {
        if !self.supervisor.is_of_here() || self.supervisor.is_alive() {
            return Vec::new();
        }
        // The kernel gives nobody a number that is still the number of a session. If somebody has the supervisor's, the
        // session of that number is a new one; a dead supervisor that was not reaped yet has its own still.
        let session = ProcessInfo::read(self.supervisor.pid)
            .is_none_or(|now| now.start_time == self.supervisor.start_time)
            .then_some(self.supervisor.pid);
        let pipes: Vec<u64> = self.pipe.into_iter().collect();
        let own = std::process::id().cast_signed();
        let is_left = |process: &ProcessInfo| {
            !process.zombie
                && process.pid != own
                && process.pid != self.supervisor.pid
                && process.start_time >= self.supervisor.start_time
                && (Some(process.session) == session || proc_fs::writes_to(process.pid, &pipes))
        };
        proc_fs::processes()
            .into_iter()
            .filter(is_left)
            .map(|process| ProcessIdentity::new(process.pid, process.start_time))
            .collect()
    }

    /// As [`Self::find`], with names. While the supervisor lives, all that it has.
    pub fn survivors(&self) -> Vec<Survivor> {
        let pids = if self.supervisor.is_alive() {
            self.below_the_supervisor()
        } else {
            self.find().into_iter().map(|process| process.pid).collect()
        };
        let pipes: Vec<u64> = self.pipe.into_iter().collect();
        let named = pids.into_iter().map(|pid| {
            let command = command_line(&proc_fs::arguments(pid), b"");
            Survivor::new(pid.unsigned_abs(), command, proc_fs::writes_to(pid, &pipes))
        });
        named.collect()
    }

    /// Whoever has lost its parent is its child.
    fn below_the_supervisor(&self) -> Vec<i32> {
        let living: Vec<_> = proc_fs::processes()
            .into_iter()
            .filter(|process| !process.zombie)
            .collect();
        let mut family = vec![self.supervisor.pid];
        loop {
            let known = family.len();
            for process in &living {
                if family.contains(&process.parent) && !family.contains(&process.pid) {
                    family.push(process.pid);
                }
            }
            if family.len() == known {
                return family.split_off(1);
            }
        }
    }

    /// Sends SIGTERM and SIGCONT to all, once. Returns how many there are.
    pub fn terminate(&self) -> usize {
        let found = self.find();
        for process in &found {
            let _ = process.signal(Signal::TERM.as_raw());
            let _ = process.signal(Signal::CONT.as_raw());
        }
        found.len()
    }

    /// Sends SIGKILL to all, once; what was forked meanwhile is met by the next round. Returns how many there were.
    pub fn kill(&self) -> usize {
        let found = self.find();
        for process in &found {
            let _ = process.signal(Signal::KILL.as_raw());
        }
        found.len()
    }
}
