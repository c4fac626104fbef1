//! The processes that a call leaves: naming, adopting, ending and watching them.

use super::{HostRelation, Server, now};
use crate::supervisor::protocol::{AdoptOptions, Event};
use crate::supervisor::server::job::Job;
use crate::supervisor::server::relay::Relay;
use crate::supervisor::server::session_processes::{SessionFinding, SessionProcesses};
use crate::supervisor::server::shell::Shell;
use crate::supervisor::server::trace::{LiveProcesses, Tracer};
use crate::supervisor::server::tree::{CallProcesses, named};
use agent_bash_core::Survivor;
use agent_bash_os::ProcessInfo;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

impl Server {
    /// Adopts survivors. `fds` are pipes, followed by as many files if `files` is set.
    pub(super) fn adopt(&mut self, adopt: AdoptOptions, mut fds: Vec<OwnedFd>) -> io::Result<()> {
        let AdoptOptions {
            files,
            detach,
            quota,
            job,
        } = adopt;
        if files && !fds.len().is_multiple_of(2) {
            return Err(io::Error::other("a pipe came without its file"));
        }
        let files = if files {
            fds.split_off(fds.len() / 2)
        } else {
            Vec::new()
        };
        let outlives = matches!(self.tree, CallProcesses::Below { .. });
        let adopted = job.as_ref().filter(|_| outlives && !detach);
        if let Some(Ok(job)) = adopted.map(|directory| Job::adopt(directory)) {
            self.adopt_beside(job, fds, files, quota);
            return Ok(());
        }
        self.relay.take(fds, files, quota)?;
        if detach {
            self.host = HostRelation::Released;
        } else {
            let left = self.unattributed();
            self.session_processes
                .push(SessionProcesses::of_session(&left));
        }
        // If a job's files are missing the survivors live on without one; the host sees that there
        // is no entry.
        self.job = self.job.take().or_else(|| {
            job.filter(|_| outlives && detach)
                .and_then(|directory| Job::adopt(&directory).ok())
        });
        Ok(())
    }

    fn adopt_beside(&mut self, job: Job, pipes: Vec<OwnedFd>, files: Vec<OwnedFd>, quota: u64) {
        let mut relay = Relay::default();
        // A pipe that cannot be read has no writers.
        let _ = relay.take(pipes, files, quota);
        let left = self.unattributed();
        self.session_processes
            .push(SessionProcesses::job(job, relay, &left));
    }

    /// Begins to watch the call's processes for the host: all except the shell and those of earlier
    /// calls.
    pub(super) fn watch_survivors(&mut self) {
        let left = self.unattributed();
        self.session_processes
            .push(SessionProcesses::of_host(&left));
    }

    /// Ends the watched processes. If there are none they have ended, which was reported.
    pub(super) fn end_survivors(&mut self, grace: Duration) {
        self.refresh();
        let watched = self
            .session_processes
            .iter_mut()
            .find(|processes| processes.is_watched());
        if let Some(processes) = watched {
            processes.end(grace, now());
        }
    }

    /// Processes besides the shell that do not belong to an earlier call.
    fn unattributed(&mut self) -> Vec<ProcessInfo> {
        let mut all = self.look();
        let known = self.known();
        all.retain(|process| !known.contains(&process.pid));
        all
    }

    /// Returns the shell, and all other processes of known calls.
    fn known(&self) -> BTreeSet<i32> {
        let session_processes = self
            .session_processes
            .iter()
            .flat_map(SessionProcesses::pids);
        session_processes.chain(self.living_shell()).collect()
    }

    /// Looks at the processes as [`Self::look`] does, for callers that do not need the list.
    pub(super) fn refresh(&mut self) {
        if self.session_processes.is_empty() && self.finishing.is_none() {
            self.tree.exclude(BTreeSet::new());
        } else {
            self.look();
        }
    }

