//! The supervisor's event loop. A single poll waits for the host's orders, the end of children, the
//! survivors' output and the next step of a ladder.
//!
//! Modules: `orders` (executes and answers orders), `survivors` (survivors of calls, and their
//! owners), `lone_shell` (checks quickly that the shell is the only process).

mod lone_shell;
mod orders;
mod survivors;

use self::lone_shell::LoneShell;
use super::direct::InheritedState;
use super::finishing::Finishing;
use super::job::{Job, JobProcesses};
use super::ladder::Ladder;
use super::launch::ShellStarter;
use super::reaped::ReapOutcome;
use super::relay::Relay;
use super::session_processes::SessionProcesses;
use super::shell::{Shell, ShellPhase};
use super::terminal::ContinuedGroup;
use super::trace::Tracer;
use super::tree::CallProcesses;
use crate::cgroup::CallCgroup;
use crate::private_directory::sweep;
use crate::supervisor::PROTOCOL_VERSION;
use crate::supervisor::channel::{Inbox, ReceiveOutcome, SendMode, send};
use crate::supervisor::protocol::{Event, Order, ShellStart};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Time between SIGTERM and SIGKILL for a call whose change set has reached its size limit. Its
/// file changes wait meanwhile.
const FULL_CHANGE_SET_GRACE: Duration = Duration::from_secs(1);

/// Delay after a failed `poll`.
const POLL_FAILURE_DELAY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// The state of a running supervisor.
#[derive(Debug)]
pub(super) struct Server {
    /// The lifeline. Stays open until the end, because its closing shows the host that the
    /// supervisor has ended.
    socket: OwnedFd,
    host: HostRelation,
    inbox: Inbox,
    tree: CallProcesses,
    starter: ShellStarter,
    shell: Option<Shell>,
    /// The start of the last shell, if another can be started the same way.
    last_start: Option<ShellStart>,
    ladder: Option<Ladder>,
    /// A process group on the terminal that was stopped recently, and continued.
    continued: Option<ContinuedGroup>,
    relay: Relay,
    /// The job of the adopted processes.
    job: Option<Job>,
    /// Survivors of a session's calls.
    session_processes: Vec<SessionProcesses>,
    lone_shell: Option<LoneShell>,
    /// The time limit of a shell that may finish after the host's end.
    finishing: Option<Finishing>,
    /// True once the directories of killed supervisors were removed.
    swept: bool,
    /// True if this process has left the host's mount namespace.
    has_private_mounts: bool,
    /// State of the host that the shell inherits.
    passed_on: InheritedState,
}

/// The host's relation to the supervisor's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostRelation {
    /// The host owns all processes, which end with it.
    Owner,
    /// The supervisor owns survivors or a job, which the host's end does not end.
    Released,
    /// The host closed its end, or died.
    Disconnected,
}

impl Server {
    pub(super) fn new(socket: OwnedFd, tree: CallProcesses, starter: ShellStarter) -> Self {
        Self {
            socket,
            host: HostRelation::Owner,
            inbox: Inbox::new(),
            tree,
            starter,
            shell: None,
            last_start: None,
            ladder: None,
            continued: None,
            relay: Relay::default(),
            job: None,
            session_processes: Vec::new(),
            lone_shell: None,
            finishing: None,
            swept: false,
            has_private_mounts: false,
            passed_on: InheritedState::nothing(),
        }
    }

    /// Sets the state of the host that the shell inherits.
    pub(super) fn passing_on(self, passed_on: InheritedState) -> Self {
        Self { passed_on, ..self }
    }

    /// Runs until the host has disconnected and no processes are left.
    pub(super) fn run(mut self) {
        self.notify(
            &Event::Hello {
                version: PROTOCOL_VERSION,
            },
            &[],
        );
        loop {
            self.wait();
            if self.host != HostRelation::Disconnected {
                self.take_orders();
            }
            if self.tracer().is_some_and(Tracer::reached_limit) {
                self.terminate(FULL_CHANGE_SET_GRACE, false);
            }
            let reaped = self.reap();
            let empty = reaped.empty;
            if let Some(ladder) = self.ladder.as_mut().filter(|_| reaped.others_ended) {
                ladder.process_ended(now());
            }
            self.report(empty);
            if !empty && self.step() {
                let survivors = self.survivors();
                if let Some(job) = &mut self.job {
                    job.report_stuck(&survivors);
                }
                self.notify(&Event::Stuck { survivors }, &[]);
                if self.host == HostRelation::Disconnected {
                    // Disconnect: a host that waits for the end of its processes would wait
                    // forever.
                    let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
                }
            }
            // After the step: its SIGKILL may end the job in this round.
            if self.ladder.as_ref().is_some_and(Ladder::is_killing)
                && let Some(job) = &mut self.job
            {
                job.record_sigkill();
            }
            if empty {
                self.ladder = None;
            }
            self.check_stopped_group();
            self.relay.pump();
            self.serve_job_clients();
            self.maintain_session_processes(reaped.others_ended);
            self.maintain_job(empty);
            let due = self
                .finishing
                .as_mut()
                .and_then(|finishing| finishing.due(now()));
            if let Some(grace) = due {
                self.terminate(grace, false);
            }
            let is_released = match &self.job {
                Some(job) => job.end().is_some(),
                None => self.host == HostRelation::Disconnected,
            };
            let is_done = is_released && empty && self.session_processes.is_empty();
            if is_done && self.relay.is_done() && self.is_empty() {
                if let Some(tracer) = self.tracer() {
                    tracer.close_background();
                }
                return;
            }
        }
    }

