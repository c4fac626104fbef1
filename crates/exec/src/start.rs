//! Starts shells that wait for a script.

use crate::pool::{ComingShell, ShellKind, WaitingShell};
use crate::record;
use agent_bash_core::changes::Overlay;
use agent_bash_core::{NotStarted, RunSpec, Streams};
use agent_bash_process::supervisor::{ShellStart, StartError, Supervised};
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// What a shell that is started for a call has of that call.
#[derive(Debug, Default)]
pub(crate) struct OfCall<'a> {
    /// Its variables.
    pub(crate) env_changes: Vec<(OsString, Option<OsString>)>,
    /// Its stdin.
    pub(crate) stdin: Option<BorrowedFd<'a>>,
    /// Where what it changes is held back.
    pub(crate) trial: Option<&'a Overlay>,
}

/// Starts a shell below a supervisor that has none, or whose last one has ended with all its
/// descendants. In `directory` one that is kept in something gets a directory of its own.
pub(crate) async fn shell(
    supervised: Supervised,
    kind: &ShellKind,
    directory: &Path,
    of_call: OfCall<'_>,
) -> Result<WaitingShell, StartError> {
    let coming = order(supervised, kind, directory, of_call)?;
    coming.started().await
}

/// As [`shell`], without waiting for it.
pub(crate) fn order(
    mut supervised: Supervised,
    kind: &ShellKind,
    directory: &Path,
    of_call: OfCall<'_>,
) -> Result<ComingShell, StartError> {
    let OfCall {
        env_changes,
        stdin,
        trial,
    } = of_call;
    let ShellKind {
        shell, snapshot, ..
    } = kind;
    let start = ShellStart {
        env_changes,
        inherits_stdin: stdin.is_some(),
        output: kind.streams.map_or(&[][..], Streams::ids).to_vec(),
        limits: kind.limits,
        sandbox: kind.kept_in(directory, trial),
        ..ShellStart::of(shell, record::boot(shell, snapshot.as_deref()))
    };
    supervised.order_shell(start, stdin)?;
    Ok(ComingShell {
        supervised,
        snapshot: snapshot.clone(),
        fds: None,
    })
}

/// Why a call is refused that needs a record, in a shell that is not watched for this reason.
pub(crate) fn unrecorded(spec: &RunSpec, unwatched: Option<&String>) -> Option<NotStarted> {
    let reason = unwatched.filter(|_| spec.needs_trace && spec.trace.is_some())?;
    Some(NotStarted::Unwatched {
        reason: reason.clone(),
    })
}
