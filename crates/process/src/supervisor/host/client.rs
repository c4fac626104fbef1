//! A running supervisor, as seen by its host: receiving its events, and its end.

use super::link::OrderSender;
use super::reap::{SupervisorProcess, reap, sweep};
use super::receive::{self, Disconnected};
use super::start_error::StartError;
use crate::supervisor::PROTOCOL_VERSION;
use crate::supervisor::channel::Inbox;
use crate::supervisor::protocol::{Event, Order, ShellStart};
use agent_bash_core::Clock;
use agent_bash_core::sandbox::Report;
use agent_bash_sandbox::view::Mounts;
use agent_bash_sandbox::{NetworkEntrance, Networks};
use rustix::net::Shutdown;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for a supervisor's hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(1);

/// Time limit for the answer to an order. The supervisor does nothing slow, so this is meant for
/// overloaded machines; a stopped supervisor is given up.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A supervisor as seen by its host. Dropping it ends all its processes, except those it was told
/// to keep.
#[derive(Debug)]
pub struct SupervisorClient {
    /// `None` if it is a thread.
    process: Option<SupervisorProcess>,
    /// The reason for a thread instead of a process; `None` for a process.
    fallback: Option<String>,
    pub(super) clock: Arc<dyn Clock>,
    /// The shared networks of sandboxes.
    networks: Arc<Networks>,
    link: OrderSender,
    inbox: Inbox,
    /// The supervisor's hello was received, with a matching version.
    is_greeted: bool,
    /// Changes that turn the supervisor's environment into that of its shells, if it was started
    /// before that was known.
    changes: Vec<(OsString, Option<OsString>)>,
    /// The start of the last shell.
    pub(super) last: Option<ShellStart>,
    /// The report of that shell's sandbox.
    pub(super) enforced: Option<Report>,
    /// The host's mounts when it left them, if it has.
    pub(super) host_mounts: Option<Mounts>,
}

impl SupervisorClient {
    /// `link` leads to a process or, for this reason, to a thread.
    pub(super) fn new(
        what: Result<SupervisorProcess, String>,
        link: OrderSender,
        clock: &Arc<dyn Clock>,
        networks: &Arc<Networks>,
    ) -> Self {
        let (process, fallback) = match what {
            Ok(process) => (Some(process), None),
            Err(reason) => (None, Some(reason)),
        };
        Self {
            process,
            fallback,
            clock: Arc::clone(clock),
            networks: Arc::clone(networks),
            link,
            inbox: Inbox::new(),
            is_greeted: false,
            changes: Vec::new(),
            last: None,
            enforced: None,
            host_mounts: None,
        }
    }

    /// Sends the differences between `wanted`, the environment of shells, and `has`, that of the
    /// supervisor.
    pub(super) fn set_environment(
        &mut self,
        has: &BTreeMap<OsString, OsString>,
        wanted: &BTreeMap<OsString, OsString>,
    ) {
        let removed = has.keys().filter(|name| !wanted.contains_key(*name));
        let removed = removed.map(|name| (name.clone(), None));
        let set = wanted
            .iter()
            .filter(|(name, value)| has.get(*name) != Some(*value));
        let set = set.map(|(name, value)| (name.clone(), Some(value.clone())));
        self.changes = removed.chain(set).collect();
    }

    /// `start` with the environment that its shells get, and the way into the network that its box
    /// shares.
    pub(super) fn completed(
        &mut self,
        mut start: ShellStart,
    ) -> Result<(ShellStart, Option<OwnedFd>), StartError> {
        // A box has a temporary directory of its own, which the host's does not replace, but a
        // call's own variable may.
        let is_boxed = start
            .sandbox
            .as_ref()
            .is_some_and(|kept| kept.plan.is_some());
        let inherited = self.changes.iter();
        let inherited = inherited.filter(|(name, _)| !is_boxed || name != "TMPDIR");
        // The call's own changes come last: they take precedence.
        start.env_changes.splice(0..0, inherited.cloned());
        if let (Some(kept), Some(process)) = (&start.sandbox, &mut self.process) {
            process.makes_directories_in(kept.directory.clone());
        }
        // Servers of other calls would make changes that a trial is to hold back.
        let kept = start.sandbox.as_ref().filter(|kept| kept.trial.is_none());
        let plan = kept.and_then(|kept| kept.plan.as_ref());
        let entrance = plan.map_or(Ok(None), |plan| self.networks.entrance(plan));
        let entrance = entrance.map_err(|error| StartError::Sandbox(error.to_string()))?;
        let (part, socket) = entrance
            .map(|NetworkEntrance { part, socket }| (part, socket))
            .unzip();
        start.network = part;
        Ok((start, socket))
    }

    /// Returns the report of its last shell's sandbox; `None` without a sandbox.
    pub fn enforced(&self) -> Option<&Report> {
        self.enforced.as_ref()
    }

    /// Waits for its hello, if that was not received yet.
    ///
    /// # Errors
    /// It does not answer within a second, or has another version. It is killed then.
    pub async fn handshake(mut self) -> Result<Self, StartError> {
        if self.is_greeted {
            return Ok(self);
        }
        let clock = Arc::clone(&self.clock);
        let hello = tokio::select! {
            biased;
            event = self.event() => event,
            () = clock.sleep(HELLO_TIMEOUT) => Err(Disconnected),
        };
        let greeted = match hello {
            Ok((Event::Hello { version }, _)) => self.greet(version),
            Ok((Event::CannotServe { reason }, _)) => Err(StartError::CannotServe(reason)),
            Ok(_) => Err(StartError::OtherVersion),
            Err(Disconnected) => {
                let ended = self.exit_status().await;
                Err(ended.map_or(StartError::NoHello, StartError::EndedEarly))
            }
        };
        // A program that is not our supervisor will not exit when its socket is closed.
        if let (Err(_), Some(process)) = (&greeted, &self.process) {
            process.signal(Signal::KILL);
        }
        greeted.map(|()| self)
    }

