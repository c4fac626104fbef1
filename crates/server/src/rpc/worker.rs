//! The worker on a remote host: the server that runs calls that its host's policy has checked.
//!
//! An ordinary server reads settings, state directory and working directory from its own machine. A
//! worker receives them in `hello`, its first message. The worker ends when its input ends, or when
//! it has received nothing for the time of its lease. Jobs continue.

use super::dispatch::{self, to_reply};
use super::request_error::ErrorReply;
use super::{RpcService, outbox::Outbox, parse_line, response};
use crate::jobs::duration;
use agent_bash::core::{Cancel, Clock};
use agent_bash::process::supervisor::Supervisor;
use agent_bash::session::ConversationOptions;
use agent_bash::settings::Settings;
use agent_bash::sink::{Lifetime, SessionToken, session_token};
use agent_bash::{Conversation, HostContext};
use agent_bash_protocol::data::MachineData;
use agent_bash_protocol::line::{InputLine, InputLines};
use agent_bash_protocol::message::Response;
use agent_bash_protocol::{ErrorCode, Hello, PROTOCOL_VERSION, RpcCall};
use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The session's name if the host gives none.
const DEFAULT_SESSION: &str = "worker";

/// The context and the supervisor with which a worker starts.
#[derive(Debug)]
pub struct WorkerEnvironment {
    /// The context of the worker's process.
    pub host: HostContext,
    /// Starts the supervisors.
    pub supervisor: Supervisor,
}

/// Serves one host until its input ends, a line is invalid, the host is silent for its lease, or
/// `stop` is triggered. Returns false if no valid `hello` was received. All answers are written
/// before the return.
///
/// # Errors
/// The input cannot be read.
pub async fn serve<R, W>(
    input: R,
    output: W,
    environment: WorkerEnvironment,
    stop: &Cancel,
) -> io::Result<bool>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let clock: Arc<dyn Clock> = Arc::new(agent_bash::process::SystemClock::new());
    let last_input = LastInput::new(Arc::clone(&clock));
    let mut lines = InputLines::new(TimedInput {
        input,
        last_input: last_input.clone(),
    });
    let line = tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(true),
        line = lines.next() => line?,
    };
    let (outbox, writing) = Outbox::new(output);
    let opened = match line {
        InputLine::End => return Ok(true),
        InputLine::TooLong(first) => Err(parse_line::refusal_of(
            first,
            "the first line is too long".to_owned(),
        )),
        InputLine::Whole(line) => open(&line, environment, &clock),
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(refused) => {
            outbox.send(&refused).await;
            drop(outbox);
            super::wait_until_written(writing, &*clock).await;
            return Ok(false);
        }
    };
    outbox.send(&opened.answer).await;
    // A silent host counts as disconnected.
    let end = stop.child();
    let session = Arc::clone(&opened.session);
    let mut serving = RpcService::new(opened.session, outbox, Arc::clone(&clock), end.clone());
    serving.template.is_worker = true;
    serving.template.tools = opened.tools;
    serving.watch_jobs();
    let served = serving.serve(lines, writing);
    let served = match opened.lease {
        None => served.await,
        Some(lease) => {
            let mut served = std::pin::pin!(served);
            tokio::select! {
                biased;
                served = &mut served => served,
                () = last_input.wait_for_silence(lease) => {
                    tracing::warn!("the host was silent for longer than its lease");
                    end.cancel();
                    served.await
                }
            }
        }
    };
    session.close();
    served.map(|()| true)
}

/// A session that a host has opened.
struct OpenedSession {
    session: Arc<Conversation>,
    tools: Option<Vec<String>>,
    lease: Option<Duration>,
    answer: Response,
}

/// Opens a session for the host that has sent this line, which must be `hello`.
fn open(
    line: &[u8],
    environment: WorkerEnvironment,
    clock: &Arc<dyn Clock>,
) -> Result<OpenedSession, Response> {
    let parsed = parse_line::request(line).map_err(|refusal| *refusal)?;
    let (id, kind) = (parsed.id, parsed.kind);
    let refused = |refused: ErrorReply| response(id.clone(), &kind, Err(refused));
    let RpcCall::Hello(hello) = parsed.call else {
        let error = "the first message to a worker must be `hello`";
        return Err(refused(ErrorReply::new(ErrorCode::Protocol, error)));
    };
    let lease = lease(&hello).map_err(refused)?;
    let (session, machine) = session(&hello, environment, clock).map_err(refused)?;
    let answer = dispatch::hello(&session, &hello, hello.tools.as_ref(), Some(machine));
    Ok(OpenedSession {
        answer: response(id.clone(), &kind, answer),
        session: Arc::new(session),
        tools: hello.tools,
        lease,
    })
}

/// Checks the version of the protocol, and returns the lease.
fn lease(hello: &Hello) -> Result<Option<Duration>, ErrorReply> {
    if hello.protocol.is_none() {
        let error = format!("`protocol` is missing; this is version {PROTOCOL_VERSION}");
        return Err(ErrorReply::new(ErrorCode::Protocol, error));
    }
    dispatch::check_protocol(hello)?;
    let lease = hello.lease.as_ref().map(|lease| duration("lease", lease));
    Ok(lease.transpose()?)
}