    /// Sleeps until a descriptor is ready or the next step is due.
    fn wait(&self) {
        let ladder = self.ladder.as_ref().map(Ladder::next);
        let continued = self.continued.as_ref().map(ContinuedGroup::next);
        let job = self.job.as_ref().and_then(Job::next_deadline);
        let session_processes = self.session_processes.iter();
        let session_processes = session_processes.filter_map(|processes| processes.next(now()));
        let timeout = ladder.into_iter().chain(continued).chain(job);
        let timeout = timeout.chain(self.finishing.iter().filter_map(Finishing::next_due));
        let timeout = timeout.chain(self.tree.next_check(now()));
        let timeout = timeout.chain(session_processes).min();
        let timeout = timeout.map(|next| {
            let remaining = next.saturating_duration_since(now());
            // Rounded up, so that a step that is due in 0.3 ms does not cause several wake-ups.
            let remaining = remaining + Duration::from_micros(100);
            Timespec {
                tv_sec: i64::try_from(remaining.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(remaining.subsec_nanos()),
            }
        });
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(4);
        let tree = self.tree.fds();
        fds.extend(tree.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        if self.host != HostRelation::Disconnected {
            fds.push(PollFd::new(&self.socket, PollFlags::IN));
        }
        let limit_pipe = self.tracer().map(Tracer::limit_pipe);
        fds.extend(limit_pipe.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let pipes: Vec<BorrowedFd<'_>> = self.relay.pipes().collect();
        fds.extend(pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let sockets: Vec<BorrowedFd<'_>> = self.job.iter().flat_map(Job::sockets).collect();
        fds.extend(sockets.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let session_processes: Vec<BorrowedFd<'_>> = self
            .session_processes
            .iter()
            .flat_map(SessionProcesses::fds)
            .collect();
        fds.extend(
            session_processes
                .iter()
                .map(|fd| PollFd::new(fd, PollFlags::IN)),
        );
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // For example, memory is exhausted. Exiting would abandon the processes.
            Err(_) => drop(rustix::thread::nanosleep(&POLL_FAILURE_DELAY)),
        }
    }

    /// True if no processes are left. A survivor may have started a process after the last
    /// [`Self::reap`].
    fn is_empty(&mut self) -> bool {
        self.reap().empty
    }

    fn take_orders(&mut self) {
        loop {
            let received = self.inbox.receive(&self.socket);
            while let Some(next) = self.inbox.next::<Order>().transpose() {
                let Ok((order, fds)) = next else {
                    // The host would wait for an answer to a message that is not understood.
                    return self.hang_up();
                };
                if let Some((event, fds)) = self.execute(order, fds) {
                    let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
                    self.notify(&event, &fds);
                }
                // The answer could not be sent, so further orders are ignored.
                if self.host == HostRelation::Disconnected {
                    return;
                }
            }
            match received {
                Ok(ReceiveOutcome::Received) => {}
                Ok(ReceiveOutcome::Nothing) => return,
                Ok(ReceiveOutcome::Closed) | Err(_) => return self.lose_host(),
            }
        }
    }

    fn terminate(&mut self, grace: Duration, stop_shell: bool) {
        self.refresh();
        let shell = self.running_shell();
        let ladder = if self.is_on_terminal() {
            Ladder::hang_up(&mut self.tree, now(), grace, shell)
        } else {
            Ladder::begin(&mut self.tree, now(), grace, shell, stop_shell)
        };
        self.ladder = Some(match self.ladder.take() {
            Some(before) => ladder.combined_with(before),
            None => ladder,
        });
    }

    /// Performs the ladder's next step. True, once, if processes withstand SIGKILL.
    fn step(&mut self) -> bool {
        if self.ladder.is_some() {
            self.refresh();
        }
        let shell = self.running_shell();
        let tree = &mut self.tree;
        let ladder = self.ladder.as_mut();
        ladder.is_some_and(|ladder| ladder.step(tree, shell, now()))
    }

    /// Returns the shell's pid and process group, until it is reaped.
    fn running_shell(&self) -> Option<i32> {
        let shell = self.shell.as_ref();
        shell
            .filter(|shell| shell.phase == ShellPhase::Running)
            .map(|shell| shell.pid)
    }

    /// Serves the job's clients, enforces its time limit, records its end.
    fn maintain_job(&mut self, empty: bool) {
        // Taken out of `self` temporarily, as clients may ask for the survivors.
        let Some(mut job) = self.job.take() else {
            return;
        };
        let graces = job.receive(|| self.survivors());
        if !graces.is_empty() && !empty {
            job.end_requested(self.running_shell().is_none());
        }
        let due = job.due(now());
        for grace in graces.into_iter().chain(due).filter(|_| !empty) {
            self.terminate(grace, false);
        }
        let has_stuck_processes = self
            .ladder
            .as_ref()
            .is_some_and(Ladder::has_stuck_processes);
        let processes = JobProcesses {
            shell: self.shell.as_ref().and_then(Shell::end),
            empty,
            is_being_ended: self.ladder.is_some() && !has_stuck_processes,
            has_stuck_processes,
            all_read: self.relay.is_done(),
            dropped: self.relay.dropped(),
        };
        let cgroup = self.shell.as_ref().and_then(|shell| shell.cgroup.as_ref());
        let limits = || cgroup.map_or_else(Vec::new, CallCgroup::notices);
        let ended = job.conclude(processes, now(), limits);
        if ended
            && empty
            && let Some(tracer) = self.tracer()
        {
            // The trace must end before the host is notified and reads the changes.
            tracer.close_background();
        }
        if job.has_read_all(processes, now()) {
            self.relay.close();
        }
        let end = job.end().filter(|_| ended).cloned();
        self.job = Some(job);
        if let Some(end) = end {
            self.notify(&Event::JobEnded { end }, &[]);
        }
    }

    /// Continues processes that stopped on the terminal after their group was continued. Does
    /// nothing while the ladder ends the processes.
    fn check_stopped_group(&mut self) {
        let is_due = |continued: &ContinuedGroup| continued.next() <= now();
        let Some(continued) = self.continued.take_if(|continued| is_due(continued)) else {
            return;
        };
        // Once the shell has been reaped, another process may get the number of its group.
        if self.running_shell().is_some() && self.ladder.is_none() {
            self.continued = continued.check(&self.tree.members(), now());
        }
    }

    /// Handles the end of the host: ends its commands, except those that the supervisor owns.
    fn lose_host(&mut self) {
        let relation = std::mem::replace(&mut self.host, HostRelation::Disconnected);
        if relation == HostRelation::Owner && self.finishing.is_none() {
            self.terminate(Duration::ZERO, false);
        }
    }

    /// Closes the connection. The host then treats the supervisor as ended.
    fn hang_up(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
        self.lose_host();
    }

    fn is_on_terminal(&self) -> bool {
        let shell = self.shell.as_ref();
        shell.is_some_and(|shell| shell.terminal.is_some())
    }

    /// Reaps all children that have ended.
    fn reap(&mut self) -> ReapOutcome {
        let (shell, on_terminal) = (self.running_shell(), self.is_on_terminal());
        let mut reaped = self.tree.reap(shell, on_terminal, now());
        self.continued = reaped.continued.take().or(self.continued.take());
        if let (Some(shell), Some(end)) = (&mut self.shell, reaped.end) {
            shell.phase = ShellPhase::Ended(end);
        }
        if reaped.lost {
            // The shell's end is unknown, as if the supervisor had been killed. The connection
            // stays open until the shell's processes have ended: a host that sees it closed may
            // exit, and its fallback thread could not end them.
            self.shell = None;
            self.lose_host();
        }
        // Processes of jobs and earlier calls do not belong to the shell's call.
        let has_others = !self.session_processes.is_empty() || self.finishing.is_some();
        if has_others && self.running_shell().is_none() {
            reaped.empty |= self.processes_without_jobs().is_empty();
        }
        reaped
    }

    /// Reports the next event about the shell's end to the host.
    fn report(&mut self, empty: bool) {
        if let Some(event) = self
            .shell
            .as_mut()
            .and_then(|shell| shell.next_event(empty))
        {
            self.notify(&event, &[]);
        }
        // Removed after the report, which need not wait for the removal.
        if let Some(directory) = self.shell.as_mut().and_then(Shell::take_unused_directory)
            && let Some(parent) = directory.parent()
            && !std::mem::replace(&mut self.swept, true)
        {
            drop(directory);
            sweep(&parent);
        }
    }

    /// Sends an event. A host that cannot be reached counts as disconnected.
    fn notify(&mut self, event: &Event, fds: &[BorrowedFd<'_>]) {
        if self.host == HostRelation::Disconnected {
            return;
        }
        if send(self.socket.as_fd(), event, fds, SendMode::Blocking).is_err() {
            self.lose_host();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the supervisor has no runtime; this is its clock"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}
