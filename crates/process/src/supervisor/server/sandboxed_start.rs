//! Starts a shell in a sandbox, in a trial, or both: this program, started again as a launcher,
//! becomes the shell.

use super::shell_command::ShellCommand;
use super::this_program::this_program;
use super::trace::{self, Tracer};
use crate::supervisor::protocol::{ShellSandbox, ShellStart};
use crate::supervisor::proxy_variables::proxy_variables;
use crate::supervisor::shell_directory::{ShellDirectory, TEMPORARY_VARIABLES};
use crate::temporary::NoTemporaryDirectory;
use agent_bash_core::sandbox::{self, Network, Plan};
use agent_bash_sandbox::{LauncherStart, Order, SandboxError, SocketGuard, TraceScope};
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of each message of a launcher, which waits only for the kernel.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why a sandbox does not start with such a file.
const UNCONFINED_FILE_REASON: &str = "the sandbox cannot confine an inherited directory, network \
    socket, datagram socket, socket without a peer, pty master, device or file of the kernel, by \
    which its processes could reach files, addresses and processes outside; pass the data through \
    a pipe";

/// Why a shell was not started.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotLaunched {
    /// The system refused something.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The shell's own directory cannot be created.
    #[error(transparent)]
    Directory(#[from] NoTemporaryDirectory),
    /// The sandbox or the trial cannot be set up.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
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
    /// The scope of the trace, if the shell is traced.
    scope: Option<TraceScope>,
    launcher: PathBuf,
    start: LauncherStart,
    directory: ShellDirectory,
    /// Directories whose changes are not recorded.
    unrecorded: Vec<PathBuf>,
    /// The plan of the shell's sandbox.
    plan: Option<Plan>,
}

/// The confinement of a started shell: a sandbox, a trial, both or neither.
#[derive(Debug, Default)]
pub(super) struct StartConfinement {
    pub(super) sandbox: Option<sandbox::Report>,
    /// True if the shell's changes are held back.
    pub(super) held_back: bool,
    /// The tracer, or the reason why the shell cannot be traced; `None` if no trace was requested.
    pub(super) tracer: Option<Result<Tracer, String>>,
    /// The shell's own directory.
    pub(super) directory: Option<ShellDirectory>,
    /// The shell's mounts, if it has its own; see [`mounts_of`].
    pub(super) mounts: Option<OwnedFd>,
}

impl SandboxedStart {
    /// Creates the shell's own directory and the order for its launcher. `inherited` are the
    /// shell's descriptors except the standard three; `network` is the entrance to a shared
    /// network. `None` for a shell without sandbox and trial, which needs no launcher.
    pub(super) fn prepare(
        start: &ShellStart,
        inherited: &[i32],
        network: Option<&OwnedFd>,
    ) -> Result<Option<Self>, NotLaunched> {
        let is_confined =
            |sandbox: &&ShellSandbox| sandbox.plan.is_some() || sandbox.trial.is_some();
        let Some(confinement) = start.sandbox.as_ref().filter(is_confined) else {
            return Ok(None);
        };
        Self::check_inherited(start, inherited.iter().copied())?;
        if !Path::new("/proc/self/fd").exists() {
            return Err(SandboxError::missing_facility("a mounted /proc").into());
        }
        let directory = ShellDirectory::create(&confinement.directory, confinement.plan.as_ref())?;
        // First in the list, so that the call's variables take precedence.
        let temporary = confinement.plan.is_some().then(|| directory.temporary());
        let temporary = temporary.iter().flat_map(|path| {
            TEMPORARY_VARIABLES.map(|name| (name.into(), Some(path.clone().into())))
        });
        let changes = start.env_changes.iter().cloned();
        let caches = confinement.plan.as_ref().map(|plan| &plan.caches);
        let cache_variables = caches.iter().flat_map(|caches| &caches.variables);
        let cache_variables =
            cache_variables.map(|(name, value)| (name.clone(), Some(value.clone())));
        let proxy_variables = confinement.plan.as_ref().map(proxy_variables);
        let proxy_variables = proxy_variables.unwrap_or_default().into_iter();
        let proxy_variables = proxy_variables.map(|(name, value)| (name, Some(value)));
        let redirected = confinement
            .plan
            .iter()
            .filter_map(|plan| plan.git_config.as_ref());
        let redirected = redirected.filter(|_| confinement.trial.is_none());
        let mut unrecorded = confinement.writable.clone();
        unrecorded.extend(caches.iter().flat_map(|caches| &caches.writable).cloned());
        let order = Order {
            plan: confinement.plan.clone(),
            trial: confinement.trial.clone(),
            trace: confinement.trace,
            observes_refusals: confinement
                .plan
                .as_ref()
                .is_some_and(Plan::reports_refusals),
            writable: [directory.path().to_owned()]
                .into_iter()
                .chain(confinement.writable.iter().cloned())
                .chain(redirected.map(|file| file.directory.clone()))
                .collect(),
            env: temporary
                .chain(cache_variables)
                .chain(proxy_variables)
                .chain(changes)
                .collect(),
            inherited: inherited.to_vec(),
            network: start.network.zip(network.map(AsRawFd::as_raw_fd)),
        };
        if let Some(network) = network {
            // The launcher must inherit the descriptor.
            rustix::io::fcntl_setfd(network, FdFlags::empty())?;
        }
        Ok(Some(Self {
            held_back: confinement.trial.is_some(),
            scope: order.scope(),
            launcher: this_program(),
            start: LauncherStart::new(&order)?,
            directory,
            unrecorded,
            plan: order.plan,
        }))
    }

