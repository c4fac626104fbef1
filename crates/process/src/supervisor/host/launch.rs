//! Starts supervisors: processes of this program or another one, or a thread if neither is
//! possible.

use super::client::SupervisorClient;
use super::order_sender::OrderSender;
use super::reap::{SupervisorProcess, UnreapedCount};
use super::start_error::StartError;
#[cfg(target_os = "linux")]
use crate::supervisor::server::fork;
use crate::supervisor::server::{
    SupervisorProgram, is_tracing_possible, start_fallback, this_program,
};
use crate::supervisor::{OWN_VARIABLE_PREFIX, Token};
use crate::system_error::with_advice;
use crate::unresolvable_cwd::is_cwd_unresolvable;
use agent_bash_core::sandbox::Report;
use agent_bash_core::{Clock, NotStarted, lock};
use agent_bash_proxy::ProxyThread;
use agent_bash_sandbox::Networks;
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::net::UnixStream as TokioStream;
use tokio::sync::OnceCell;

/// How to start supervisors.
#[derive(Debug, Clone)]
pub struct Supervisor {
    method: LaunchMethod,
    /// Supervisors started by this value and its clones that are not reaped yet.
    unreaped: UnreapedCount,
    /// A supervisor that was started in advance, for the first caller.
    early: Arc<Mutex<Option<EarlySupervisor>>>,
    /// The shared networks of sandboxes.
    networks: Arc<Networks<ProxyThread>>,
    /// The cached report of [`Supervisor::sandbox_report`].
    pub(super) sandbox_report: Arc<OnceCell<Result<Report, NotStarted>>>,
    /// The cached result of [`Supervisor::check_recording`].
    recording_check: Arc<OnceLock<Result<(), String>>>,
}

/// A supervisor that was started before the environment of its shells was known.
#[derive(Debug)]
struct EarlySupervisor {
    process: StartedProcess,
    /// The environment of the supervisor's process.
    env: BTreeMap<OsString, OsString>,
}

/// A supervisor that was started, and the socket to it. Dropping it ends and reaps it.
#[derive(Debug)]
struct StartedProcess {
    // Must be dropped first, so that the supervisor ends before it is reaped.
    socket: UnixStream,
    process: SupervisorProcess,
}

/// Compares the launch methods only.
impl PartialEq for Supervisor {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method
    }
}

impl Eq for Supervisor {}

impl Hash for Supervisor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.method.hash(state);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum LaunchMethod {
    Program(SupervisorProgram),
    /// A thread instead of a process, for this reason.
    Fallback(String),
}

impl Supervisor {
    /// Returns a way to start supervisors: by re-executing this program. The token proves that this
    /// is safe.
    pub fn this_program(_: &Token) -> Self {
        Self::by(LaunchMethod::Program(SupervisorProgram {
            is_this_program: true,
            ..program_at(this_program())
        }))
    }

