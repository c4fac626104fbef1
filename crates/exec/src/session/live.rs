//! The running shell of a session.

use super::directory::{STDERR_FIFO, STDOUT_FIFO, SessionDirectory, open_fifo, remove};
use super::record;
use super::remembered::RememberedState;
use super::shell_channel::{ShellChannel, receive_from_shell, receive_when_ready, register_socket};
use crate::options::ShellCacheOptions;
use crate::snapshot::Snapshot;
use agent_bash_call::launch;
use agent_bash_core::{Clock, NotStarted, RunSpec, StreamId, Streams};
use agent_bash_process::supervisor::{
    Disconnected, Event, ShellEnd, ShellSandbox, ShellStart, StartError, SupervisorClient,
};
use agent_bash_process::{LoneShellCheck, SandboxWatch, make_fifo, shrink_pipe, signal_name};
use rustix::fs::{FileType, OFlags};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A running shell, which waits for records.
#[derive(Debug)]
pub(super) struct LiveShell {
    pub(super) supervised: SupervisorClient,
    pub(super) pid: u32,
    pub(super) channel: ShellChannel,
    /// The socket for the shell's exports. The shell writes its exports after a call, and the host
    /// reads them before the next call.
    exports: OwnedFd,
    /// True if the exports after the last call have not been read yet.
    has_pending_exports: bool,
    /// The directory of the shell's FIFOs; removed along with the shell.
    pub(super) directory: SessionDirectory,
    /// True until the shell has run its first script.
    pub(super) is_fresh: bool,
    /// The snapshot that the shell has loaded.
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// The commands that bring the shell to `snapshot`, for its next record.
    pub(super) snapshot_changes: Vec<u8>,
    /// The commands by which managers choose versions in the directory of the next record.
    pub(super) prompt_hooks: Vec<u8>,
    /// The directory in which managers last chose versions as at a prompt.
    pub(super) prompt_cwd: Option<PathBuf>,
    lone_shell_check: LoneShellCheck,
    /// `$?` after the last call.
    pub(super) last_status: i32,
    /// The sandbox of the shell, if the shell has a sandbox.
    pub(super) sandbox: Option<SandboxWatch>,
    /// The reason why the shell's changes cannot be recorded, if so.
    pub(super) untraced_reason: Option<String>,
}

/// A FIFO that the shell opens by path, and the host's ends of it.
#[derive(Debug)]
pub(super) struct ShellFifo {
    pub(super) read: OwnedFd,
    /// Prevents EOF when the shell closes the FIFO before it reports.
    pub(super) write: OwnedFd,
    pub(super) path: PathBuf,
}

impl ShellFifo {
    fn open(directory: &SessionDirectory, name: &str) -> io::Result<Self> {
        let host_path = directory.host_path(name);
        Ok(Self {
            read: open_fifo(&host_path, OFlags::RDONLY)?,
            write: open_fifo(&host_path, OFlags::WRONLY)?,
            path: directory.shell_path(name),
        })
    }
}

impl LiveShell {
    /// Starts a shell in `/`; its first record changes to the session's directory.
    pub(super) async fn start(
        spec: &RunSpec,
        options: &ShellCacheOptions,
        remembered: Option<&RememberedState>,
        snapshot: Option<Arc<Snapshot>>,
    ) -> Result<Self, NotStarted> {
        let failed = |error: &dyn std::fmt::Display| {
            let reason = error.to_string();
            NotStarted::SessionShell { reason }
        };
        let directory = SessionDirectory::make(&options.directory, spec.sandbox.as_deref())
            .map_err(|error| failed(&error))?;
        let mut load = Vec::new();
        let mut snapshot_changes = Vec::new();
        if let Some(snapshot) = &snapshot {
            load = snapshot.load_command();
            // The restored exports are complete, and may be those of another project.
            let restored = remembered.filter(|remembered| !remembered.exports.is_empty());
            let old = restored.and_then(|remembered| remembered.snapshot.as_deref());
            if let Some(old) = old {
                load.extend(snapshot.unset_exports(old));
                snapshot_changes = snapshot.replace_hooks(old);
            }
        }
        let base = &spec.env.base;
        let mut supervised = launch(&options.supervisor, base, &options.clock, true)
            .await
            .map_err(|error| failed(&error))?;
        // The shell has no output: the output of a call goes through FIFOs.
        let start = ShellStart {
            limits: spec.limits,
            reports: true,
            sandbox: sandbox_of(spec, options, &directory).map_err(|error| failed(&error))?,
            ..ShellStart::of(&spec.shell, record::shell_arguments(&directory, &load))
        };
        let fds = supervised
            .start(start, None)
            .await
            .map_err(|error| match error {
                StartError::Sandbox(_) | StartError::SandboxLacks(_) => error.into(),
                other => failed(&other),
            })?;
        // A single byte fills the shrunk pipe, so the pipe is writable again once the byte was
        // read.
        shrink_pipe(&fds.control);
        let supervisor_pid = supervised.pid();
        let reports = fds
            .reports
            .ok_or_else(|| failed(&"the supervisor opened no report sockets"))?;
        let channel = ShellChannel::new(fds.script, fds.control, reports.status, fds.pid)
            .map_err(|error| failed(&error))?;
        tracing::debug!(
            pid = fds.pid,
            restored = remembered.is_some(),
            "a session's shell has started"
        );
        let sandbox = SandboxWatch::of(
            fds.sandbox,
            spec.sandbox.as_deref(),
            fds.pid,
            supervised.refusals(),
        );
        let restored = snapshot.as_deref().filter(|_| remembered.is_some());
        let prompt_hooks = restored.map(Snapshot::prompt_hooks).unwrap_or_default();
        Ok(Self {
            supervised,
            pid: fds.pid,
            channel,
            exports: reports.exports,
            has_pending_exports: false,
            directory,
            is_fresh: true,
            snapshot,
            snapshot_changes,
            prompt_hooks,
            prompt_cwd: None,
            lone_shell_check: LoneShellCheck::new(fds.pid, supervisor_pid),
            last_status: 0,
            sandbox,
            untraced_reason: if is_traced(spec) {
                fds.untraced_reason
            } else {
                Some(UNTRACED_REASON.to_owned())
            },
        })
    }

