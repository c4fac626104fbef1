//! A target with its connection: connects at the first request, and once more if the channel was
//! closed before a request was written.

use crate::channel::{Channel, ChannelTimeouts, OutputUpdate, RequestFailure};
use crate::dial::{CONNECT_TIMEOUT, LocalHost, STDERR_TIMEOUT, dial};
use crate::error::{NotReached, Obstacle};
use crate::stderr_tail::StderrTail;
use crate::{Program, Target};
use agent_bash_core::Cancel;
use agent_bash_protocol::Hello;
use agent_bash_protocol::hello::{HelloData, MachineData};
use serde::Serialize;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};

/// The time for which a stored connection failure is returned without a new attempt.
const FAILURE_REUSE_TIME: Duration = Duration::from_secs(2);

/// The program that is uploaded. Its file is read once for all targets.
#[derive(Debug)]
pub struct Uploads {
    path: PathBuf,
    program: OnceCell<Program>,
}

impl Uploads {
    /// Reads the program from this file.
    pub fn of(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            program: OnceCell::new(),
        }
    }

    /// Uses a program that was already read.
    pub fn of_program(program: Program) -> Self {
        Self {
            path: program.path().to_owned(),
            program: OnceCell::new_with(Some(program)),
        }
    }

    async fn program(&self) -> Result<&Program, Obstacle> {
        let read = self.program.get_or_try_init(async || {
            let path = self.path.clone();
            let read = tokio::task::spawn_blocking(move || Program::read(&path));
            let read = read.await.map_err(|error| error.to_string())?;
            read.map_err(|error| error.to_string())
        });
        read.await.map_err(Obstacle::Program)
    }
}

/// A target, and the channel to it if connected.
#[derive(Debug)]
pub struct Remote {
    target: Target,
    uploads: Arc<Uploads>,
    local: LocalHost,
    /// The first message.
    hello: Hello,
    timeouts: ChannelTimeouts,
    connection: Mutex<Option<Arc<Connection>>>,
    /// The time and the error of a failed [`Self::prepared`]. The next request within
    /// [`FAILURE_REUSE_TIME`] returns this error without another attempt.
    failed: Mutex<Option<(Duration, NotReached)>>,
}

/// A channel on which the remote host has answered.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    stderr: StderrTail,
    /// The facts that the remote host reported.
    pub machine: MachineData,
    /// True if this program was uploaded for this connection.
    pub uploaded: bool,
}

/// The reason why a request to a target has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The target was not reached: nothing has run.
    #[error(transparent)]
    NotReached(#[from] NotReached),
    /// The remote or the local host refused the request: nothing has run.
    #[error("{0}")]
    Refused(String),
    /// The request was cancelled before it was sent: nothing has run.
    #[error("cancelled before it was sent")]
    Cancelled,
    /// The request was sent, and may have run.
    #[error("{0}")]
    ConnectionLost(String),
}

impl Remote {
    /// Creates a target without connecting. `hello` is the first message to the program on the
    /// remote host.
    pub fn new(target: Target, uploads: Arc<Uploads>, local: LocalHost, hello: Hello) -> Self {
        Self {
            target,
            uploads,
            local,
            hello,
            timeouts: ChannelTimeouts::default(),
            connection: Mutex::new(None),
            failed: Mutex::new(None),
        }
    }

    /// Sets other timeouts than the default.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: ChannelTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Returns the target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the connection; connects if there is none.
    ///
    /// # Errors
    /// [`NotReached`].
    pub async fn connected(&self) -> Result<Arc<Connection>, NotReached> {
        // Concurrent requests wait for the same connection.
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection
            .as_ref()
            .filter(|open| open.channel.closed().is_none())
        {
            return Ok(Arc::clone(open));
        }
        *connection = None;
        let dialled = Arc::new(self.dial().await?);
        *connection = Some(Arc::clone(&dialled));
        Ok(dialled)
    }

    /// Connects before the first request. After a failure, a request that follows soon returns the
    /// same error.
    ///
    /// # Errors
    /// [`NotReached`].
    pub async fn prepared(&self) -> Result<Arc<Connection>, NotReached> {
        let connected = self.connected().await;
        if let Err(error) = &connected {
            *self.failed.lock().await = Some((self.local.clock.now(), error.clone()));
        }
        connected
    }

