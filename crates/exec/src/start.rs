//! Starting shells that wait for their script.

use crate::pool::{ComingShell, WaitingShell};
use crate::record;
use crate::snapshot::Snapshot;
use agent_bash_core::{Clock, Shell};
use agent_bash_process::supervisor::{ShellStart, StartError, Supervised, Supervisor};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Starts a supervisor with `base` as its environment.
pub(crate) async fn supervisor(
    supervisor: &Supervisor,
    base: &BTreeMap<OsString, OsString>,
    clock: &dyn Clock,
) -> Result<Supervised, StartError> {
    match supervisor.launch(base, clock).await {
        // Its program may just have been replaced, or the system been out of processes for a moment.
        Err(StartError::NoHello) => supervisor.launch(base, clock).await,
        other => other,
    }
}

/// Starts a shell below a supervisor that has none, or whose last one is gone with its tree.
pub(crate) async fn shell(
    supervised: Supervised,
    shell: &Shell,
    env_changes: Vec<(OsString, Option<OsString>)>,
    stdin: Option<BorrowedFd<'_>>,
    snapshot: Option<Arc<Snapshot>>,
) -> Result<WaitingShell, StartError> {
    let coming = order(supervised, shell, env_changes, stdin, snapshot)?;
    coming.started().await
}

/// As [`shell`], without waiting for it.
pub(crate) fn order(
    mut supervised: Supervised,
    shell: &Shell,
    env_changes: Vec<(OsString, Option<OsString>)>,
    stdin: Option<BorrowedFd<'_>>,
    snapshot: Option<Arc<Snapshot>>,
) -> Result<ComingShell, StartError> {
    let mut args: Vec<OsString> = shell.args.iter().map(Into::into).collect();
    args.extend(record::boot(shell.is_bash, snapshot.as_deref()));
    let start = ShellStart {
        program: shell.path.clone(),
        arg0: shell
            .path
            .file_name()
            .unwrap_or(shell.path.as_os_str())
            .to_owned(),
        args,
        env_changes,
        inherits_stdin: stdin.is_some(),
    };
    supervised.order_shell(start, stdin)?;
    Ok(ComingShell {
        supervised,
        snapshot,
        fds: None,
    })
}