    /// Plans the change to the snapshot of the call's project. The next record makes the change.
    pub(super) fn change_snapshot(&mut self, spec: &RunSpec, snapshot: Option<&Arc<Snapshot>>) {
        let Some(snapshot) = snapshot else { return };
        let old = self.snapshot.as_ref();
        if old.is_some_and(|old| Arc::ptr_eq(old, snapshot)) {
            return;
        }
        let base = spec.env.base.get(OsStr::new("PATH"));
        let base = base.map_or(OsStr::new(""), OsString::as_os_str);
        let changes = snapshot.replace(self.snapshot.as_deref(), base);
        self.snapshot_changes.extend(changes);
        self.prompt_hooks = snapshot.prompt_hooks();
        self.snapshot = Some(Arc::clone(snapshot));
    }

    /// Plans the choice of versions by a prompt, if this script may have called a manager.
    pub(super) fn plan_prompt_hooks(&mut self, script: &str) {
        let snapshot = self.snapshot.as_ref();
        let hooks = snapshot.map(|snapshot| snapshot.prompt_hooks_after(script));
        self.prompt_hooks = hooks.unwrap_or_default();
    }

    /// Returns the hooks of the prompt that a terminal would have shown where the last script
    /// ended, if the versions depend on each prompt and the next record does not call these hooks
    /// there. `last` is the state after the last script and its directory, `next` the directory of
    /// the next script.
    pub(super) fn missed_hooks(
        &mut self,
        last: Option<(&RememberedState, &Path)>,
        next: &Path,
    ) -> Vec<u8> {
        let chooses_in_next = self.is_fresh || !self.prompt_hooks.is_empty();
        let missed = last.filter(|(_, cwd)| {
            let has_chosen = self.prompt_cwd.as_deref() == Some(cwd);
            let will_choose = chooses_in_next && *cwd == next;
            !(self.is_fresh || has_chosen || will_choose)
        });
        let missed_cwd = missed.map(|(_, cwd)| cwd);
        if let Some(cwd) = Some(next).filter(|_| chooses_in_next).or(missed_cwd) {
            self.prompt_cwd = Some(cwd.to_owned());
        }
        let snapshot = missed.and_then(|(last, _)| last.snapshot.as_deref());
        let snapshot = snapshot.filter(|snapshot| snapshot.cd_and_prompt_choose());
        snapshot.map(Snapshot::prompt_hooks).unwrap_or_default()
    }

    /// Opens the FIFO with this name from an earlier call, or creates one. Afterwards, only the
    /// host has the FIFO open.
    fn fifo(directory: &SessionDirectory, name: &str) -> io::Result<ShellFifo> {
        // A script may have removed or replaced the FIFO.
        if let Ok(fifo) = ShellFifo::open(directory, name)
            && FileType::from_raw_mode(rustix::fs::fstat(&fifo.read)?.st_mode).is_fifo()
        {
            return Ok(fifo);
        }
        let host_path = directory.host_path(name);
        remove(&host_path)?;
        make_fifo(&host_path)?;
        ShellFifo::open(directory, name)
    }

