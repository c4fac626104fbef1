//! Starting a supervisor: a process (of this program or another one), or a thread if there can be none.

use super::client::Supervised;
use super::link::Link;
use super::reap::Count;
use super::shell::StartError;
use crate::here::is_cut_off;
use crate::refused::explained;
use crate::supervisor::server::{start_fallback, this_program};
use crate::supervisor::{HERE, NAME, Token};
use agent_bash_core::Clock;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::UnixStream as TokioStream;

/// How supervisors are started.
#[derive(Debug, Clone)]
pub struct Supervisor {
    how: How,
    /// Those that this one and its clones have started.
    unreaped: Count,
    /// One that was started ahead, for whoever asks first.
    ahead: Arc<Mutex<Option<Ahead>>>,
}

/// A supervisor that was started before its environment was known.
#[derive(Debug)]
struct Ahead {
    supervised: Supervised,
    /// What it has of it.
    env: BTreeMap<OsString, OsString>,
}

/// Variables with this prefix are ours.
const OWN: &[u8] = b"AGENT_BASH_";

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
        Self {
            how,
            unreaped: Count::default(),
            ahead: Arc::default(),
        }
    }

    /// Waits until every supervisor is reaped that this one and its clones have started, but those that were left to go on
    /// without their host. For a program that is about to end, when everything that starts or holds a supervisor was dropped:
    /// where process 1 does not reap, as in a container whose first program is no init, who was not reaped stays a zombie. False
    /// if some were left after `limit`. Blocks the thread.
    pub fn all_reaped(&self, limit: Duration) -> bool {
        // Nobody has asked for it.
        drop(self.take_ahead());
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
        self.start(env, clock)?.greeted().await
    }

    /// As [`Self::launch`], without waiting for its hello: [`Supervised::greeted`] does. It may have orders before.
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
    ) -> Result<Supervised, StartError> {
        match self.take_ahead() {
            Some(Ahead {
                mut supervised,
                env: has,
            }) => {
                supervised.set_environment(&has, env);
                Ok(supervised)
            }
            None => self.start_another(env, clock),
        }
    }

    /// Starts one that the next [`Self::start`] or [`Self::launch`] (of this one or a clone) takes, whatever environment it
    /// asks for: its shells get that. It has only our own variables of `env` itself, by which it can be told whose it is. For a
    /// program that makes one call, which can be read, judged and prepared meanwhile.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn start_ahead(&self, env: &BTreeMap<OsString, OsString>, clock: &Arc<dyn Clock>) {
        if matches!(self.how, How::Fallback(_)) {
            return;
        }
        let is_own = |name: &OsString| name.as_bytes().starts_with(OWN);
        let own = env.iter().filter(|(name, _)| is_own(name));
        let env: BTreeMap<_, _> = own
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match self.start_another(&env, clock) {
            Ok(supervised) => {
                let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
                *ahead = Some(Ahead { supervised, env });
            }
            // Whoever needs one will see why there is none.
            Err(error) => tracing::debug!(%error, "no supervisor could be started ahead"),
        }
    }

    fn take_ahead(&self) -> Option<Ahead> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.take()
    }

    fn start_another(
        &self,
        env: &BTreeMap<OsString, OsString>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Supervised, StartError> {
        let (ours, theirs) = UnixStream::pair().map_err(spawn_error)?;
        ours.set_nonblocking(true).map_err(StartError::Spawn)?;
        let socket = TokioStream::from_std(ours).map_err(spawn_error)?;
        let what = match &self.how {
            How::Program { path, here } => {
                let child = spawn(path, *here, env, theirs.into()).map_err(spawn_error)?;
                Ok((child, self.unreaped.one()))
            }
            How::Fallback(reason) => {
                start_fallback(env, theirs.into()).map_err(spawn_error)?;
                Err(reason.clone())
            }
        };
        Ok(Supervised::new(what, Link::over(socket), clock))
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
    command
        .arg0(NAME)
        .args(here.then_some(HERE))
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
