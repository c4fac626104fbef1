//! The host's side: starting a supervisor, giving it orders, hearing from it, and reaping it in the end.

use super::reap::{Count, Ending, Unreaped, reap, sweep};
use crate::here::is_cut_off;
use crate::refused::explained;
use crate::supervisor::channel::{Inbox, Received, Wait, send};
use crate::supervisor::protocol::{Event, Order, ShellStart};
use crate::supervisor::server::{start_fallback, this_program};
use crate::supervisor::{NAME, Token, VERSION};
use agent_bash_core::{Clock, StreamId};
use rustix::net::Shutdown;
use rustix::process::{Pid, Signal};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixStream as TokioStream;

/// How long a supervisor may take to say that it is there.
const HELLO: Duration = Duration::from_secs(1);

/// How long it may take to answer an order. It does nothing that takes long, so this is for a machine that is out of breath; one that
/// was stopped is given up.
const ANSWER: Duration = Duration::from_secs(10);

/// How supervisors are started.
#[derive(Debug, Clone)]
pub struct Supervisor {
    how: How,
    /// Those that this one and its clones have started.
    unreaped: Count,
}

/// By how they are started.
impl PartialEq for Supervisor {
    fn eq(&self, other: &Self) -> bool {
        self.how == other.how
    }
}

impl Eq for Supervisor {}

impl Hash for Supervisor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.how.hash(state);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum How {
    Program {
        path: PathBuf,
        /// In the directory of this program, and not in `/`: its shells would not get there by themselves.
        here: bool,
    },
    /// No process of its own, for this reason.
    Fallback(String),
}

impl Supervisor {
    /// By starting this program again, which the token shows to be safe.
    pub fn this_program(_: &Token) -> Self {
        Self::at(this_program())
    }

    /// By starting another program, which must call [`crate::supervisor::init`] at the top of its `main`. For hosts whose `main` is
    /// not their own: plugins, tests.
    ///
    /// Looks whether the path of the directory in which this program stands leads there. Below a parent that may not be searched it
    /// does not, and shells get there only by inheriting it.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        let path = program.into();
        let here = is_cut_off();
        Self::by(How::Program { path, here })
    }

    /// Without any: a thread of this program does the work, and knows the processes of a call by their session, a
    /// variable in their environment (`AGENT_BASH_CALL`), their parents and their output. For hosts that cannot call
    /// [`crate::supervisor::init`] and have no other program.
    ///
    /// It cannot do what needs a process of its own. If this program is killed its commands live on. Background jobs and
    /// terminals are refused, and survivors lose the reader of their output when this program ends. A process that leaves
    /// session, environment, parents and output all at once is neither named nor ended. If this program takes the
    /// status of children that are not its own (`waitpid(-1)`, an ignored SIGCHLD), the status of commands is lost.
    pub fn fallback() -> Self {
        Self::fallback_because("this program has not called `supervisor::init()`")
    }

    /// As [`Self::fallback`], with the reason that calls are to be told.
    pub fn fallback_because(reason: impl Into<String>) -> Self {
        Self::by(How::Fallback(reason.into()))
    }

    fn by(how: How) -> Self {
        let unreaped = Count::default();
        Self { how, unreaped }
    }

    /// Waits until every supervisor is reaped that this one and its clones have started, but those that were left to go on
    /// without their host. For a program that is about to end, when everything that starts or holds a supervisor was dropped:
    /// where process 1 does not reap, as in a container whose first program is no init, who was not reaped stays a zombie. False
    /// if some were left after `limit`. Blocks the thread.
    pub fn all_reaped(&self, limit: Duration) -> bool {
        self.unreaped.is_none_within(limit)
    }

    /// Starts one, with `env` as its whole environment, and waits for its hello.
    ///
    /// # Errors
    /// It cannot be started, does not answer within a second, or speaks another version. Nothing is left of it then.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub async fn launch(
        &self,
        env: &BTreeMap<OsString, OsString>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Supervised, StartError> {
        let (ours, theirs) = UnixStream::pair().map_err(spawn_error)?;
        ours.set_nonblocking(true).map_err(StartError::Spawn)?;
        let socket = TokioStream::from_std(ours).map_err(spawn_error)?;
        let (child, fallback) = match &self.how {
            How::Program { path, here } => (Some(spawn(path, *here, env, theirs.into())), None),
            How::Fallback(reason) => {
                start_fallback(env, theirs.into()).map_err(spawn_error)?;
                (None, Some(reason.clone()))
            }
        };
        let mut supervised = Supervised {
            child: child.transpose().map_err(spawn_error)?,
            fallback,
            clock: Arc::clone(clock),
            link: Link {
                socket: Arc::new(socket),
            },
            inbox: Inbox::new(),
            last: None,
            keeps: false,
            unreaped: None,
        };
        supervised.unreaped = supervised.child.as_ref().map(|_| self.unreaped.one());
        let hello = tokio::select! {
            biased;
            event = supervised.event() => event,
            () = clock.sleep(HELLO) => Err(Gone),
        };
        let error = match hello {
            Ok((Event::Hello { version: VERSION }, _)) => return Ok(supervised),
            Ok(_) => StartError::OtherVersion,
            Err(Gone) => StartError::NoHello,
        };
        // What is no supervisor of ours does not know that it is to end when its socket does.
        if let Some(child) = &mut supervised.child {
            let _ = child.kill();
        }
        Err(error)
    }
}

