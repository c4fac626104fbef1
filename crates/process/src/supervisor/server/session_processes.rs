//! Survivors of a session's call, which run below the supervisor of the session's shell: the
//! processes that ran when the call ended, and their children. A child that loses its parent before
//! the next update is not recognised, and counts as a process of the session.
//!
//! Not here: the job's files and clients (`job`), ending the shell and its processes (`ladder`,
//! `tree`), attributing processes to calls (`serve`).

use super::handles::ProcessHandles;
use super::job::{Job, JobProcesses};
use super::ladder::KillRounds;
use super::relay::Relay;
use super::tree;
use agent_bash_core::Survivor;
use agent_bash_os::ProcessInfo;
use rustix::process::Signal;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// The survivors of one call.
#[derive(Debug)]
pub(super) struct SessionProcesses {
    owner: SurvivorOwner,
    members: ProcessHandles,
    /// The rounds of SIGKILL; `None` until SIGTERM is sent.
    ending: Option<KillRounds>,
}

#[derive(Debug)]
enum SurvivorOwner {
    /// A job, whose processes outlive the session.
    Job { job: Box<Job>, relay: Relay },
    /// The host, which waits for the end of the processes. Processes of no known call are added to
    /// them.
    Host,
    /// The session, with which the processes end. They are tracked so that they are not attributed
    /// to a later call.
    Session,
}

/// The result of [`SessionProcesses::maintain`].
#[derive(Debug)]
pub(super) enum SessionFinding {
    /// There is nothing to do.
    Nothing,
    /// Report to the host that the watched processes have ended, or, if the list is not empty, that
    /// the listed ones withstand SIGKILL.
    Report(Vec<Survivor>),
    /// The processes have ended, and the host does not wait for their end.
    Ended,
}

impl SessionProcesses {
    pub(super) fn job(job: Job, relay: Relay, members: &[ProcessInfo]) -> Self {
        let job = Box::new(job);
        Self::of(SurvivorOwner::Job { job, relay }, members)
    }

    pub(super) fn of_host(members: &[ProcessInfo]) -> Self {
        Self::of(SurvivorOwner::Host, members)
    }

    pub(super) fn of_session(members: &[ProcessInfo]) -> Self {
        Self::of(SurvivorOwner::Session, members)
    }

    fn of(owner: SurvivorOwner, members: &[ProcessInfo]) -> Self {
        let mut processes = Self {
            owner,
            members: ProcessHandles::default(),
            ending: None,
        };
        for process in members {
            processes.members.add(process);
        }
        processes
    }

    /// True if the processes outlive the session.
    pub(super) fn outlives_session(&self) -> bool {
        matches!(self.owner, SurvivorOwner::Job { .. })
    }

    /// True if the host waits for the end of the processes.
    pub(super) fn is_awaited_by_host(&self) -> bool {
        matches!(self.owner, SurvivorOwner::Host)
    }