    /// Returns the FIFOs for the next script's output, one per stream.
    pub(super) fn outputs(&self, streams: Streams) -> io::Result<Vec<(StreamId, ShellFifo)>> {
        let directory = &self.directory;
        let stdout = Self::fifo(directory, STDOUT_FIFO)?;
        match streams {
            Streams::Merged => {
                directory.join_outputs(&stdout.read)?;
                Ok(vec![(StreamId::Merged, stdout)])
            }
            Streams::Split => {
                if directory.are_joined(&stdout.read)? {
                    remove(&directory.host_path(STDERR_FIFO))?;
                }
                let stderr = Self::fifo(directory, STDERR_FIFO)?;
                Ok(vec![(StreamId::Stdout, stdout), (StreamId::Stderr, stderr)])
            }
        }
    }

    /// True if a quick check finds no children of the shell, and no other children of the
    /// supervisor. The supervisor is the parent of orphans.
    pub(super) fn is_alone(&self) -> bool {
        self.lone_shell_check.is_alone()
    }

    /// Marks that the shell has reported the end of a call, so that its exports follow.
    pub(super) fn await_exports(&mut self) {
        self.has_pending_exports = true;
    }

    /// Returns the exports after the last call; `None` if they were read already, or do not arrive
    /// within [`EXPORTS_TIMEOUT`].
    ///
    /// # Errors
    /// The shell has ended meanwhile.
    pub(super) async fn exports(&mut self, clock: &dyn Clock) -> Result<Option<Vec<u8>>, String> {
        if !std::mem::take(&mut self.has_pending_exports) {
            return Ok(None);
        }
        let failed = |error: io::Error| error.to_string();
        let mut exports = Vec::new();
        // Bash writes each export separately.
        while exports.last() != Some(&0)
            && let Some(1..) =
                receive_from_shell(&self.exports, self.pid, &mut exports).map_err(failed)?
        {}
        if exports.last() != Some(&0) {
            // Rarely, the shell has not written all exports yet.
            let socket = self.exports.try_clone().map_err(failed)?;
            let socket = register_socket(socket).map_err(failed)?;
            let mut limit = clock.sleep(EXPORTS_TIMEOUT);
            let mut is_open = true;
            while exports.last() != Some(&0) {
                tokio::select! {
                    biased;
                    end = until_ended(&mut self.supervised) => return Err(end_reason(end)),
                    () = &mut limit => return Ok(None),
                    read = receive_when_ready(&socket, self.pid, &mut exports), if is_open => {
                        // If no process can write any more, the shell is exiting.
                        is_open = read.map_err(failed)? > 0;
                    }
                }
            }
        }
        exports.pop();
        Ok(Some(exports))
    }
}

/// The reason why later calls of an untraced shell are not recorded.
const UNTRACED_REASON: &str = "its shell was started for a command that cannot be traced";

/// True if a shell that is started for this call must be traced: for this call and later ones.
fn is_traced(spec: &RunSpec) -> bool {
    spec.trace.is_some() && !spec.untraced
}

/// Returns the sandbox or trace of a session's shell, in which the shell can write to its FIFOs.
fn sandbox_of(
    spec: &RunSpec,
    options: &ShellCacheOptions,
    fifos: &SessionDirectory,
) -> io::Result<Option<ShellSandbox>> {
    let trace = is_traced(spec);
    if spec.sandbox.is_none() && !trace {
        return Ok(None);
    }
    Ok(Some(ShellSandbox {
        plan: spec.sandbox.as_deref().cloned(),
        trace,
        directory: options.directory.clone(),
        writable: vec![fifos.canonical()?],
        ..ShellSandbox::default()
    }))
}

/// The time limit for a shell's exports.
const EXPORTS_TIMEOUT: Duration = Duration::from_secs(1);

/// Waits for the end of the shell. Cancel safe.
pub(super) async fn until_ended(supervised: &mut SupervisorClient) -> Option<ShellEnd> {
    loop {
        match supervised.event().await {
            Ok((Event::Ended { end, .. }, _)) => return Some(end),
            Ok(_) => {}
            Err(Disconnected) => return None,
        }
    }
}

/// Returns the reason why the shell has ended, for a notice.
pub(super) fn end_reason(end: Option<ShellEnd>) -> String {
    match end {
        Some(ShellEnd::Exited(code)) => format!("its shell exited with code {code}"),
        Some(ShellEnd::Signaled(number)) => {
            format!("its shell was ended by {}", signal_name(number))
        }
        None => "its supervisor had exited".to_owned(),
    }
}