    /// Refuses inherited files by which a process could leave its sandbox, unless there is no
    /// sandbox. Sockets of the host's network are allowed with the plan's network `on`.
    pub(super) fn check_inherited(
        start: &ShellStart,
        numbers: impl IntoIterator<Item = i32>,
    ) -> Result<(), SandboxError> {
        let sandbox = start.sandbox.as_ref();
        let Some(plan) = sandbox.and_then(|sandbox| sandbox.plan.as_ref()) else {
            return Ok(());
        };
        if trace::inherits_unconfined_file(numbers, plan.network == Network::On) {
            return Err(SandboxError::Reported(UNCONFINED_FILE_REASON.to_owned()));
        }
        Ok(())
    }

    /// Returns the path of the report pipe. It is a FIFO: descriptors of the supervisor cannot be
    /// opened from a sandbox or another user namespace.
    pub(super) fn report(&self) -> PathBuf {
        self.directory.report()
    }

    /// Returns the command that starts this shell: in a sandbox the command of a launcher that
    /// becomes the shell. That command has no variables of the call, which could load code into a
    /// process that is not confined yet.
    pub(super) fn command<'a>(
        sandboxed: Option<&'a Self>,
        shell: ShellCommand<'a>,
    ) -> ShellCommand<'a> {
        let Some(sandboxed) = sandboxed else {
            return shell;
        };
        let words = sandboxed.start.words(shell.program.as_os_str(), shell.arg0);
        ShellCommand {
            program: &sandboxed.launcher,
            arg0: LauncherStart::name(),
            args: words.into_iter().chain(shell.args).collect(),
            env_changes: &[],
            group: shell.group,
        }
    }

    /// Waits until the shell runs in its sandbox. If the start fails, the launcher is killed.
    pub(super) fn wait_until_started(
        self,
        launcher: i32,
    ) -> Result<StartConfinement, SandboxError> {
        let held_back = self.held_back;
        let reported = self.start.report(MESSAGE_TIMEOUT);
        let started = reported.and_then(|ready| {
            let guard = ready.socket_table.map(SocketGuard::new).transpose();
            let guard = guard.map_err(|error| unguarded(&error))?;
            let tracer = match (ready.listener, self.scope, guard) {
                // The listener exists only for the guard.
                (listener, None, Some(guard)) => {
                    let listener = listener.and_then(Result::ok);
                    let listener = listener.ok_or(io::ErrorKind::InvalidData.into());
                    listener
                        .and_then(|listener| guard.serve(listener))
                        .map_err(|error| unguarded(&error))?;
                    None
                }
                // The sandbox has no Unix sockets.
                (_, None, None) => None,
                (listener, Some(scope), guard) => listener.map(|listener| {
                    let directory = &self.directory;
                    start_tracer(
                        listener, scope, guard, directory, self.unrecorded, self.plan,
                    )
                }),
            };
            Ok(StartConfinement {
                sandbox: ready.sandbox,
                held_back,
                tracer: tracer.transpose()?,
                directory: Some(self.directory),
                // The mounts of a trial must end before the held changes are read.
                mounts: if held_back { None } else { mounts_of(launcher) },
            })
        });
        if let (Err(_), Some(pid)) = (&started, Pid::from_raw(launcher)) {
            // The launcher has not been reaped, so its pid was not reused.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        started
    }
}

/// Opens the shell's mount namespace, which keeps the mounts while it is open. When the kernel
/// unmounts, it waits for all processors, which would delay the end of the shell.
fn mounts_of(shell: i32) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(format!("/proc/{shell}/ns/mnt"), flags, Mode::empty()).ok()
}

/// Returns the error for a sandbox whose Unix sockets cannot be guarded. Such a sandbox does not
/// start.
fn unguarded(error: &io::Error) -> SandboxError {
    SandboxError::Reported(format!("guarding its Unix sockets: {error}"))
}

/// Starts the tracer. Returns an error if the shell's system calls already wait for a tracer that
/// cannot start: such a shell must not run.
fn start_tracer(
    listener: Result<OwnedFd, String>,
    scope: TraceScope,
    guard: Option<SocketGuard>,
    directory: &ShellDirectory,
    mut unrecorded: Vec<PathBuf>,
    plan: Option<Plan>,
) -> Result<Result<Tracer, String>, SandboxError> {
    let listener = match listener {
        Ok(listener) => listener,
        Err(reason) => return Ok(Err(reason)),
    };
    unrecorded.push(directory.path().to_owned());
    Tracer::start(listener, scope, guard, unrecorded, plan)
        .map(Ok)
        .map_err(|error| SandboxError::Untraced(error.to_string()))
}