/// Opens the session that `hello` describes. Returns the session and the data of its machine.
fn session(
    hello: &Hello,
    environment: WorkerEnvironment,
    clock: &Arc<dyn Clock>,
) -> Result<(Conversation, MachineData), ErrorReply> {
    let received_settings = hello.settings.as_ref().map(|settings| &settings.0);
    let settings = received_settings.map(Settings::from_remote).transpose();
    let settings = settings.map_err(to_reply)?.unwrap_or_default();
    let WorkerEnvironment { host, supervisor } = environment;
    let host = host_context(host, hello);
    let name = hello
        .session
        .clone()
        .unwrap_or_else(|| DEFAULT_SESSION.to_owned());
    let options = ConversationOptions {
        // The files are kept for a day, because a host that reconnects, and its model, still use
        // their paths.
        lifetime: Lifetime::Day,
        clock: Arc::clone(clock),
        ..ConversationOptions::long_lived(name.clone(), supervisor)
    };
    // `open` checks the name, before the name becomes a part of a path.
    let session = Conversation::open(&settings, host, options).map_err(to_reply)?;
    let is_known_session = match (&hello.token, session.host().state_dir()) {
        (Some(token), Some(root)) => match session_token(&root, &name, &token.0) {
            Ok(SessionToken::Foreign) => {
                let error =
                    format!("the session `{name}` belongs to another host; name one of your own");
                return Err(ErrorReply::new(ErrorCode::Token, error));
            }
            Ok(token) => token == SessionToken::Known,
            Err(error) => {
                let failure = format!("{} cannot be written", root.join(&name).display());
                return Err(ErrorReply::of_system(&error, &failure));
            }
        },
        _ => false,
    };
    let machine = machine(&session, is_known_session);
    Ok((session, machine))
}

/// Returns the worker's context with the host's additions.
fn host_context(host: HostContext, hello: &Hello) -> HostContext {
    let mut env = (*host.env).clone();
    let added = hello.env.iter().flat_map(|env| &env.0);
    env.extend(added.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    let home = HostContext::home_in(&env);
    let cwd = match (&hello.cwd, &home) {
        (None, _) => host.cwd,
        (Some(cwd), Some(home)) if cwd == "~" => home.clone(),
        (Some(cwd), home) => match (cwd.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => host.cwd.join(cwd),
        },
    };
    HostContext {
        cwd,
        home,
        env: Arc::new(env),
        tools: None,
        processes: host.processes.clone(),
    }
}

fn machine(session: &Conversation, is_known_session: bool) -> MachineData {
    let host = session.host();
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    MachineData {
        boot_id: boot_id.ok().map(|id| id.trim().to_owned()),
        pid: std::process::id(),
        uid: rustix::process::geteuid().as_raw(),
        cwd: host.cwd.display().to_string(),
        home: host.home.as_ref().map(|home| home.display().to_string()),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        bash: session
            .tool()
            .shell()
            .ok()
            .map(|shell| shell.path.display().to_string()),
        known: is_known_session,
    }
}

/// Waits until all child processes of this worker have ended, if no other process would reap them.
/// If the parent of the worker is outside the container (`docker exec`), PID 1 inherits the
/// children, and PID 1 may be a program that never reaps. The host does not wait for this function.
pub fn outlast() {
    // The parent is `None` (pid 0) if it is outside of this PID namespace.
    let has_child = || !matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD));
    if rustix::process::getppid().is_some() || !has_child() {
        return;
    }
    let _ = rustix::io::write(rustix::stdio::stdout(), b"{\"type\":\"leaving\"}\n");
    // Close the streams, so that their other ends see end of file and do not wait.
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    while !matches!(wait(WaitOptions::empty()), Err(Errno::CHILD)) {}
}

/// The time of the last input. Clones share it.
#[derive(Debug, Clone)]
struct LastInput {
    clock: Arc<dyn Clock>,
    /// Milliseconds of the clock.
    last: Arc<AtomicU64>,
}

impl LastInput {
    fn new(clock: Arc<dyn Clock>) -> Self {
        let last_input = Self {
            clock,
            last: Arc::default(),
        };
        last_input.record_now();
        last_input
    }

    /// Records input at this time.
    fn record_now(&self) {
        self.last.store(self.millis(), Ordering::Relaxed);
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.clock.now().as_millis()).unwrap_or(u64::MAX)
    }

    /// Waits until there was no input for `lease`.
    async fn wait_for_silence(&self, lease: Duration) {
        loop {
            let silent = self
                .millis()
                .saturating_sub(self.last.load(Ordering::Relaxed));
            let remaining = lease.saturating_sub(Duration::from_millis(silent));
            if remaining.is_zero() {
                return;
            }
            self.clock.sleep(remaining).await;
        }
    }
}

/// An input that records the time of each read.
struct TimedInput<R> {
    input: R,
    last_input: LastInput,
}

impl<R: AsyncRead + Unpin> AsyncRead for TimedInput<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = Pin::new(&mut this.input).poll_read(context, buffer);
        if read.is_ready() {
            this.last_input.record_now();
        }
        read
    }
}
