//! The supervisor's loop: one wait for everything (the host's orders, its children's ends, the survivors' output, the
//! next step of a ladder), then whatever came.
//!
//! Part: `survivors` (whoever a call leaves, and whose they are).

mod survivors;

use super::VERSION;
use super::beside::Beside;
use super::channel::{Inbox, Received, Wait, send};
use super::job::{Job, Seen, Wanted};
use super::ladder::Ladder;
use super::launch::{Launched, Report, Starter, launch};
use super::protocol::{Detach, Event, Order, ShellEnd, ShellStart, TerminalStart};
use super::relay::Relay;
use super::terminal::{self, Terminal};
use super::tree::Tree;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::Shutdown;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// A supervisor at work.
#[derive(Debug)]
pub(super) struct Server {
    /// The lifeline. Kept open to the end: by its closing the host sees that we have ended.
    socket: OwnedFd,
    /// The host has closed its end, or is dead.
    host_gone: bool,
    inbox: Inbox,
    tree: Tree,
    starter: Starter,
    shell: Option<Shell>,
    /// How the last one was started, if another can be started like it.
    last: Option<ShellStart>,
    ladder: Option<Ladder>,
    relay: Relay,
    /// Survivors are ours: the host's end is no reason to end them.
    adopted: bool,
    /// What is adopted is a job.
    job: Option<Job>,
    /// Survivors of a session's calls, beside its shell.
    besides: Vec<Beside>,
}

/// The shell of the current call.
#[derive(Debug)]
struct Shell {
    pid: i32,
    pipes: Vec<u64>,
    boot: Vec<u8>,
    report: Report,
    /// The terminal it is on, if any.
    terminal: Option<Terminal>,
    end: Option<ShellEnd>,
    /// `Ended` was sent.
    told_end: bool,
    /// That nobody is left was sent.
    told_empty: bool,
}

impl Server {
    pub(super) fn new(host: OwnedFd, tree: Tree, starter: Starter) -> Self {
        Self {
            socket: host,
            host_gone: false,
            inbox: Inbox::new(),
            tree,
            starter,
            shell: None,
            last: None,
            ladder: None,
            relay: Relay::default(),
            adopted: false,
            job: None,
            besides: Vec::new(),
        }
    }

    /// Serves until the host is gone and nobody is left.
    pub(super) fn run(mut self) -> io::Result<()> {
        self.tell(&Event::Hello { version: VERSION }, &[]);
        loop {
            self.wait()?;
            if !self.host_gone {
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
                None => self.host_gone,
            };
            if free && empty && self.besides.is_empty() && self.relay.is_done() {
                return Ok(());
            }
        }
    }

