//! Starting a supervisor: a process (of this program or another one), or a thread if there can be
//! none.

use super::client::SupervisorClient;
use super::link::OrderSender;
use super::reap::{SupervisorProcess, UnreapedCount};
use super::start_error::StartError;
use crate::refused::explained;
#[cfg(target_os = "linux")]
use crate::supervisor::server::fork;
use crate::supervisor::server::{
    SupervisorProgram, is_tracing_possible, start_fallback, this_program,
};
use crate::supervisor::{OWN_VARIABLE_PREFIX, Token};
use crate::unresolvable_cwd::is_cut_off;
use agent_bash_core::sandbox::Report;
use agent_bash_core::{Clock, NotStarted};
use agent_bash_sandbox::Networks;
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::net::UnixStream as TokioStream;
use tokio::sync::OnceCell;

/// How to start supervisors.
#[derive(Debug, Clone)]
pub struct Supervisor {
    how: LaunchMethod,
    /// Supervisors started by this value and its clones that are not reaped yet.
    unreaped: UnreapedCount,
    /// A supervisor that was started ahead, for the first caller.
    ahead: Arc<Mutex<Option<EarlySupervisor>>>,
    /// The shared networks of sandboxes.
    networks: Arc<Networks>,
    /// The report of a sandbox, once it was requested.
    pub(super) confines: Arc<OnceCell<Result<Report, NotStarted>>>,
    /// The answer to whether processes can be traced, once it was requested.
    watches: Arc<OnceLock<Result<(), String>>>,
}

/// A supervisor that was started before its environment was known.
#[derive(Debug)]
struct EarlySupervisor {
    process: StartedProcess,
    /// The environment that it has.
    env: BTreeMap<OsString, OsString>,
}

/// A supervisor that was started, and the socket to it. Dropping it ends and reaps it.
#[derive(Debug)]
struct StartedProcess {
    // Dropped first: the supervisor then ends.
    socket: UnixStream,
    process: SupervisorProcess,
}

/// Compares how they are started.
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
enum LaunchMethod {
    Program(SupervisorProgram),
    /// A thread instead of a process, for this reason.
    Fallback(String),
}

impl Supervisor {
    /// Starts supervisors by re-executing this program, which the token proves to be safe.
    pub fn this_program(_: &Token) -> Self {
        Self::by(LaunchMethod::Program(SupervisorProgram {
            is_this_one: true,
            ..program_at(this_program())
        }))
    }