    /// The exit status of the supervisor's process, if it has ended. A process closes its
    /// descriptors a moment before it can be reaped.
    async fn exit_status(&mut self) -> Option<ExitStatus> {
        let process = self.process.as_mut()?;
        for _ in 0..5 {
            if let Some(status) = process.status() {
                return Some(status);
            }
            self.clock.sleep(Duration::from_millis(10)).await;
        }
        None
    }

    /// Processes its hello.
    pub(super) fn greet(&mut self, version: u32) -> Result<(), StartError> {
        self.is_greeted = version == PROTOCOL_VERSION;
        if self.is_greeted {
            Ok(())
        } else {
            Err(StartError::OtherVersion)
        }
    }

    /// The reason for a thread instead of a supervisor: see
    /// [`Supervisor::fallback`](super::Supervisor::fallback).
    pub fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }

    /// The supervisor's pid, which is the session id of its shells; 0 for a thread.
    pub fn pid(&self) -> u32 {
        let pid = self.process.as_ref().and_then(SupervisorProcess::pid);
        pid.map_or(0, |pid| pid.as_raw_pid().unsigned_abs())
    }

    /// Sends an order.
    pub(super) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.link.order(order, fds)
    }

    /// A separate handle for sending orders, for use in another task.
    pub fn link(&self) -> OrderSender {
        self.link.clone()
    }

    /// Sends an order and waits for its answer: the first event for which `read` returns a value.
    /// Earlier ones are dropped.
    ///
    /// # Errors
    /// It has ended, or has not answered within [`ANSWER_TIMEOUT`].
    pub(super) async fn ask<T>(
        &mut self,
        order: &Order,
        fds: &[BorrowedFd<'_>],
        read: impl Fn(Event) -> Option<T>,
    ) -> Result<T, Disconnected> {
        self.order(order, fds).map_err(|_| Disconnected)?;
        let clock = Arc::clone(&self.clock);
        let mut late = clock.sleep(ANSWER_TIMEOUT);
        loop {
            let (event, _) = self.event_until(&mut late).await?;
            if let Some(answer) = read(event) {
                return Ok(answer);
            }
        }
    }

    pub(super) async fn event_until(
        &mut self,
        late: &mut (impl Future<Output = ()> + Unpin),
    ) -> Result<(Event, Vec<OwnedFd>), Disconnected> {
        tokio::select! {
            biased;
            event = self.event() => event,
            () = late => {
                tracing::error!("a supervisor did not answer within {ANSWER_TIMEOUT:?}");
                Err(Disconnected)
            }
        }
    }

    /// Lets the supervisor and its processes outlive this program.
    pub(super) fn keep(&mut self) {
        if let Some(process) = &mut self.process {
            process.keep();
        }
    }

    /// The supervisor's next event. Cancel safe.
    ///
    /// # Errors
    /// It has ended.
    pub async fn event(&mut self) -> Result<(Event, Vec<OwnedFd>), Disconnected> {
        receive::next(self.link.socket(), &mut self.inbox).await
    }

    /// True if an event, or the end of the connection, is unread. Does not wait. For a warm shell,
    /// which should send nothing while it waits.
    pub fn has_spoken(&mut self) -> bool {
        !matches!(self.try_event(), Ok(None))
    }

    /// An unread event; `None` if there is none.
    pub(super) fn try_event(&mut self) -> Result<Option<(Event, Vec<OwnedFd>)>, Disconnected> {
        receive::try_next(self.link.socket(), &mut self.inbox)
    }

    /// Ends it with all its processes, and waits until it is reaped. For hosts that are about to
    /// exit; a supervisor that is merely dropped is reaped in the background.
    pub async fn close(mut self) {
        let ending = self.let_go();
        reap(ending, Arc::clone(self.link.socket())).await;
    }

    /// Sends SIGCONT, in case its script has stopped it: it would not obey otherwise.
    pub fn wake(&self) {
        if let Some(process) = &self.process {
            process.signal(Signal::CONT);
        }
    }

    /// Shuts down the writing end, which is its lifeline. Links held by tasks must not keep it
    /// alive.
    fn let_go(&mut self) -> Option<SupervisorProcess> {
        self.wake();
        let _ = rustix::net::shutdown(&**self.link.socket(), Shutdown::Write);
        self.process.take()
    }

    /// If it has ended without reporting how its shell ended: kills the remaining processes of its
    /// session, and processes that can still write to the call's output, given by its read ends.
    /// (Its pid cannot be reused until it is reaped, so the session is still its own.) A process
    /// that has left both is not found. The thread of the fallback has already done so itself.
    pub fn sweep(&self, output: &[BorrowedFd<'_>]) -> usize {
        let pid = self.process.as_ref().and_then(SupervisorProcess::pid);
        pid.map_or(0, |pid| sweep(pid.as_raw_pid(), output))
    }
}

impl Drop for SupervisorClient {
    fn drop(&mut self) {
        let Some(mut ending) = self.let_go() else {
            return;
        };
        if ending.try_reap() {
            return;
        }
        // The supervisor ends by itself; it is reaped in the background, so that it does not remain
        // a zombie.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(reap(Some(ending), Arc::clone(self.link.socket())));
        }
    }
}