    /// Sleeps until something happens or the ladder's next step is due.
    fn wait(&self) -> io::Result<()> {
        let ladder = self.ladder.as_ref().map(Ladder::next);
        let job = self.job.as_ref().and_then(Job::next);
        let besides = self.besides.iter().filter_map(Beside::next);
        let timeout = ladder.into_iter().chain(job).chain(besides).min();
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
        if !self.host_gone {
            fds.push(PollFd::new(&self.socket, PollFlags::IN));
        }
        let pipes: Vec<BorrowedFd<'_>> = self.relay.pipes().collect();
        fds.extend(pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let sockets: Vec<BorrowedFd<'_>> = self.job.iter().flat_map(Job::sockets).collect();
        fds.extend(sockets.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let besides: Vec<BorrowedFd<'_>> = self.besides.iter().flat_map(Beside::fds).collect();
        fds.extend(besides.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn take_orders(&mut self) {
        loop {
            let received = self.inbox.receive(&self.socket);
            while let Ok(Some((order, fds))) = self.inbox.next::<Order>() {
                self.obey(order, fds);
            }
            match received {
                Ok(Received::Some) => {}
                Ok(Received::Nothing) => return,
                Ok(Received::Closed) | Err(_) => {
                    return self.lose_host();
                }
            }
        }
    }

    fn obey(&mut self, order: Order, fds: Vec<OwnedFd>) {
        match order {
            Order::Start(start) => {
                self.start(&start, &fds);
                self.last = Some(start);
            }
            Order::StartAnother => {
                if let Some(start) = self.last.take() {
                    self.start(&start, &fds);
                    self.last = Some(start);
                }
            }
            Order::StartOnTerminal(start) => self.start_on_terminal(&start, fds),
            Order::Terminate {
                grace_ms,
                stop_shell,
            } => {
                self.terminate(Duration::from_millis(grace_ms), stop_shell);
            }
            Order::Survivors => {
                let survivors = self.unnamed();
                self.tell(&Event::Survivors { survivors }, &[]);
            }
            Order::Adopt {
                files,
                detach,
                quota,
                job,
            } => self.adopt(files, detach, quota, job, fds),
            Order::WatchSurvivors => self.watch_survivors(),
            Order::EndSurvivors { grace_ms } => self.end_survivors(Duration::from_millis(grace_ms)),
            Order::Detach(detach) => self.detach(&detach, fds),
        }
    }

    fn start(&mut self, start: &ShellStart, fds: &[OwnedFd]) {
        if self.shell.as_ref().is_some_and(|shell| !shell.told_empty) {
            let reason = "the supervisor still has a shell".to_owned();
            return self.tell(&Event::StartFailed { reason }, &[]);
        }
        // An order to end the tree before may have come after that was gone by itself: it is not for this one.
        self.ladder = None;
        match launch(start, fds.first(), &self.starter) {
            Ok(Launched {
                pid,
                script_fd,
                stdin_fd,
                host_ends,
                pipes,
                boot,
                report,
            }) => {
                if let Tree::Marked(marked) = &mut self.tree {
                    marked.leads(pid, &pipes);
                }
                self.shell = Some(Shell {
                    pid,
                    pipes,
                    boot,
                    report,
                    terminal: None,
                    end: None,
                    told_end: false,
                    told_empty: false,
                });
                let event = Event::Started {
                    pid: pid.unsigned_abs(),
                    script_fd,
                    stdin_fd,
                };
                let fds: Vec<_> = host_ends.iter().map(AsFd::as_fd).collect();
                self.tell(&event, &fds);
            }
            Err(error) => {
                let reason = format!("{}: {error}", start.program.display());
                self.tell(&Event::StartFailed { reason }, &[]);
            }
        }
    }

    fn start_on_terminal(&mut self, start: &TerminalStart, fds: Vec<OwnedFd>) {
        // Once: the terminal is the session's for good.
        let launched = match (&self.tree, &self.shell, fds.into_iter().next()) {
            (Tree::Below { .. }, None, Some(script)) => terminal::launch(start, script),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        };
        match launched.and_then(|launched| Ok((launched, Report::new()?))) {
            Ok((launched, report)) => {
                let pid = launched.pid;
                self.shell = Some(Shell {
                    pid,
                    pipes: Vec::new(),
                    boot: launched.boot,
                    report,
                    terminal: Some(launched.terminal),
                    end: None,
                    told_end: false,
                    told_empty: false,
                });
                let event = Event::Started {
                    pid: pid.unsigned_abs(),
                    script_fd: launched.script_fd,
                    stdin_fd: None,
                };
                self.tell(&event, &[]);
            }
            Err(error) => {
                let reason = format!("{}: {error}", start.start.program.display());
                self.tell(&Event::StartFailed { reason }, &[]);
            }
        }
    }

    fn terminate(&mut self, grace: Duration, stop_shell: bool) {
        self.spare();
        let shell = self.living_shell();
        self.ladder = Some(if self.is_on_terminal() {
            Ladder::hang_up(&mut self.tree, now(), grace, shell)
        } else {
            Ladder::begin(&mut self.tree, now(), grace, shell, stop_shell)
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
        let shell = self.shell.as_ref().filter(|shell| shell.end.is_none());
        shell.map(|shell| shell.pid)
    }

    fn detach(&mut self, detach: &Detach, fds: Vec<OwnedFd>) {
        if let Tree::Marked(_) = self.tree {
            let reason = "it would not outlive this program".to_owned();
            return self.tell(&Event::DetachFailed { reason }, &[]);
        }
        let mut fds = fds.into_iter();
        let (Some(output), Some(control)) = (fds.next(), fds.next()) else {
            return;
        };
        let taken = Job::take(detach, fds.next(), now()).and_then(|job| {
            let files: Vec<OwnedFd> = job.output()?.into_iter().map(File::into).collect();
            self.relay.take(vec![output], files, detach.quota)?;
            job.run(control, &detach.commit)?;
            Ok(job)
        });
        match taken {
            Ok(job) => {
                self.job = Some(job);
                self.adopted = true;
                self.tell(&Event::Detached, &[]);
            }
            Err(error) => {
                self.relay.close();
                let reason = error.to_string();
                self.tell(&Event::DetachFailed { reason }, &[]);
            }
        }
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
        let seen = Seen {
            shell: self.shell.as_ref().and_then(|shell| shell.end),
            empty,
            all_read: self.relay.is_done(),
            dropped: self.relay.dropped(),
        };
        let ended = job.conclude(seen, now());
        if ended {
            self.relay.close();
        }
        let end = job.end().filter(|_| ended).cloned();
        self.job = Some(job);
        if let Some(end) = end {
            self.tell(&Event::JobEnded { end }, &[]);
        }
    }

    /// The host is gone: so are its commands, except those that were adopted.
    fn lose_host(&mut self) {
        self.host_gone = true;
        if !self.adopted {
            self.terminate(Duration::ZERO, false);
        }
    }

    fn is_on_terminal(&self) -> bool {
        let shell = self.shell.as_ref();
        shell.is_some_and(|shell| shell.terminal.is_some())
    }

    /// Reaps whoever has ended. True if nobody is left.
    fn reap(&mut self) -> bool {
        let mut reaped = self.tree.reap(self.living_shell(), self.is_on_terminal());
        if let Some(shell) = self.shell.as_mut().filter(|_| reaped.end.is_some()) {
            shell.end = reaped.end;
        }
        if reaped.lost {
            // As if we had been killed: nobody knows how the shell did.
            let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
            self.shell = None;
            self.lose_host();
        }
        // Jobs beside the shell are not of its call.
        if !self.besides.is_empty() && self.living_shell().is_none() {
            self.spare();
            reaped.empty |= self.tree.members().is_empty();
        }
        reaped.empty
    }

    /// Tells the host what it does not know yet of the shell's end.
    fn report(&mut self, empty: bool) {
        let Some(shell) = &mut self.shell else { return };
        let Some(end) = shell.end else { return };
        let event = if shell.told_end {
            if !empty || shell.told_empty {
                return;
            }
            Event::Empty
        } else {
            Event::Ended {
                end,
                empty,
                report: shell.report.take(),
            }
        };
        shell.told_end = true;
        shell.told_empty = empty;
        self.tell(&event, &[]);
    }

    /// A host that cannot be told is a host that is gone.
    fn tell(&mut self, event: &Event, fds: &[BorrowedFd<'_>]) {
        if self.host_gone {
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
