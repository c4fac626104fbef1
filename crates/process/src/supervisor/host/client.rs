//! A supervisor that is there, seen from its host: hearing from it, and its end.

use super::link::Link;
use super::reap::{Ending, Unreaped, reap, sweep};
use super::shell::StartError;
use crate::supervisor::VERSION;
use crate::supervisor::channel::{Inbox, Received};
use crate::supervisor::protocol::{Event, Order, ShellStart};
use agent_bash_core::Clock;
use rustix::net::Shutdown;
use rustix::process::{Pid, Signal};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;

/// How long a supervisor may take to say that it is there.
const HELLO: Duration = Duration::from_secs(1);

/// How long it may take to answer an order. It does nothing that takes long, so this is for a machine that is out of breath; one that
/// was stopped is given up.
pub(super) const ANSWER: Duration = Duration::from_secs(10);

/// The supervisor is gone: it was killed, or its program failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// A supervisor, seen from its host. Dropping it ends everything it has, unless that was adopted.
#[derive(Debug)]
pub struct Supervised {
    /// `None` for a thread.
    child: Option<Child>,
    /// Why it is a thread.
    fallback: Option<String>,
    pub(super) clock: Arc<dyn Clock>,
    link: Link,
    inbox: Inbox,
    /// It has said that it is there, and is of our version.
    is_greeted: bool,
    /// Changes that turn its own environment into that of its shells, if it was started before that was known.
    changes: Vec<(OsString, Option<OsString>)>,
    /// How its last shell was started.
    pub(super) last: Option<ShellStart>,
    /// It was told to keep whoever it has when its host ends.
    keeps: bool,
    /// It is for this program to reap, before it ends.
    unreaped: Option<Unreaped>,
}

impl Supervised {
    /// What is at the other end of `link`: a process, or, for this reason, a thread.
    pub(super) fn new(
        what: Result<(Child, Unreaped), String>,
        link: Link,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let (process, fallback) = match what {
            Ok(process) => (Some(process), None),
            Err(reason) => (None, Some(reason)),
        };
        let (child, unreaped) = process.unzip();
        Self {
            child,
            fallback,
            clock: Arc::clone(clock),
            link,
            inbox: Inbox::new(),
            is_greeted: false,
            changes: Vec::new(),
            last: None,
            keeps: false,
            unreaped,
        }
    }

    /// Its shells get the environment `wanted`, though it has `has` itself.
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

    /// `start` in the environment that its shells get.
    pub(super) fn in_environment(&self, mut start: ShellStart) -> ShellStart {
        // Those of the call come last: they win.
        start.env_changes.splice(0..0, self.changes.iter().cloned());
        start
    }

    /// Waits for its hello, where it was not heard yet.
    ///
    /// # Errors
    /// It does not answer within a second, or speaks another version. Nothing is left of it then.
    pub async fn greeted(mut self) -> Result<Self, StartError> {
        if self.is_greeted {
            return Ok(self);
        }
        let clock = Arc::clone(&self.clock);
        let hello = tokio::select! {
            biased;
            event = self.event() => event,
            () = clock.sleep(HELLO) => Err(Gone),
        };
        let greeted = match hello {
            Ok((Event::Hello { version }, _)) => self.greet(version),
            Ok(_) => Err(StartError::OtherVersion),
            Err(Gone) => Err(StartError::NoHello),
        };
        // What is no supervisor of ours does not know that it is to end when its socket does.
        if let (Err(_), Some(child)) = (&greeted, &mut self.child) {
            let _ = child.kill();
        }
        greeted.map(|()| self)
    }

    /// Its hello was heard.
    pub(super) fn greet(&mut self, version: u32) -> Result<(), StartError> {
        self.is_greeted = version == VERSION;
        if self.is_greeted {
            Ok(())
        } else {
            Err(StartError::OtherVersion)
        }
    }