    async fn dial(&self) -> Result<Connection, NotReached> {
        let not_reached = |what, stderr| NotReached {
            target: self.target.name.clone(),
            what,
            stderr,
        };
        let program = self.uploads.program().await;
        let program = program.map_err(|what| not_reached(what, String::new()))?;
        let started = dial(&self.target, program, &self.local).await?;
        let (stderr, stderr_task, uploaded) =
            (started.stderr, started.stderr_task, started.uploaded);
        let clock = Arc::clone(&self.local.clock);
        let channel = Channel::over(
            started.input,
            started.output,
            Some(started.transport),
            clock,
            self.timeouts,
        );
        let (never_cancelled, mut ignore_output) = (Cancel::new(), |_| {});
        let hello = channel.ask("hello", &self.hello, &mut ignore_output, &never_cancelled);
        let answer = tokio::select! {
            biased;
            answer = hello => answer,
            () = self.local.clock.sleep(CONNECT_TIMEOUT) => Err(RequestFailure::ConnectionLost(Obstacle::Silent(CONNECT_TIMEOUT).to_string())),
        };
        let what = match answer {
            Ok(answer) => match machine(answer.as_deref()) {
                Ok(machine) => {
                    return Ok(Connection {
                        channel,
                        stderr,
                        machine,
                        uploaded,
                    });
                }
                Err(what) => what,
            },
            Err(RequestFailure::Refused(why) | RequestFailure::NotSendable(why)) => {
                Obstacle::Unsuitable(agent_bash_core::visible::shown(&why).into_owned())
            }
            Err(
                RequestFailure::Unsent(_)
                | RequestFailure::ConnectionLost(_)
                | RequestFailure::Cancelled,
            ) => Obstacle::NotStarted {
                is_static: program.is_static(),
            },
        };
        drop(channel);
        tokio::select! {
            biased;
            _ = stderr_task => {}
            () = self.local.clock.sleep(STDERR_TIMEOUT) => {}
        }
        Err(not_reached(what, stderr.text()))
    }

    /// Sends a request on the channel. Connects first if there is no channel, and once more if the
    /// channel was closed before the request was written.
    ///
    /// # Errors
    /// [`AskError`].
    pub async fn ask(
        &self,
        kind: &str,
        body: &(impl Serialize + Sync),
        live: &mut (dyn FnMut(OutputUpdate) + Send),
        cancel: &Cancel,
    ) -> Result<Option<Box<RawValue>>, AskError> {
        if let Some((at, error)) = self.failed.lock().await.take()
            && self.local.clock.now().saturating_sub(at) < FAILURE_REUSE_TIME
        {
            return Err(error.into());
        }
        let mut is_retry = false;
        loop {
            let connection = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(AskError::Cancelled),
                connection = self.connected() => connection?,
            };
            return match connection.channel.ask(kind, body, live, cancel).await {
                Ok(data) => Ok(data),
                Err(RequestFailure::Unsent(_)) if !is_retry => {
                    is_retry = true;
                    continue;
                }
                Err(RequestFailure::Unsent(why)) => Err(NotReached {
                    target: self.target.name.clone(),
                    what: Obstacle::Unsuitable(why),
                    stderr: connection.stderr.text(),
                }
                .into()),
                Err(RequestFailure::Cancelled) => Err(AskError::Cancelled),
                Err(RequestFailure::Refused(why)) => Err(AskError::Refused(
                    agent_bash_core::visible::shown(&why).into_owned(),
                )),
                Err(RequestFailure::NotSendable(why)) => Err(AskError::Refused(why)),
                Err(RequestFailure::ConnectionLost(why)) => Err(AskError::ConnectionLost(
                    with_reason(why, &connection.stderr),
                )),
            };
        }
    }

    /// Closes the channel in order, within `limit`: running calls are cancelled, jobs continue.
    pub async fn close(&self, limit: Duration) {
        let Some(connection) = self.connection.lock().await.take() else {
            return;
        };
        // If another task still waits for an answer, that task drops the connection afterwards.
        if let Ok(connection) = Arc::try_unwrap(connection) {
            connection.channel.close(limit).await;
        }
    }
}

/// Returns the facts that a remote host reports, if calls can run on it.
fn machine(answer: Option<&RawValue>) -> Result<MachineData, Obstacle> {
    let answer = answer.map_or("null", RawValue::get);
    let data: HelloData = serde_json::from_str(answer).map_err(|error| {
        Obstacle::Unsuitable(format!("its description of itself is invalid: {error}"))
    })?;
    let machine = data.machine;
    let machine =
        machine.ok_or_else(|| Obstacle::Unsuitable("it did not describe itself".to_owned()))?;
    if machine.bash.is_none() {
        let no_bash =
            "it has no `bash`; install it there, or name another shell there as `shell.path`";
        return Err(Obstacle::Unsuitable(no_bash.to_owned()));
    }
    Ok(machine)
}

/// Adds the last lines of the transport's stderr to the reason why a channel was closed.
fn with_reason(why: String, stderr: &StderrTail) -> String {
    match stderr.text().lines().last() {
        Some(last) => format!("{why} ({last})"),
        None => why,
    }
}
