//! Replaces tracing on systems other than Linux, where it is not possible.

use super::sandboxed_start::NotLaunched;
use super::shell_command::ShellCommand;
use agent_bash_core::changes::TraceState;
use agent_bash_core::sandbox::Plan;
use agent_bash_os::ProcessInfo;
use agent_bash_sandbox::{SandboxError, SocketGuard, TraceScope};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

/// A tracer, which cannot exist.
#[derive(Debug)]
pub(super) struct Tracer(std::convert::Infallible);

/// Returns the error that tracing needs Linux.
pub(crate) fn is_possible() -> io::Result<()> {
    Err(io::Error::other("tracing needs Linux"))
}

/// The shell and the other live processes of a call.
#[derive(Debug, Default)]
pub(super) struct LiveProcesses {
    pub(super) shell: Option<i32>,
    pub(super) processes: Vec<ProcessInfo>,
}

/// The tracer that the next shell may reuse.
#[derive(Debug)]
pub(super) enum TracerReuse {
    /// A new tracer is started: there is no former shell, or it was started differently.
    NewTracer,
    /// The tracer of an equal former shell without remaining processes.
    Same(Option<Tracer>),
}

pub(super) fn inherited_files(_: impl IntoIterator<Item = i32>) -> Vec<PathBuf> {
    Vec::new()
}

pub(super) fn with_input(tracer: Option<Tracer>, _: Option<&OwnedFd>) -> Option<Tracer> {
    tracer
}

pub(super) fn inherits_unconfined_file(_: impl IntoIterator<Item = i32>, _: bool) -> bool {
    false
}

pub(super) fn start(
    _: &ShellCommand<'_>,
    _: [OwnedFd; 3],
    _: &[&OwnedFd],
    _: TracerReuse,
    _: TraceScope,
) -> Result<(i32, Tracer), NotLaunched> {
    Err(SandboxError::Untraced("tracing needs Linux".to_owned()).into())
}

impl Tracer {
    pub(super) fn start(
        _: OwnedFd,
        _: TraceScope,
        _: Option<SocketGuard>,
        _: Vec<PathBuf>,
        _: Option<Plan>,
    ) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn exclude(&self, _: Vec<PathBuf>) {
        match self.0 {}
    }

    pub(super) fn set_inherited(&self, _: Vec<PathBuf>) {
        match self.0 {}
    }

    pub(super) fn record(&self, _: PathBuf, _: Option<LiveProcesses>) -> TraceState {
        match self.0 {}
    }

    pub(super) fn limit_pipe(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }

    pub(super) fn reached_limit(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn stop(&self, _: Option<LiveProcesses>) -> TraceState {
        match self.0 {}
    }

    pub(super) fn close_background(&self) {
        match self.0 {}
    }

    pub(super) fn has_survivors(&self) -> bool {
        match self.0 {}
    }

    pub(super) fn conclude(&self, _: LiveProcesses) {
        match self.0 {}
    }
}
