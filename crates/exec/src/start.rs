//! Starting shells that wait for their script.

use crate::pool::{ComingShell, Kind, WaitingShell};
use crate::record;
use agent_bash_core::{Clock, Notice, NoticeKind, Streams};
use agent_bash_process::supervisor::{ShellStart, StartError, Supervised, Supervisor};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Starts a supervisor with `base` as its environment. If there can be none, a thread of this program stands in for it.
pub(crate) async fn supervisor(
    supervisor: &Supervisor,
    base: &BTreeMap<OsString, OsString>,
    clock: &Arc<dyn Clock>,
) -> Result<Supervised, StartError> {
    let launched = match supervisor.launch(base, clock).await {
        // Its program may just have been replaced, or the system been out of processes for a moment.
        Err(StartError::NoHello) => supervisor.launch(base, clock).await,
        other => other,
    };
    match launched {
        Ok(supervised) => Ok(supervised),
        Err(error) => {
            tracing::warn!(%error, "running without a supervisor");
            let fallback = Supervisor::fallback_because(error.to_string());
            fallback.launch(base, clock).await
        }
    }
}

/// What a call's result says of a supervisor that there is not.
pub(crate) fn notice(supervised: &Supervised) -> Option<Notice> {
    let reason = supervised.fallback()?.to_owned();
    Some(NoticeKind::WithoutSupervisor { reason }.into())
}

/// Starts a shell below a supervisor that has none, or whose last one is gone with its tree.
pub(crate) async fn shell(
    supervised: Supervised,
    kind: &Kind,
    env_changes: Vec<(OsString, Option<OsString>)>,
    stdin: Option<BorrowedFd<'_>>,
) -> Result<WaitingShell, StartError> {
    let coming = order(supervised, kind, env_changes, stdin)?;
    coming.started().await
}

/// As [`shell`], without waiting for it.
pub(crate) fn order(
    mut supervised: Supervised,
    kind: &Kind,
    env_changes: Vec<(OsString, Option<OsString>)>,
    stdin: Option<BorrowedFd<'_>>,
) -> Result<ComingShell, StartError> {
    let Kind {
        shell, snapshot, ..
    } = kind;
    let start = ShellStart {
        program: shell.path.clone(),
        arg0: shell
            .path
            .file_name()
            .unwrap_or(shell.path.as_os_str())
            .to_owned(),
        args: record::boot(shell, snapshot.as_deref()),
        env_changes,
        inherits_stdin: stdin.is_some(),
        output: kind.streams.map_or(&[][..], Streams::ids).to_vec(),
        limits: kind.limits,
    };
    supervised.order_shell(start, stdin)?;
    Ok(ComingShell {
        supervised,
        snapshot: snapshot.clone(),
        fds: None,
    })
}