fn spawn(
    program: &Path,
    here: bool,
    env: &BTreeMap<OsString, OsString>,
    socket: OwnedFd,
) -> io::Result<Child> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where supervisors are started"
    )]
    let mut command = Command::new(program);
    if !here {
        // It must not keep the host's directory busy.
        command.current_dir("/");
    }
    command
        .arg0(NAME)
        .env_clear()
        .envs(env)
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn spawn_error(error: io::Error) -> StartError {
    StartError::Spawn(explained(error))
}

/// Why there is no supervisor, or no shell.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system did not start it.
    #[error("the supervisor could not be started: {0}")]
    Spawn(#[source] io::Error),
    /// It did not answer.
    #[error(
        "the supervisor did not answer within a second; does its program call `supervisor::init()` at the top of `main`?"
    )]
    NoHello,
    /// It is of another version of this crate.
    #[error("the supervisor is of another version; restart this program")]
    OtherVersion,
    /// It ended before it had started a shell.
    #[error("the supervisor ended before the shell was started")]
    Gone,
    /// It could not start the shell.
    #[error("the shell could not be started: {0}")]
    Shell(String),
}

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
    clock: Arc<dyn Clock>,
    link: Link,
    inbox: Inbox,
    /// How its last shell was started.
    last: Option<ShellStart>,
    /// It was told to keep whoever it has when its host ends.
    keeps: bool,
    /// It is for this program to reap, before it ends.
    unreaped: Option<Unreaped>,
}

/// A shell that waits for its script: the host's ends of what it holds.
#[derive(Debug)]
pub struct ShellFds {
    /// Its process id and process group.
    pub pid: u32,
    /// The file its script goes into.
    pub script: OwnedFd,
    /// The number under which the shell has that file open.
    pub script_fd: i32,
    /// The number under which it has the script's stdin open, where it got one.
    pub stdin_fd: Option<i32>,
    /// The pipe that is its stdin.
    pub control: OwnedFd,
    /// Read ends of the streams that were ordered, in that order.
    pub output: Vec<(StreamId, OwnedFd)>,
}

impl Supervised {
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

    /// Starts a shell. One at a time: the one before has ended, and its tree is empty.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::Gone`].
    pub async fn start(
        &mut self,
        start: ShellStart,
        stdin: Option<BorrowedFd<'_>>,
    ) -> Result<ShellFds, StartError> {
        self.order_shell(start, stdin)?;
        self.started().await
    }

    /// Orders a shell, and does not wait for it: [`Self::started`] tells. One at a time: the one before has ended, and its
    /// tree is empty.
    ///
    /// # Errors
    /// [`StartError::Gone`].
    pub fn order_shell(
        &mut self,
        start: ShellStart,
        stdin: Option<BorrowedFd<'_>>,
    ) -> Result<(), StartError> {
        let fds: Vec<BorrowedFd<'_>> = stdin.into_iter().collect();
        // The same again is a short message: it is sent between two calls.
        let ordered = if self.last.as_ref() == Some(&start) {
            self.link.order(&Order::StartAnother, &fds)
        } else {
            self.last = Some(start.clone());
            self.link.order(&Order::Start(start), &fds)
        };
        ordered.map_err(|_| StartError::Gone)
    }