    /// Descriptors to poll for reading.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let (job, relay) = match &self.owner {
            SurvivorOwner::Job { job, relay } => (Some(job), Some(relay)),
            SurvivorOwner::Host | SurvivorOwner::Session => (None, None),
        };
        let sockets = job.into_iter().flat_map(|job| job.sockets());
        let pipes = relay.into_iter().flat_map(Relay::pipes);
        self.members.fds().chain(sockets).chain(pipes)
    }

    /// Returns the time of the next [`Self::maintain`] if nothing else happens.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let ending = self.ending.as_ref().map(KillRounds::next);
        let check = self.members.next_check(now);
        let job = match &self.owner {
            SurvivorOwner::Job { job, .. } => job.next_deadline(),
            SurvivorOwner::Host | SurvivorOwner::Session => None,
        };
        ending.into_iter().chain(check).chain(job).min()
    }

    /// The pids of the processes.
    pub(super) fn pids(&self) -> impl Iterator<Item = i32> {
        self.members.pids()
    }

    /// True if [`Self::update`] is due: a process has ended, or signals are to be sent now.
    pub(super) fn is_stale(&self, now: Instant) -> bool {
        let is_due = |rounds: &KillRounds| now >= rounds.next();
        self.members.any_has_ended() || self.ending.as_ref().is_some_and(is_due)
    }

    /// Adds children of members from `running`, then removes members that have ended.
    pub(super) fn update(&mut self, running: &[ProcessInfo]) {
        loop {
            let mut added = false;
            for process in running {
                added |= self.members.has_pid(process.parent) && self.members.add(process);
            }
            if !added {
                break;
            }
        }
        self.members.forget_ended();
    }

    pub(super) fn add(&mut self, process: &ProcessInfo) {
        self.members.add(process);
    }

    /// Sends SIGTERM and SIGCONT to all members; SIGKILL follows after the grace period.
    pub(super) fn end(&mut self, grace: Duration, now: Instant) {
        self.members.signal(&[Signal::TERM, Signal::CONT]);
        if let SurvivorOwner::Job { job, .. } = &mut self.owner
            && !self.members.is_empty()
        {
            job.end_requested(true);
        }
        let rounds = KillRounds::starting_at(now + grace);
        self.ending = Some(match self.ending {
            Some(before) => rounds.earlier(before),
            None => rounds,
        });
    }

    /// Sends due signals, and reports ended processes. `startup_argument` is the argument by which
    /// shells of this program are recognised.
    pub(super) fn maintain(&mut self, startup_argument: &[u8], now: Instant) -> SessionFinding {
        let mut withstand = None;
        if let Some(rounds) = &mut self.ending
            && rounds.is_due(now)
        {
            if rounds.newly_stuck(now) {
                withstand = Some(describe(&self.members, startup_argument));
            }
            self.members.signal(&[Signal::KILL]);
            if let SurvivorOwner::Job { job, .. } = &mut self.owner {
                job.record_sigkill();
            }
        }
        let empty = self.members.is_empty();
        match &mut self.owner {
            SurvivorOwner::Job { job, relay } => {
                if let Some(survivors) = withstand {
                    job.report_stuck(&survivors);
                }
                let state = JobProcesses {
                    shell: None,
                    empty,
                    is_being_ended: false,
                    has_stuck_processes: false,
                    all_read: relay.is_done(),
                    dropped: relay.dropped(),
                };
                // The shell's later calls report the limits of its cgroup.
                if job.conclude(state, now, Vec::new) {
                    return SessionFinding::Ended;
                }
                SessionFinding::Nothing
            }
            SurvivorOwner::Host => match withstand.or_else(|| empty.then(Vec::new)) {
                Some(survivors) => {
                    self.owner = SurvivorOwner::Session;
                    SessionFinding::Report(survivors)
                }
                None => SessionFinding::Nothing,
            },
            SurvivorOwner::Session if empty => SessionFinding::Ended,
            SurvivorOwner::Session => SessionFinding::Nothing,
        }
    }

    /// Relays output and serves clients. Returns the grace period if a client requests the end.
    /// Call [`Self::update`] before [`Self::end`]: a child cannot be attributed once its parent has
    /// ended.
    pub(super) fn receive(&mut self, startup_argument: &[u8]) -> Option<Duration> {
        let members = &self.members;
        let SurvivorOwner::Job { job, relay } = &mut self.owner else {
            return None;
        };
        relay.pump();
        let graces = job.receive(|| describe(members, startup_argument));
        graces.into_iter().min()
    }

    /// Returns the relay, which must still be read: the session's shell may hold the output open.
    pub(super) fn into_relay(self) -> Relay {
        match self.owner {
            SurvivorOwner::Job { relay, .. } => relay,
            SurvivorOwner::Host | SurvivorOwner::Session => Relay::default(),
        }
    }
}

fn describe(members: &ProcessHandles, startup_argument: &[u8]) -> Vec<Survivor> {
    let process_info = |pid| ProcessInfo::of_child(pid, 0);
    let members: Vec<_> = members.pids().filter_map(process_info).collect();
    tree::describe(&members, &[], startup_argument)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test reaps this child itself"
    )]
    fn update_retains_running_process_missing_in_listing() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = ProcessInfo::read(child.id().cast_signed()).unwrap();
        let mut processes = SessionProcesses::of_session(std::slice::from_ref(&process));
        // The listing may miss a process if its parent ended during the read.
        processes.update(&[]);
        assert_eq!(processes.pids().collect::<Vec<_>>(), [process.pid]);
        child.kill().unwrap();
        // The process counts as ended once it is reaped.
        child.wait().unwrap();
        processes.update(&[]);
        assert_eq!(processes.pids().count(), 0);
    }
}
