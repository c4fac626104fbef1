//! The supervisor's loop: one wait for everything (the host's orders, its children's ends, the survivors' output, the
//! next step of a ladder), then whatever came.
//!
//! Parts: `orders` (what is done at each, and its answer), `shell` (that of the current call), `survivors` (whoever a call leaves, and
//! whose they are).

mod orders;
mod shell;
mod survivors;

use super::job::{Job, Seen, Wanted};
use super::ladder::Ladder;
use super::launch::Starter;
use super::relay::Relay;
use super::session_processes::SessionProcesses;
use super::tree::Tree;
use crate::supervisor::VERSION;
use crate::supervisor::channel::{Inbox, Received, Wait, send};
use crate::supervisor::protocol::{Event, Order, ShellStart};
use orders::Answer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::Shutdown;
use shell::{Phase, Shell};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// A supervisor at work.
#[derive(Debug)]
pub(super) struct Server {
    /// The lifeline. Kept open to the end: by its closing the host sees that we have ended.
    socket: OwnedFd,
    host: Host,
    inbox: Inbox,
    tree: Tree,
    starter: Starter,
    shell: Option<Shell>,
    /// How the last one was started, if another can be started like it.
    last: Option<ShellStart>,
    ladder: Option<Ladder>,
    relay: Relay,
    /// What is adopted is a job.
    job: Option<Job>,
    /// Survivors of a session's calls, beside its shell.
    session_processes: Vec<SessionProcesses>,
}

/// Where the host stands to what we have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Host {
    /// It is all its own, and ends with it.
    Owner,
    /// Survivors or a job were left to us: its end is no reason to end them.
    Released,
    /// It has closed its end, or is dead.
    Gone,
}

impl Server {
    pub(super) fn new(host: OwnedFd, tree: Tree, starter: Starter) -> Self {
        Self {
            socket: host,
            host: Host::Owner,
            inbox: Inbox::new(),
            tree,
            starter,
            shell: None,
            last: None,
            ladder: None,
            relay: Relay::default(),
            job: None,
            session_processes: Vec::new(),
        }
    }

    /// Serves until the host is gone and nobody is left.
    pub(super) fn run(mut self) -> io::Result<()> {
        self.tell(&Event::Hello { version: VERSION }, &[]);
        loop {
            self.wait()?;
            if self.host != Host::Gone {
                self.take_orders();
            }
            let empty = self.reap();
            self.report(empty);
            if empty {
                self.ladder = None;
            } else if self.step() {
                let survivors = self.survivors();
                if let Some(job) = &mut self.job {
                    job.tell_stuck(&survivors);
                }
                self.tell(&Event::Stuck { survivors }, &[]);
            }
            self.relay.pump();
            self.look_after_besides();
            self.look_after_job(empty);
            let free = match &self.job {
                Some(job) => job.end().is_some(),
                None => self.host == Host::Gone,
            };
            if free && empty && self.session_processes.is_empty() && self.relay.is_done() {
                return Ok(());
            }
        }
    }

