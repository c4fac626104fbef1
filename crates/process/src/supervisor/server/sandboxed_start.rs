//! Starting a shell in a box, in a trial, or both: this program, started again as the launcher of a
//! box, becomes the shell.

use super::shell_command::ShellCommand;
use super::this_program::this_program;
use super::trace::Tracer;
use crate::supervisor::protocol::{ShellSandbox, ShellStart};
use crate::supervisor::shell_directory::ShellDirectory;
use crate::temporary::NoTemporaryDirectory;
use agent_bash_core::sandbox;
use agent_bash_sandbox::{LauncherStart, Order, SandboxError, WatchScope};
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

/// The time limit of each message of a launcher, which waits only for the kernel.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a shell was not started.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotLaunched {
    /// The system refused something.
    #[error(transparent)]
    System(#[from] io::Error),
    /// There is no place for the shell's own directory.
    #[error(transparent)]
    Directory(#[from] NoTemporaryDirectory),
    /// The sandbox or the trial cannot be set up.
    #[error(transparent)]
    Box(#[from] SandboxError),
}

impl From<rustix::io::Errno> for NotLaunched {
    fn from(error: rustix::io::Errno) -> Self {
        Self::System(error.into())
    }
}

/// The start of a sandboxed shell.
#[derive(Debug)]
pub(super) struct SandboxedStart {
    held_back: bool,
    scope: WatchScope,
    launcher: PathBuf,
    start: LauncherStart,
    directory: ShellDirectory,
    /// The further writable directories of this shell.
    writable: Vec<PathBuf>,
    /// The hidden paths of its sandbox.
    hidden: Vec<PathBuf>,
}

/// A box that is closed, a trial that has begun, or nothing.
#[derive(Debug, Default)]
pub(super) struct StartConfinement {
    /// The report of the sandbox.
    pub(super) sandbox: Option<sandbox::Report>,
    /// True if the shell's changes are held back.
    pub(super) held_back: bool,
    /// The tracer, or the reason why the shell cannot be traced; `None` if it was not to be traced.
    pub(super) watched: Option<Result<Tracer, String>>,
    /// The shell's own directory.
    pub(super) directory: Option<ShellDirectory>,
    /// The shell's mounts, if it has its own; see [`mounts_of`].
    pub(super) mounts: Option<OwnedFd>,
}

impl SandboxedStart {
    /// Makes the shell's own directory, and writes down what its launcher is to do. `inherited`:
    /// the shell's descriptors besides the standard three; `network`: the way into the one that it
    /// shares. `None` for a shell that is kept in nothing: to be watched it takes no launcher.
    pub(super) fn prepare(
        start: &ShellStart,
        inherited: &[i32],
        network: Option<&OwnedFd>,
    ) -> Result<Option<Self>, NotLaunched> {
        let kept = |it: &&ShellSandbox| it.plan.is_some() || it.trial.is_some();
        let Some(wanted) = start.sandbox.as_ref().filter(kept) else {
            return Ok(None);
        };
        let directory = ShellDirectory::make(&wanted.directory, wanted.plan.as_ref())?;
        // Before the call's own variables, which take precedence.
        let temporary = wanted.plan.is_some().then(|| directory.temporary());
        let temporary = temporary.map(|path| ("TMPDIR".into(), Some(path.into())));
        let changes = start.env_changes.iter().cloned();
        let own = wanted.writable.iter().cloned();
        let order = Order {
            plan: wanted.plan.clone(),
            trial: wanted.trial.clone(),
            trace: wanted.trace,
            writable: [directory.path().to_owned()]
                .into_iter()
                .chain(own)
                .collect(),
            env: temporary.into_iter().chain(changes).collect(),
            inherited: inherited.to_vec(),
            network: start.network.zip(network.map(AsRawFd::as_raw_fd)),
        };
        if let Some(network) = network {
            // By the launcher, which has no other way to it.
            rustix::io::fcntl_setfd(network, FdFlags::empty())?;
        }
        Ok(Some(Self {
            held_back: wanted.trial.is_some(),
            scope: order.scope().unwrap_or(WatchScope::Changes),
            launcher: this_program(),
            start: LauncherStart::new(&order)?,
            directory,
            writable: wanted.writable.clone(),
            hidden: match &wanted.plan {
                Some(plan) => plan.hidden.clone(),
                None => Vec::new(),
            },
        }))
    }

    /// The pipe that the shell reports in: a FIFO, as nothing of the supervisor's can be opened
    /// from a box, nor from another namespace of users.
    pub(super) fn report(&self) -> PathBuf {
        self.directory.report()
    }

    /// The command by which a launcher becomes this shell. It has nothing of the call's
    /// environment: that must not load anything into a process that is not confined yet.
    pub(super) fn command(&self, shell: ShellCommand<'_>) -> ShellCommand<'_> {
        let words = self.start.words(shell.program.as_os_str(), shell.arg0);
        ShellCommand {
            program: &self.launcher,
            arg0: LauncherStart::name(),
            args: words.into_iter().chain(shell.args).collect(),
            env_changes: &[],
            group: shell.group,
        }
    }

    /// Waits until the shell runs in it; if it never will, the launcher is killed.
    pub(super) fn closed(self, launcher: i32) -> Result<StartConfinement, SandboxError> {
        let held_back = self.held_back;
        let reported = self.start.report(MESSAGE_TIMEOUT);
        let closed = reported.and_then(|ready| {
            let watched = ready.watched.map(|watched| {
                watching(
                    watched,
                    self.scope,
                    &self.directory,
                    self.writable,
                    self.hidden,
                )
            });
            Ok(StartConfinement {
                sandbox: ready.sandbox,
                held_back,
                watched: watched.transpose()?,
                directory: Some(self.directory),
                // A trial's must be gone before what it held back is looked at.
                mounts: if held_back { None } else { mounts_of(launcher) },
            })
        });
        if let (Err(_), Some(pid)) = (&closed, Pid::from_raw(launcher)) {
            // The child has not been reaped, so the pid is still its own.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        closed
    }
}

/// Keeps the shell's mounts while this is open. Unmounting waits for all processors, and an ending
/// shell would delay the report of its end.
fn mounts_of(shell: i32) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(format!("/proc/{shell}/ns/mnt"), flags, Mode::empty()).ok()
}

/// Begins to watch. Where the shell cannot be watched although its calls wait, it must not run:
/// they would fail.
fn watching(
    watched: Result<OwnedFd, String>,
    scope: WatchScope,
    directory: &ShellDirectory,
    mut apart: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
) -> Result<Result<Tracer, String>, SandboxError> {
    let listener = match watched {
        Ok(listener) => listener,
        Err(reason) => return Ok(Err(reason)),
    };
    apart.push(directory.path().to_owned());
    Tracer::start(listener, scope, apart, hidden)
        .map(Ok)
        .map_err(|error| SandboxError::Unwatched(error.to_string()))
}