    /// Updates which processes exist besides the shell, from a single reading of the tree: with two
    /// readings, a process started in between would be attributed to no call. Excludes processes of
    /// jobs from everything else. Returns all processes.
    pub(super) fn look(&mut self) -> Vec<ProcessInfo> {
        let living = self.tree.all_processes();
        for processes in &mut self.session_processes {
            processes.look(&living);
        }
        let known = self.known();
        let watched = self
            .session_processes
            .iter_mut()
            .find(|processes| processes.is_watched());
        if let Some(watched) = watched {
            // No other call is running, so unknown processes belong to the watched call.
            let is_nobodys = |process: &&ProcessInfo| !known.contains(&process.pid);
            living
                .iter()
                .filter(is_nobodys)
                .for_each(|process| watched.take_in(process));
        }
        let jobs = self
            .session_processes
            .iter()
            .filter(|processes| processes.outlives_session());
        let daemons = self.finishing.iter();
        let daemons = daemons.flat_map(|finishing| finishing.daemons(&living));
        let spared = jobs.flat_map(SessionProcesses::pids).chain(daemons);
        let spared = spared.collect();
        self.tree.exclude(spared);
        living
    }

    /// All processes, where any may be left.
    pub(super) fn continuing(&mut self) -> Option<LiveProcesses> {
        let is_over = self.shell.as_ref().is_none_or(Shell::is_over);
        (!is_over).then(|| self.live_processes())
    }

    /// All processes, and which is the shell.
    pub(super) fn live_processes(&mut self) -> LiveProcesses {
        LiveProcesses {
            processes: self.look(),
            shell: self.living_shell(),
        }
    }

    /// All processes except those of jobs.
    pub(super) fn members(&mut self) -> Vec<ProcessInfo> {
        let mut living = self.look();
        living.retain(|process| !self.tree.is_spared(process.pid));
        living
    }

    /// Serves the clients of jobs besides the shell, and ends jobs on request.
    pub(super) fn end_what_is_wanted(&mut self) {
        let boot = self.shell.as_ref().map_or(&[][..], |shell| &shell.boot);
        let all = self.session_processes.iter_mut().enumerate();
        let wanted = all.filter_map(|(at, it)| it.receive(boot).map(|grace| (at, grace)));
        let wanted: Vec<(usize, Duration)> = wanted.collect();
        if wanted.is_empty() {
            return;
        }
        self.refresh();
        for (at, grace) in wanted {
            self.session_processes[at].end(grace, now());
        }
    }

    /// Maintains these jobs. `orphan`: a process of unknown origin has ended.
    pub(super) fn look_after_besides(&mut self, orphan: bool) {
        let now = now();
        if self
            .session_processes
            .iter()
            .any(|processes| processes.is_stale(now))
        {
            self.refresh();
        }
        let boot = self.shell.as_ref().map_or(&[][..], |shell| &shell.boot);
        let mut ended = Vec::new();
        let session_processes = self
            .session_processes
            .extract_if(.., |processes| match processes.look_after(boot, now) {
                SessionFinding::Nothing => false,
                SessionFinding::Ended => true,
                SessionFinding::Tell(withstand) => {
                    ended.push(Event::SurvivorsEnded { withstand });
                    false
                }
            });
        let gone: Vec<SessionProcesses> = session_processes.collect();
        let may_be_last = |tracer: &Tracer| !gone.is_empty() || orphan && tracer.has_continuing();
        if self.tracer().is_some_and(may_be_last) {
            let living = self.live_processes();
            self.tracer().inspect(|tracer| tracer.conclude(living));
        }
        for processes in gone {
            self.relay.join(processes.into_relay());
        }
        for event in ended {
            self.tell(&event, &[]);
        }
    }

    /// Processes besides the shell that were not reported for an earlier call.
    pub(super) fn unnamed(&mut self) -> Vec<Survivor> {
        let mut survivors = self.survivors();
        let known = self.known();
        survivors.retain(|one| !known.contains(&one.pid.cast_signed()));
        survivors
    }

    /// Our descendants, including the shell, except those of jobs.
    pub(super) fn survivors(&mut self) -> Vec<Survivor> {
        let members = self.members();
        let Some(shell) = &self.shell else {
            return Vec::new();
        };
        let mut survivors = named(&members, &shell.pipes, &shell.boot);
        if let Some(terminal) = &shell.terminal {
            terminal.mark_holders(&mut survivors);
        }
        survivors
    }
}