    /// Starts supervisors by another program, which must call [`crate::supervisor::init`] at the
    /// top of its `main`. For hosts that do not control `main`: plugins, tests.
    ///
    /// Looks whether the path of the directory in which this program stands leads there. Below a
    /// parent that may not be searched it does not, and shells get there only by inheriting it.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self::by(LaunchMethod::Program(program_at(program.into())))
    }

    /// Returns a way to start supervisors that stay in this program's process session and working
    /// directory, and pass on its inherited descriptors and ignored signals. Each serves a single
    /// shell, which [`SupervisorClient::start_directly`] starts. If such a supervisor is killed,
    /// its processes are not found. A fallback stays as it is.
    #[must_use]
    pub fn in_session(mut self) -> Self {
        if let LaunchMethod::Program(program) = &mut self.how {
            (program.keep_cwd, program.in_session) = (true, true);
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

    /// Returns a launcher for the fallback with a reason, which is reported to calls.
    pub fn fallback_because(reason: impl Into<String>) -> Self {
        Self::by(LaunchMethod::Fallback(reason.into()))
    }

    fn by(how: LaunchMethod) -> Self {
        Self {
            how,
            unreaped: UnreapedCount::default(),
            ahead: Arc::default(),
            networks: Arc::default(),
            confines: Arc::default(),
            watches: Arc::default(),
        }
    }

    /// Checks that the changes of shells can be recorded while they run. That costs a thread the
    /// first time. There may be other obstacles, which show when a shell is started.
    ///
    /// # Errors
    /// Why not: a kernel without the means, or one that watches this program itself.
    pub fn watches(&self) -> Result<(), String> {
        if let LaunchMethod::Fallback(_) = self.how {
            return Err("it takes a supervisor of its own".to_owned());
        }
        let tried = || is_tracing_possible().map_err(|error| error.to_string());
        self.watches.get_or_init(tried).clone()
    }

    /// Waits until every supervisor started by this value and its clones has been reaped, except
    /// those that outlive their host on purpose. For a program that is about to exit, after
    /// everything that starts or holds a supervisor was dropped: if process 1 does not reap, as in
    /// a container without an init, a supervisor that is not reaped remains a zombie. Returns false
    /// if some are left after `limit`. Blocks the thread.
    pub fn all_reaped(&self, limit: Duration) -> bool {
        // The supervisor was started ahead and never used.
        drop(self.take_ahead());
        self.unreaped.is_none_within(limit)
    }

    /// Starts one with `env` as its complete environment, and waits for its hello.
    ///
    /// # Errors
    /// It cannot be started, does not answer within a second, or has another version. Nothing is
    /// left of it then.
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
    /// It cannot be started.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn start(
        &self,
        env: &BTreeMap<OsString, OsString>,
        clock: &Arc<dyn Clock>,
    ) -> Result<SupervisorClient, StartError> {
        if let Some(EarlySupervisor { process, env: has }) = self.take_ahead() {
            let mut supervised = self.supervised(process.socket, Ok(process.process), clock)?;
            supervised.set_environment(&has, env);
            return Ok(supervised);
        }
        let supervised = match &self.how {
            LaunchMethod::Program(program) => {
                let StartedProcess { socket, process } = self.spawn(program, env)?;
                self.supervised(socket, Ok(process), clock)
            }
            LaunchMethod::Fallback(reason) => {
                let (socket, theirs) = UnixStream::pair().map_err(spawn_error)?;
                start_fallback(env, theirs.into()).map_err(spawn_error)?;
                self.supervised(socket, Err(reason.clone()), clock)
            }
        };
        tracing::debug!("a supervisor was started");
        supervised
    }

    /// Starts a supervisor in advance, which the next [`Self::start`] or [`Self::launch`] (of this
    /// one or a clone) uses, whatever environment that asks for: its shells get it. Useful for
    /// programs that make a single call, which can be parsed, judged and prepared meanwhile.
    ///
    /// As long as this program has one thread and no signal handlers, the supervisor is a fork of
    /// it, which starts in a fraction of the time; see `docs/design/0014-forked-supervisor.md`.
    /// Otherwise the program is executed again. Either has only our own variables of `env`, which
    /// identify the owner.
    pub fn start_ahead(&self, env: &BTreeMap<OsString, OsString>) {
        let LaunchMethod::Program(program) = &self.how else {
            return;
        };
        let own = env.iter();
        let own = own.filter(|(name, _)| name.as_bytes().starts_with(OWN_VARIABLE_PREFIX));
        let env: BTreeMap<_, _> = own
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let started = self.fork(program, &env).or_else(|error| {
            tracing::debug!(%error, "a supervisor is executed, not forked");
            self.spawn(program, &env)
        });
        match started {
            Ok(process) => {
                tracing::debug!("a supervisor was started");
                let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
                *ahead = Some(EarlySupervisor { process, env });
            }
            // The call that needs a supervisor reports the reason.
            Err(error) => tracing::debug!(%error, "no supervisor could be started ahead"),
        }
    }

    fn take_ahead(&self) -> Option<EarlySupervisor> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.take()
    }

    fn supervised(
        &self,
        socket: UnixStream,
        process: Result<SupervisorProcess, String>,
        clock: &Arc<dyn Clock>,
    ) -> Result<SupervisorClient, StartError> {
        socket.set_nonblocking(true).map_err(StartError::Spawn)?;
        let socket = TokioStream::from_std(socket).map_err(spawn_error)?;
        Ok(SupervisorClient::new(
            process,
            OrderSender::over(socket),
            clock,
            &self.networks,
        ))
    }

    fn spawn(
        &self,
        program: &SupervisorProgram,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<StartedProcess, StartError> {
        let (socket, theirs) = UnixStream::pair().map_err(spawn_error)?;
        let child = program.command(env, theirs.into()).spawn();
        let child = child.map_err(spawn_error)?;
        Ok(self.started(socket, Pid::from_child(&child)))
    }

    #[cfg(target_os = "linux")]
    fn fork(
        &self,
        program: &SupervisorProgram,
        env: &BTreeMap<OsString, OsString>,
    ) -> io::Result<StartedProcess> {
        // A shell that cannot enter its directory by path enters that of its supervisor, which a
        // process without readable memory does not show.
        let is_entered = program.keep_cwd && !program.in_session;
        if !program.is_this_one || is_entered {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (socket, theirs) = UnixStream::pair()?;
        let child = fork(program, env, theirs.into())?;
        Ok(self.started(socket, child))
    }

    #[cfg(not(target_os = "linux"))]
    fn fork(
        &self,
        _: &SupervisorProgram,
        _: &BTreeMap<OsString, OsString>,
    ) -> io::Result<StartedProcess> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn started(&self, socket: UnixStream, child: Pid) -> StartedProcess {
        let process = SupervisorProcess::new(child, self.unreaped.one());
        StartedProcess { socket, process }
    }
}

fn program_at(path: PathBuf) -> SupervisorProgram {
    SupervisorProgram {
        path,
        is_this_one: false,
        keep_cwd: is_cut_off(),
        in_session: false,
    }
}

fn spawn_error(error: io::Error) -> StartError {
    StartError::Spawn(explained(error))
}