    /// Returns a way to start supervisors: by executing another program, which must call
    /// [`crate::supervisor::init`] at the top of its `main`. For hosts that do not control `main`:
    /// plugins, tests.
    ///
    /// Checks whether this program's working directory can be entered by its path. If a parent may
    /// not be searched, shells can only inherit the directory.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self::by(LaunchMethod::Program(program_at(program.into())))
    }

    /// Returns a way to start supervisors that stay in this program's process session and working
    /// directory, and pass on its inherited descriptors and ignored signals. Each serves a single
    /// shell, which [`SupervisorClient::start_directly`] starts. If such a supervisor is killed,
    /// its processes are not found. A fallback is returned unchanged.
    #[must_use]
    pub fn in_session(mut self) -> Self {
        if let LaunchMethod::Program(program) = &mut self.method {
            (program.keep_directory, program.in_session) = (true, true);
        }
        self
    }

    /// Returns a supervisor without a process: a thread of this program does the work, and
    /// identifies the processes of a call by their process session, an environment variable
    /// (`AGENT_BASH_CALL`), their parents and their output. For hosts that cannot call
    /// [`crate::supervisor::init`] and have no other program to start.
    ///
    /// The thread lacks the guarantees of a separate process. If this program is killed, its
    /// commands keep running. Background jobs and terminals are refused, and survivors lose the
    /// reader of their output when this program ends. A process that changes process session,
    /// environment, parent and output is neither named nor ended. If this program reaps children
    /// that are not its own (`waitpid(-1)`, SIGCHLD ignored), the exit status of commands is lost.
    pub fn fallback() -> Self {
        Self::fallback_because("this program has not called `supervisor::init()`")
    }

    /// Returns a supervisor without a process, as [`Self::fallback`] does. `reason` is reported to
    /// calls.
    pub fn fallback_because(reason: impl Into<String>) -> Self {
        Self::by(LaunchMethod::Fallback(reason.into()))
    }

    /// Returns the path of a program that may be started by another name, because it calls
    /// [`crate::supervisor::init`]. `None` without such a program, or if its file was removed.
    pub fn program_path(&self) -> Option<PathBuf> {
        let LaunchMethod::Program(program) = &self.method else {
            return None;
        };
        // Not the link in `/proc`: the kernel hides it if this process hides its memory.
        let path = if program.is_this_program {
            std::env::current_exe().ok()?
        } else {
            program.path.clone()
        };
        (path.is_absolute() && path.exists()).then_some(path)
    }

    fn by(method: LaunchMethod) -> Self {
        Self {
            method,
            unreaped: UnreapedCount::default(),
            early: Arc::default(),
            networks: Arc::default(),
            sandbox_report: Arc::default(),
            recording_check: Arc::default(),
        }
    }

    /// Checks whether the changes of shells can be recorded while the shells run. The first check
    /// starts a thread. Starting a shell may still fail for other reasons.
    ///
    /// # Errors
    /// The reason: the kernel lacks a facility, or this program is itself traced.
    pub fn check_recording(&self) -> Result<(), String> {
        if let LaunchMethod::Fallback(_) = self.method {
            return Err("tracing needs a separate supervisor process".to_owned());
        }
        let tried = || is_tracing_possible().map_err(|error| error.to_string());
        self.recording_check.get_or_init(tried).clone()
    }

    /// Waits until every supervisor started by this value and its clones has been reaped, except
    /// those that outlive their host on purpose. Call this function in a program that is about to
    /// exit and has dropped everything that starts or holds a supervisor. Otherwise, in a container
    /// whose process 1 does not reap, zombies would remain. Returns false if some are not reaped
    /// after `limit`. Blocks the thread.
    pub fn all_reaped(&self, limit: Duration) -> bool {
        // A supervisor that was started in advance and never used.
        drop(self.take_early());
        self.unreaped.is_zero_within(limit)
    }

    /// Starts a supervisor with `env` as its complete environment, and waits for its hello.
    ///
    /// # Errors
    /// The supervisor cannot be started, does not answer within a second, or has another version.
    /// No process remains.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub async fn launch(
        &self,
        env: &BTreeMap<OsString, OsString>,
        clock: &Arc<dyn Clock>,
    ) -> Result<SupervisorClient, StartError> {
        self.start(env, clock)?.handshake().await
    }

    /// Starts a supervisor without waiting for its hello, for which see
    /// [`SupervisorClient::handshake`]. Orders may be sent before that.
    ///
    /// # Errors
    /// The supervisor cannot be started.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn start(
        &self,
        env: &BTreeMap<OsString, OsString>,
        clock: &Arc<dyn Clock>,
    ) -> Result<SupervisorClient, StartError> {
        if let Some(EarlySupervisor {
            process,
            env: process_env,
        }) = self.take_early()
        {
            let mut client = self.client(process.socket, Ok(process.process), clock)?;
            client.set_environment(&process_env, env);
            client.set_proxy_environment(env);
            return Ok(client);
        }
        let client = match &self.method {
            LaunchMethod::Program(program) => {
                let StartedProcess { socket, process } = self.spawn(program, env)?;
                self.client(socket, Ok(process), clock)
            }
            LaunchMethod::Fallback(reason) => {
                let (socket, supervisor_end) = UnixStream::pair().map_err(spawn_error)?;
                start_fallback(env, supervisor_end.into()).map_err(spawn_error)?;
                self.client(socket, Err(reason.clone()), clock)
            }
        };
        tracing::debug!("a supervisor was started");
        let mut client = client?;
        client.set_proxy_environment(env);
        Ok(client)
    }

    /// Starts a supervisor in advance. The next [`Self::start`] or [`Self::launch`] of this value
    /// or a clone uses it, with any environment. For programs that make a single call: the call is
    /// parsed, checked and prepared meanwhile.
    ///
    /// If this program has one thread and no signal handlers, the supervisor is a fork of this
    /// program, which starts much faster; see `docs/design/0014-forked-supervisor.md`. Otherwise
    /// the program is executed again. In both cases, the supervisor has only the variables of `env`
    /// that identify the owner.
    pub fn start_ahead(&self, env: &BTreeMap<OsString, OsString>) {
        let LaunchMethod::Program(program) = &self.method else {
            return;
        };
        let own_variables = env.iter();
        let own_variables =
            own_variables.filter(|(name, _)| name.as_bytes().starts_with(OWN_VARIABLE_PREFIX));
        let env: BTreeMap<_, _> = own_variables
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let started = self.fork(program, &env).or_else(|error| {
            tracing::debug!(%error, "a supervisor is executed, not forked");
            self.spawn(program, &env)
        });
        match started {
            Ok(process) => {
                tracing::debug!("a supervisor was started");
                let mut early = lock(&self.early);
                *early = Some(EarlySupervisor { process, env });
            }
            // The call that needs a supervisor reports the reason.
            Err(error) => tracing::debug!(%error, "no supervisor could be started ahead"),
        }
    }

    fn take_early(&self) -> Option<EarlySupervisor> {
        let mut early = lock(&self.early);
        early.take()
    }

    fn client(
        &self,
        socket: UnixStream,
        process: Result<SupervisorProcess, String>,
        clock: &Arc<dyn Clock>,
    ) -> Result<SupervisorClient, StartError> {
        socket.set_nonblocking(true).map_err(StartError::Spawn)?;
        let socket = TokioStream::from_std(socket).map_err(spawn_error)?;
        Ok(SupervisorClient::new(
            process,
            OrderSender::new(socket),
            clock,
            &self.networks,
        ))
    }

    fn spawn(
        &self,
        program: &SupervisorProgram,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<StartedProcess, StartError> {
        let (socket, supervisor_end) = UnixStream::pair().map_err(spawn_error)?;
        let child = program.command(env, supervisor_end.into()).spawn();
        let child = child.map_err(spawn_error)?;
        Ok(self.started_process(socket, Pid::from_child(&child)))
    }

    #[cfg(target_os = "linux")]
    fn fork(
        &self,
        program: &SupervisorProgram,
        env: &BTreeMap<OsString, OsString>,
    ) -> io::Result<StartedProcess> {
        // A shell that cannot enter its directory by path enters it through `/proc` of its
        // supervisor. A forked process with hidden memory does not show it.
        let needs_readable_cwd = program.keep_directory && !program.in_session;
        if !program.is_this_program || needs_readable_cwd {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (socket, supervisor_end) = UnixStream::pair()?;
        let child = fork(program, env, supervisor_end.into())?;
        Ok(self.started_process(socket, child))
    }

    #[cfg(not(target_os = "linux"))]
    fn fork(
        &self,
        _: &SupervisorProgram,
        _: &BTreeMap<OsString, OsString>,
    ) -> io::Result<StartedProcess> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn started_process(&self, socket: UnixStream, child: Pid) -> StartedProcess {
        let process = SupervisorProcess::new(child, self.unreaped.add());
        StartedProcess { socket, process }
    }
}

fn program_at(path: PathBuf) -> SupervisorProgram {
    SupervisorProgram {
        path,
        is_this_program: false,
        keep_directory: is_cwd_unresolvable(),
        in_session: false,
    }
}

fn spawn_error(error: io::Error) -> StartError {
    StartError::Spawn(with_advice(error))
}
