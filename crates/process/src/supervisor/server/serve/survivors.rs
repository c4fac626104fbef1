//! The survivors of calls: lists, adopts, ends and watches them.

use super::lone_shell::LoneShell;
use super::{HostRelation, Server, now};
use crate::proc_scan::has_terminal_open;
use crate::supervisor::protocol::{AdoptOptions, Event};
use crate::supervisor::server::job::Job;
use crate::supervisor::server::relay::Relay;
use crate::supervisor::server::session_processes::{SessionFinding, SessionProcesses};
use crate::supervisor::server::shell::Shell;
use crate::supervisor::server::timeout_watcher;
use crate::supervisor::server::trace::{LiveProcesses, Tracer};
use crate::supervisor::server::tree::{CallProcesses, describe};
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
        let survives_host = matches!(self.tree, CallProcesses::Descendants { .. });
        let adopted = job.as_ref().filter(|_| survives_host && !detach);
        if let Some(Ok(job)) = adopted.map(|directory| Job::adopt(directory)) {
            self.adopt_session_job(job, fds, files, quota);
            return Ok(());
        }
        self.relay.add(fds, files, quota)?;
        if detach {
            self.host = HostRelation::Released;
        } else {
            let survivors = self.unattributed();
            self.session_processes
                .push(SessionProcesses::of_session(&survivors));
        }
        // If the job's files are missing, the survivors continue without a job. The host detects
        // the failure, because the job's entry file is missing.
        self.job = self.job.take().or_else(|| {
            job.filter(|_| survives_host && detach)
                .and_then(|directory| Job::adopt(&directory).ok())
        });
        Ok(())
    }

    fn adopt_session_job(
        &mut self,
        job: Job,
        pipes: Vec<OwnedFd>,
        files: Vec<OwnedFd>,
        quota: u64,
    ) {
        let mut relay = Relay::default();
        // A pipe that cannot be read has no writers.
        let _ = relay.add(pipes, files, quota);
        let survivors = self.unattributed();
        self.session_processes
            .push(SessionProcesses::job(job, relay, &survivors));
    }

    /// Starts watching the call's processes for the host: all except the shell and processes of
    /// earlier calls.
    pub(super) fn watch_survivors(&mut self) {
        let survivors = self.unattributed();
        self.session_processes
            .push(SessionProcesses::of_host(&survivors));
    }

    /// Ends the watched processes. If there are none, their end was already reported.
    pub(super) fn end_survivors(&mut self, grace: Duration) {
        self.refresh();
        if let Some(watched) = self.watched() {
            watched.end(grace, now());
        }
    }

    /// Returns the processes that are watched for the host.
    fn watched(&mut self) -> Option<&mut SessionProcesses> {
        let mut all = self.session_processes.iter_mut();
        all.find(|processes| processes.is_awaited_by_host())
    }

    /// Returns the processes, except the shell, that do not belong to an earlier call.
    fn unattributed(&mut self) -> Vec<ProcessInfo> {
        let mut all = self.update_processes();
        let attributed = self.attributed();
        all.retain(|process| !attributed.contains(&process.pid));
        all
    }

    /// Returns the shell and the processes that are attributed to earlier calls.
    fn attributed(&self) -> BTreeSet<i32> {
        let session_processes = self
            .session_processes
            .iter()
            .flat_map(SessionProcesses::pids);
        session_processes.chain(self.running_shell()).collect()
    }

    /// Updates the processes as [`Self::update_processes`] does, for callers that do not need the
    /// list.
    pub(super) fn refresh(&mut self) {
        if self.session_processes.is_empty() && self.finishing.is_none() {
            self.tree.exclude(BTreeSet::new());
        } else {
            self.update_processes();
        }
    }

    /// Attributes the running processes to calls and returns all of them. Reads the tree once: a
    /// process started between two reads would not be attributed. Processes of jobs are excluded
    /// from the tree.
    pub(super) fn update_processes(&mut self) -> Vec<ProcessInfo> {
        let running = self.tree.all_processes();
        for processes in &mut self.session_processes {
            processes.update(&running);
        }
        let attributed = self.attributed();
        if let Some(watched) = self.watched() {
            // No other call is running, so unknown processes belong to the watched call.
            let is_unattributed = |process: &&ProcessInfo| !attributed.contains(&process.pid);
            running
                .iter()
                .filter(is_unattributed)
                .for_each(|process| watched.add(process));
        }
        let jobs = self
            .session_processes
            .iter()
            .filter(|processes| processes.outlives_session());
        let daemons = self.finishing.iter();
        let daemons = daemons.flat_map(|finishing| finishing.daemons(&running));
        let excluded = jobs.flat_map(SessionProcesses::pids).chain(daemons);
        let excluded = excluded.collect();
        self.tree.exclude(excluded);
        running
    }

    /// Returns the live processes; `None` if all processes of the shell have certainly ended.
    pub(super) fn remaining_processes(&mut self) -> Option<LiveProcesses> {
        let all_ended = self.shell.as_ref().is_none_or(Shell::all_ended);
        (!all_ended).then(|| self.live_processes())
    }

    /// Returns all live processes, and the pid of the shell among them.
    pub(super) fn live_processes(&mut self) -> LiveProcesses {
        let shell = self.running_shell();
        let processes = match shell.and_then(|shell| self.lone_shell(shell)) {
            Some(shell) => vec![shell],
            None => self.update_processes(),
        };
        LiveProcesses { shell, processes }
    }

    /// Returns this shell, unless there may be another process.
    fn lone_shell(&mut self, shell: i32) -> Option<ProcessInfo> {
        let has_others = !self.session_processes.is_empty() || self.finishing.is_some();
        if has_others || !matches!(self.tree, CallProcesses::Descendants { .. }) {
            return None;
        }
        if self
            .lone_shell
            .as_ref()
            .is_none_or(|known| known.pid() != shell)
        {
            self.lone_shell = LoneShell::of(shell);
        }
        self.lone_shell.as_ref()?.process_if_alone()
    }

    /// Returns all processes except those of jobs.
    pub(super) fn processes_without_jobs(&mut self) -> Vec<ProcessInfo> {
        let mut running = self.update_processes();
        running.retain(|process| !self.tree.is_excluded(process.pid));
        running
    }

    /// Serves the clients of the session's jobs, and ends jobs on request.
    pub(super) fn serve_job_clients(&mut self) {
        let startup_argument = startup_argument(self.shell.as_ref());
        let all = self.session_processes.iter_mut().enumerate();
        let requests = all.filter_map(|(index, processes)| {
            processes
                .receive(startup_argument)
                .map(|grace| (index, grace))
        });
        let requests: Vec<(usize, Duration)> = requests.collect();
        if requests.is_empty() {
            return;
        }
        self.refresh();
        for (index, grace) in requests {
            self.session_processes[index].end(grace, now());
        }
    }

    /// Maintains the survivors of earlier calls. `unattributed_ended` is true if a process that
    /// belongs to no known call has ended.
    pub(super) fn maintain_session_processes(&mut self, unattributed_ended: bool) {
        let now = now();
        if self
            .session_processes
            .iter()
            .any(|processes| processes.is_stale(now))
        {
            self.refresh();
        }
        let startup_argument = startup_argument(self.shell.as_ref());
        let mut ended = Vec::new();
        let session_processes =
            self.session_processes.extract_if(.., |processes| {
                match processes.maintain(startup_argument, now) {
                    SessionFinding::Nothing => false,
                    SessionFinding::Ended => true,
                    SessionFinding::Report(withstand) => {
                        ended.push(Event::SurvivorsEnded { withstand });
                        false
                    }
                }
            });
        let ended_processes: Vec<SessionProcesses> = session_processes.collect();
        let may_conclude = |tracer: &Tracer| {
            !ended_processes.is_empty() || unattributed_ended && tracer.has_survivors()
        };
        if self.tracer().is_some_and(may_conclude) {
            let running = self.live_processes();
            self.tracer().inspect(|tracer| tracer.conclude(running));
        }
        for processes in ended_processes {
            self.relay.merge(processes.into_relay());
        }
        for event in ended {
            self.notify(&event, &[]);
        }
    }

    /// Returns the processes, except the shell, that were not reported for an earlier call.
    pub(super) fn unreported_survivors(&mut self) -> Vec<Survivor> {
        let mut survivors = self.survivors();
        let attributed = self.attributed();
        survivors.retain(|survivor| !attributed.contains(&survivor.pid.cast_signed()));
        timeout_watcher::end_lone_watchers(&mut survivors);
        survivors
    }

    /// Returns all processes, including the shell, except those of jobs.
    pub(super) fn survivors(&mut self) -> Vec<Survivor> {
        let members = self.processes_without_jobs();
        let Some(shell) = &self.shell else {
            return Vec::new();
        };
        let mut survivors = describe(&members, &shell.pipes, &shell.startup_argument);
        if let Some(terminal) = &shell.terminal {
            for survivor in &mut survivors {
                survivor.holds_output = has_terminal_open(survivor.pid.cast_signed(), terminal);
            }
        }
        survivors
    }
}

/// Returns the argument by which forks of the shell are recognised; empty without a shell.
fn startup_argument(shell: Option<&Shell>) -> &[u8] {
    shell.map_or(&[][..], |shell| &shell.startup_argument)
}