    /// Waits for the shell that was ordered. Cancel safe.
    ///
    /// # Errors
    /// [`StartError::Shell`] with the system's reason; [`StartError::Gone`].
    pub async fn started(&mut self) -> Result<ShellFds, StartError> {
        let clock = Arc::clone(&self.clock);
        let mut late = clock.sleep(ANSWER);
        loop {
            let event = self.event_until(&mut late).await;
            let event = event.map_err(|Gone| StartError::Gone)?;
            if let Some(fds) = self.shell(event)? {
                return Ok(fds);
            }
        }
    }

    /// As [`Self::started`], without waiting: `None` if it is still being started.
    ///
    /// # Errors
    /// As [`Self::started`].
    pub fn try_started(&mut self) -> Result<Option<ShellFds>, StartError> {
        while let Some(event) = self.try_event().map_err(|Gone| StartError::Gone)? {
            if let Some(fds) = self.shell(event)? {
                return Ok(Some(fds));
            }
        }
        Ok(None)
    }

    /// The shell that an event brings; `None` if it is of something else.
    fn shell(&self, (event, fds): (Event, Vec<OwnedFd>)) -> Result<Option<ShellFds>, StartError> {
        match event {
            Event::Started {
                pid,
                script_fd,
                stdin_fd,
            } => {
                let mut fds = fds.into_iter();
                let (Some(script), Some(control)) = (fds.next(), fds.next()) else {
                    return Err(StartError::Gone);
                };
                let streams = self.last.iter().flat_map(|start| &start.output);
                Ok(Some(ShellFds {
                    pid,
                    script,
                    script_fd,
                    stdin_fd,
                    control,
                    output: streams.copied().zip(fds).collect(),
                }))
            }
            Event::StartFailed { reason } => Err(StartError::Shell(reason)),
            _ => Ok(None),
        }
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

    async fn event_until(
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
            self.link.socket.readable().await.map_err(|_| Gone)?;
            match self.try_receive() {
                Ok(Received::Some | Received::Nothing) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(Received::Closed) | Err(_) => return Err(Gone),
            }
        }
    }

    /// Takes in what is there; `WouldBlock` if that is nothing, as tokio wants to know it.
    fn try_receive(&mut self) -> io::Result<Received> {
        let socket = &self.link.socket;
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
    fn try_event(&mut self) -> Result<Option<(Event, Vec<OwnedFd>)>, Gone> {
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
        reap(ending, Arc::clone(&self.link.socket)).await;
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
        let _ = rustix::net::shutdown(&*self.link.socket, Shutdown::Write);
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
            runtime.spawn(reap(Some(ending), Arc::clone(&self.link.socket)));
        }
    }
}

/// Gives orders to a supervisor.
#[derive(Debug, Clone)]
pub struct Link {
    socket: Arc<TokioStream>,
}

impl Link {
    /// Whether the supervisor has said something that was not listened to yet.
    pub fn has_word(&self) -> bool {
        rustix::io::ioctl_fionread(&*self.socket).is_ok_and(|bytes| bytes > 0)
    }

    /// Ends the whole tree: SIGTERM, SIGCONT, `grace`, SIGKILL.
    ///
    /// # Errors
    /// It is gone, or does not read.
    pub fn terminate(&self, grace: Duration) -> io::Result<()> {
        self.end(grace, false)
    }

    /// As [`Self::terminate`], but the shell is stopped first: ended from outside, the command it waits for is its last.
    ///
    /// # Errors
    /// It is gone, or does not read.
    pub fn stop_and_terminate(&self, grace: Duration) -> io::Result<()> {
        self.end(grace, true)
    }

    fn end(&self, grace: Duration, stop_shell: bool) -> io::Result<()> {
        let grace_ms = in_ms(grace);
        self.order(
            &Order::Terminate {
                grace_ms,
                stop_shell,
            },
            &[],
        )
    }

    pub(super) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        send(self.socket.as_fd(), order, fds, Wait::No)
    }
}

/// Milliseconds, as an order says them.
pub(super) fn in_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