    /// Why there is no supervisor, but a thread of this program: see [`Supervisor::fallback`].
    pub fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }

    /// Its process id, which is the session id of its shells; 0 for a thread.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Gives an order.
    pub(super) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.link.order(order, fds)
    }

    /// A second way to give orders, for a task of its own.
    pub fn link(&self) -> Link {
        self.link.clone()
    }

    /// Waits for the answer to an order: the first event of which `read` makes something. Those before it are dropped.
    ///
    /// # Errors
    /// It is gone, or has not answered within [`ANSWER`].
    pub(super) async fn answer<T>(
        &mut self,
        read: impl Fn(Event, Vec<OwnedFd>) -> Option<T>,
    ) -> Result<T, Gone> {
        let clock = Arc::clone(&self.clock);
        let mut late = clock.sleep(ANSWER);
        loop {
            let (event, fds) = self.event_until(&mut late).await?;
            if let Some(answer) = read(event, fds) {
                return Ok(answer);
            }
        }
    }

    pub(super) async fn event_until(
        &mut self,
        late: &mut (impl Future<Output = ()> + Unpin),
    ) -> Result<(Event, Vec<OwnedFd>), Gone> {
        tokio::select! {
            biased;
            event = self.event() => event,
            () = late => {
                tracing::error!("a supervisor did not answer within {ANSWER:?}");
                Err(Gone)
            }
        }
    }

    /// From now on whoever it has outlives this program, and it may, too.
    pub(super) fn keep(&mut self) {
        self.keeps = true;
        self.unreaped = None;
    }

    /// The next thing it says. Cancel safe.
    ///
    /// # Errors
    /// It is gone.
    pub async fn event(&mut self) -> Result<(Event, Vec<OwnedFd>), Gone> {
        loop {
            match self.inbox.next() {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(%error, "the supervisor speaks nonsense");
                    return Err(Gone);
                }
            }
            self.link.socket().readable().await.map_err(|_| Gone)?;
            match self.try_receive() {
                Ok(Received::Some | Received::Nothing) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(Received::Closed) | Err(_) => return Err(Gone),
            }
        }
    }

    /// Takes in what is there; `WouldBlock` if that is nothing, as tokio wants to know it.
    fn try_receive(&mut self) -> io::Result<Received> {
        let socket = self.link.socket();
        socket.try_io(Interest::READABLE, || match self.inbox.receive(socket)? {
            Received::Nothing => Err(io::ErrorKind::WouldBlock.into()),
            received => Ok(received),
        })
    }

    /// Whether it has said something, or is gone, since it was last listened to. Does not wait. For a shell that was started
    /// ahead: nothing is to be heard of one that waits.
    pub fn has_spoken(&mut self) -> bool {
        !matches!(self.try_event(), Ok(None))
    }

    /// What it has said and was not listened to; `None` if nothing.
    pub(super) fn try_event(&mut self) -> Result<Option<(Event, Vec<OwnedFd>)>, Gone> {
        loop {
            if let Some(message) = self.inbox.next().map_err(|_| Gone)? {
                return Ok(Some(message));
            }
            match self.try_receive() {
                Ok(Received::Some | Received::Nothing) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Ok(Received::Closed) | Err(_) => return Err(Gone),
            }
        }
    }

    /// Ends it, with whatever it still has, and waits until it is gone and reaped. For hosts that end themselves next: a
    /// dropped one is reaped behind their backs.
    pub async fn close(mut self) {
        let ending = self.let_go();
        reap(ending, Arc::clone(self.link.socket())).await;
    }

    /// Lets it go on, should its script have stopped it: it obeys nothing else then.
    pub fn wake(&self) {
        if let Some(child) = &self.child {
            // Not reaped yet, so the number is its own.
            let _ = rustix::process::kill_process(Pid::from_child(child), Signal::CONT);
        }
    }

    /// Our writing end is its lifeline. Links that tasks still hold must not keep it.
    fn let_go(&mut self) -> Option<Ending> {
        self.wake();
        let _ = rustix::net::shutdown(&**self.link.socket(), Shutdown::Write);
        let child = self.child.take()?;
        Some(Ending::new(child, self.keeps, self.unreaped.take()))
    }

    /// For the case that it is gone without having said how its shell ended: ends whoever is left of its session (while
    /// it is not reaped nobody else can have its pid, so the session is still its own), and whoever can still write to
    /// the call's `output`, whose read ends these are. Who has left both is not found. A thread has done so itself.
    pub fn sweep(&self, output: &[BorrowedFd<'_>]) -> usize {
        self.child
            .as_ref()
            .map_or(0, |child| sweep(child.id().cast_signed(), output))
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        let Some(mut ending) = self.let_go() else {
            return;
        };
        if ending.try_reap() {
            return;
        }
        // It ends by itself; it is reaped without blocking anybody, so that it does not stay a zombie.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(reap(Some(ending), Arc::clone(self.link.socket())));
        }
    }
}
