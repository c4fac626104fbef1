//! Starts shells that wait for a script.

use crate::pool::{RequestedShell, ShellKind, WaitingShell};
use crate::record;
use agent_bash_core::changes::Overlay;
use agent_bash_core::{NotStarted, RunSpec, Streams};
use agent_bash_process::supervisor::{ShellStart, StartError, SupervisorClient};
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// The properties of a call that its shell is started with; empty for a warm shell.
#[derive(Debug, Default)]
pub(crate) struct CallStart<'a> {
    /// The call's variables.
    pub(crate) env_changes: Vec<(OsString, Option<OsString>)>,
    /// The call's stdin.
    pub(crate) stdin: Option<BorrowedFd<'a>>,
    /// The overlay that receives the call's changes, for a trial.
    pub(crate) trial: Option<&'a Overlay>,
}

/// Starts a shell below a supervisor that has no processes, and waits until the shell is ready. A
/// sandboxed or traced shell gets a private directory in `directory`.
pub(crate) async fn shell(
    supervised: SupervisorClient,
    kind: &ShellKind,
    directory: &Path,
    call_start: CallStart<'_>,
) -> Result<WaitingShell, StartError> {
    let requested = request(supervised, kind, directory, call_start)?;
    requested.ready().await
}

/// Asks the supervisor to start a shell as in [`shell`], but does not wait until it is ready.
pub(crate) fn request(
    mut supervised: SupervisorClient,
    kind: &ShellKind,
    directory: &Path,
    call_start: CallStart<'_>,
) -> Result<RequestedShell, StartError> {
    let CallStart {
        env_changes,
        stdin,
        trial,
    } = call_start;
    let ShellKind {
        shell, snapshot, ..
    } = kind;
    let start = ShellStart {
        env_changes,
        inherits_stdin: stdin.is_some(),
        output: kind.streams.map_or(&[][..], Streams::ids).to_vec(),
        limits: kind.limits,
        sandbox: kind.shell_sandbox(directory, trial),
        ..ShellStart::of(shell, record::boot_arguments(shell, snapshot.as_deref()))
    };
    supervised.request_shell(start, stdin)?;
    Ok(RequestedShell {
        supervised,
        snapshot: snapshot.clone(),
        fds: None,
    })
}

/// Returns the refusal of a call whose changes must be recorded, if the shell is not traced.
/// `untraced_reason` is `None` for a traced shell.
pub(crate) fn untraced_refusal(
    spec: &RunSpec,
    untraced_reason: Option<&String>,
) -> Option<NotStarted> {
    let reason = untraced_reason.filter(|_| spec.needs_trace && spec.trace.is_some())?;
    Some(NotStarted::Untraced {
        reason: reason.clone(),
    })
}

/// Asks a supervisor for a warm shell, and does not wait for it.
pub(crate) fn request_warm(
    kind: &ShellKind,
    directory: &Path,
    supervised: SupervisorClient,
) -> Result<RequestedShell, StartError> {
    request(supervised, kind, directory, CallStart::default())
}
