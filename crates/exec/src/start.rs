//! Starts shells that wait for a script.

use crate::pool::{ComingShell, Kind, WaitingShell};
use crate::record;
use agent_bash_core::Streams;
use agent_bash_process::supervisor::{ShellStart, StartError, Supervised};
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// Starts a shell below a supervisor that has none, or whose last one has ended with all its descendants. In
/// `directory` a boxed shell gets one of its own.
pub(crate) async fn shell(
    supervised: Supervised,
    kind: &Kind,
    directory: &Path,
    env_changes: Vec<(OsString, Option<OsString>)>,
    stdin: Option<BorrowedFd<'_>>,
) -> Result<WaitingShell, StartError> {
    let coming = order(supervised, kind, directory, env_changes, stdin)?;
    coming.started().await
}

/// As [`shell`], without waiting for it.
pub(crate) fn order(
    mut supervised: Supervised,
    kind: &Kind,
    directory: &Path,
    env_changes: Vec<(OsString, Option<OsString>)>,
    stdin: Option<BorrowedFd<'_>>,
) -> Result<ComingShell, StartError> {
    let Kind {
        shell, snapshot, ..
    } = kind;
    let start = ShellStart {
        env_changes,
        inherits_stdin: stdin.is_some(),
        output: kind.streams.map_or(&[][..], Streams::ids).to_vec(),
        limits: kind.limits,
        sandbox: kind.sandbox(directory, Vec::new()),
        ..ShellStart::of(shell, record::boot(shell, snapshot.as_deref()))
    };
    supervised.order_shell(start, stdin)?;
    Ok(ComingShell {
        supervised,
        snapshot: snapshot.clone(),
        fds: None,
    })
}