    /// Sleeps until something happens or the ladder's next step is due.
    fn wait(&self) -> io::Result<()> {
        let ladder = self.ladder.as_ref().map(Ladder::next);
        let job = self.job.as_ref().and_then(Job::next);
        let session_processes = self
            .session_processes
            .iter()
            .filter_map(SessionProcesses::next);
        let timeout = ladder.into_iter().chain(job).chain(session_processes).min();
        let timeout = timeout.map(|next| {
            let left = next.saturating_duration_since(now());
            // Rounded up: a step that is due in 0.3 ms is not polled for three times.
            let left = left + Duration::from_micros(100);
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            }
        });
        let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(4);
        let tree = self.tree.fds();
        fds.extend(tree.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        if self.host != Host::Gone {
            fds.push(PollFd::new(&self.socket, PollFlags::IN));
        }
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
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn take_orders(&mut self) {
        loop {
            let received = self.inbox.receive(&self.socket);
            loop {
                match self.inbox.next::<Order>() {
                    Ok(Some((order, fds))) => {
                        if let Some(Answer { event, fds }) = self.obey(order, fds) {
                            let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
                            self.tell(&event, &fds);
                        }
                        // It could not be told: what else it wanted is for nobody.
                        if self.host == Host::Gone {
                            return;
                        }
                    }
                    Ok(None) => break,
                    // It would wait for an answer to what nobody here understands.
                    Err(_) => return self.hang_up(),
                }
            }
            match received {
                Ok(Received::Some) => {}
                Ok(Received::Nothing) => return,
                Ok(Received::Closed) | Err(_) => return self.lose_host(),
            }
        }
    }

    fn terminate(&mut self, grace: Duration, stop_shell: bool) {
        self.spare();
        let shell = self.living_shell();
        let ladder = if self.is_on_terminal() {
            Ladder::hang_up(&mut self.tree, now(), grace, shell)
        } else {
            Ladder::begin(&mut self.tree, now(), grace, shell, stop_shell)
        };
        self.ladder = Some(match self.ladder.take() {
            Some(before) => ladder.after(before),
            None => ladder,
        });
    }

    /// The ladder's next step. True, once, when somebody withstands SIGKILL.
    fn step(&mut self) -> bool {
        if self.ladder.is_some() {
            self.spare();
        }
        let shell = self.living_shell();
        let tree = &mut self.tree;
        let ladder = self.ladder.as_mut();
        ladder.is_some_and(|ladder| ladder.step(tree, shell, now()))
    }

    /// The shell's process id and group, while it was not reaped.
    fn living_shell(&self) -> Option<i32> {
        let shell = self.shell.as_ref();
        shell
            .filter(|shell| shell.phase == Phase::Running)
            .map(|shell| shell.pid)
    }

    /// The job's visitors, its time limit, its end.
    fn look_after_job(&mut self, empty: bool) {
        // Out of its place, since the visitors ask for the survivors.
        let Some(mut job) = self.job.take() else {
            return;
        };
        let wanted = job.receive(|| self.survivors());
        let due = job.due(now()).map(Wanted::End);
        for Wanted::End(grace) in wanted.into_iter().chain(due) {
            if !empty {
                self.terminate(grace, false);
            }
        }
        let is_withstood = self.ladder.as_ref().is_some_and(Ladder::is_withstood);
        let seen = Seen {
            shell: self.shell.as_ref().and_then(Shell::end),
            empty,
            is_being_ended: self.ladder.is_some() && !is_withstood,
            is_withstood,
            all_read: self.relay.is_done(),
            dropped: self.relay.dropped(),
        };
        let ended = job.conclude(seen, now());
        if job.reads_no_more(seen, now()) {
            self.relay.close();
        }
        let end = job.end().filter(|_| ended).cloned();
        self.job = Some(job);
        if let Some(end) = end {
            self.tell(&Event::JobEnded { end }, &[]);
        }
    }

    /// The host is gone: so are its commands, except those that were left to us.
    fn lose_host(&mut self) {
        if std::mem::replace(&mut self.host, Host::Gone) == Host::Owner {
            self.terminate(Duration::ZERO, false);
        }
    }

    /// Ends the conversation: the host sees it as our end.
    fn hang_up(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
        self.lose_host();
    }

    fn is_on_terminal(&self) -> bool {
        let shell = self.shell.as_ref();
        shell.is_some_and(|shell| shell.terminal.is_some())
    }

    /// Reaps whoever has ended. True if nobody is left.
    fn reap(&mut self) -> bool {
        let mut reaped = self.tree.reap(self.living_shell(), self.is_on_terminal());
        if let (Some(shell), Some(end)) = (&mut self.shell, reaped.end) {
            shell.phase = Phase::Ended(end);
        }
        if reaped.lost {
            // As if we had been killed: nobody knows how the shell did.
            self.shell = None;
            self.hang_up();
        }
        // Jobs beside the shell are not of its call.
        if !self.session_processes.is_empty() && self.living_shell().is_none() {
            reaped.empty |= self.members().is_empty();
        }
        reaped.empty
    }

    /// Tells the host what it does not know yet of the shell's end.
    fn report(&mut self, empty: bool) {
        if let Some(event) = self.shell.as_mut().and_then(|shell| shell.news(empty)) {
            self.tell(&event, &[]);
        }
    }

    /// A host that cannot be told is a host that is gone.
    fn tell(&mut self, event: &Event, fds: &[BorrowedFd<'_>]) {
        if self.host == Host::Gone {
            return;
        }
        if send(self.socket.as_fd(), event, fds, Wait::ForRoom).is_err() {
            self.lose_host();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the supervisor has no runtime; this is its clock"
)]
fn now() -> Instant {
    Instant::now()
}
