//! Persistent shells with names. Calls run one after another; variables, functions, directory and
//! options persist.
//!
//! A call's script is written as one record to a file, and a byte on a control pipe makes the shell
//! read it. The record opens FIFOs for the call's output by path. So `exec >/dev/null` has no
//! effect on later calls, and late output belongs to its own call. The shell writes its status and
//! directory to one socket, and its exports to another. Nothing is parsed out of the output.

mod call;
mod definitions;
mod directory;
mod live;
mod record;
mod remembered;
mod shell_channel;
mod shell_cwd;
mod source;
mod survivors;

use crate::exports;
use crate::options::ShellCacheOptions;
use crate::pool::ShellKind;
use crate::snapshot::{Snapshot, SnapshotCache};
use crate::start::untraced_refusal;
use agent_bash_call::cancelled_before;
use agent_bash_core::{
    Cancel, Clock, Definitions, NotStarted, Notice, NoticeKind, Outcome, OutputConsumer, RunSpec,
    SessionName, lock,
};
use call::{SessionCall, StateAfterCall};
pub use directory::sweep_sessions;
use live::LiveShell;
use remembered::RememberedState;
use shell_cwd::ShellCwd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Mutex as AsyncMutex;

/// The sessions of a cache.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    all: Mutex<Vec<NamedSession>>,
}

/// A session with its name and the properties that its shell is started with. Calls with the same
/// name and properties use the same session.
#[derive(Debug)]
struct NamedSession {
    name: SessionName,
    kind: ShellKind,
    /// True if the call that opened the session loaded a snapshot.
    loads_snapshot: bool,
    session: Arc<AsyncMutex<ShellSession>>,
}

/// A persistent shell in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellInfo {
    /// The name that calls use for the shell.
    pub name: SessionName,
    /// True while a call runs in the shell, or is about to run.
    pub busy: bool,
    /// The shell's directory; `None` while the shell is busy, and before its first call has ended.
    pub cwd: Option<PathBuf>,
}

impl NamedSession {
    fn info(&self) -> ShellInfo {
        let session = self.session.try_lock();
        let cwd = session
            .as_ref()
            .ok()
            .and_then(|session| Some(session.remembered.as_ref()?.cwd.as_ref()?.display_path()));
        ShellInfo {
            name: self.name.clone(),
            busy: session.is_err(),
            cwd,
        }
    }
}

/// A session: its current shell, if any, and the state that its next shell restores.
#[derive(Debug, Default)]
struct ShellSession {
    shell: Option<LiveShell>,
    remembered: Option<RememberedState>,
    /// The reason why the last shell ended, until a call has reported it.
    unreported_end: Option<String>,
}

impl Sessions {
    /// Runs one script in the session `name`. Calls of a session run one after another. Waiting
    /// does not count towards the time limit, and cancelling ends the wait.
    pub(crate) async fn run(
        &self,
        name: &SessionName,
        kind: &ShellKind,
        spec: &RunSpec,
        (snapshots, options): (&SnapshotCache, &ShellCacheOptions),
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        if !spec.shell.is_bash {
            let shell = spec.shell.path.clone();
            return Err(NotStarted::SessionNeedsBash { shell });
        }
        if let Some(name) = exports::unexportable(&spec.env.changes) {
            let name = name.to_owned();
            return Err(NotStarted::SessionVariable { name });
        }
        let session = self.session(name, kind, spec.snapshot);
        let mut session = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(cancelled_before(&*options.clock)),
            session = session.lock() => session,
        };
        let cwd = session.cwd(spec);
        let mut configured = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(cancelled_before(&*options.clock)),
            configured = snapshots.for_call(spec, &cwd, options.starter()) => configured,
        };
        let snapshot = configured.snapshot.take();
        let call = session.run(spec, snapshot.as_ref(), options, out, cancel);
        let mut outcome = Box::pin(call).await?;
        configured.add_notices(spec, &mut outcome);
        Ok(outcome)
    }

    /// Returns all sessions, in order of first use.
    pub(crate) fn list(&self) -> Vec<ShellInfo> {
        let all = lock(&self.all);
        all.iter().map(NamedSession::info).collect()
    }

    /// Returns the exports of the session's shell. If several sessions have that name, uses the
    /// first.
    pub(crate) async fn exports(&self, name: &SessionName, clock: &dyn Clock) -> Option<Vec<u8>> {
        let (_, session) = self.named(name)?;
        let mut session = session.try_lock().ok()?;
        session.receive_exports(clock).await.ok()?;
        Some(session.remembered.as_ref()?.exports.clone())
    }

    /// Returns the definitions of the session's shell. If several sessions have that name, uses the
    /// first.
    pub(crate) async fn definitions(
        &self,
        name: &SessionName,
        options: &ShellCacheOptions,
    ) -> Option<Definitions> {
        let (kind, session) = self.named(name)?;
        let mut session = session.try_lock().ok()?;
        Box::pin(session.definitions(name, &kind, options)).await
    }

    /// Returns the first session with this name, and its kind.
    fn named(&self, name: &SessionName) -> Option<(ShellKind, Arc<AsyncMutex<ShellSession>>)> {
        let all = lock(&self.all);
        let key = all.iter().find(|key| key.name == *name)?;
        Some((key.kind.clone(), Arc::clone(&key.session)))
    }

    /// Discards all sessions with that name: the next call starts a new one. A running call
    /// continues to its end. Returns false if there was no session.
    pub(crate) fn reset(&self, name: &SessionName) -> bool {
        let mut all = lock(&self.all);
        let before = all.len();
        all.retain(|named| named.name != *name);
        all.len() < before
    }

    /// Returns the session with this name and these properties; creates it if it does not exist.
    fn session(
        &self,
        name: &SessionName,
        kind: &ShellKind,
        loads_snapshot: bool,
    ) -> Arc<AsyncMutex<ShellSession>> {
        let mut all = lock(&self.all);
        let known = all.iter().find(|named| {
            named.name == *name
                && named.loads_snapshot == loads_snapshot
                && named.kind.is_like(kind)
        });
        if let Some(known) = known {
            return Arc::clone(&known.session);
        }
        let session = Arc::default();
        all.push(NamedSession {
            name: name.clone(),
            kind: kind.clone(),
            loads_snapshot,
            session: Arc::clone(&session),
        });
        session
    }
}

/// Maximum number of attempts to hand a script to a shell. Another attempt follows if the shell
/// ended, or did not respond, before it took the script.
const MAX_ATTEMPTS: usize = 2;

impl ShellSession {
    /// Returns the directory in which the call begins.
    fn cwd(&self, spec: &RunSpec) -> PathBuf {
        let remembered = self.remembered.as_ref().filter(|_| !spec.enter_cwd);
        let cwd = remembered.and_then(|remembered| remembered.cwd.as_ref());
        cwd.map_or_else(|| spec.cwd.clone(), ShellCwd::display_path)
    }

    /// Stores the exports that the shell reported after its last call. Fails with the reason if the
    /// shell has ended.
    async fn receive_exports(&mut self, clock: &dyn Clock) -> Result<(), String> {
        let Some(remembered) = &mut self.remembered else {
            return Ok(());
        };
        // If this future is dropped meanwhile, the state of the shell is unknown. So the future
        // owns the shell until then, and drops the shell, too.
        let Some(mut shell) = self.shell.take() else {
            return Ok(());
        };
        if let Some(exports) = shell.exports(clock).await? {
            remembered.exports = exports;
        }
        self.shell = Some(shell);
        Ok(())
    }

    /// Runs a script in the shell, or in a new one if the session has none.
    async fn run(
        &mut self,
        spec: &RunSpec,
        snapshot: Option<&Arc<Snapshot>>,
        options: &ShellCacheOptions,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        let mut notices: Vec<_> = self
            .unreported_end
            .take()
            .iter()
            .map(|reason| reset_notice(reason))
            .collect();
        let mut refusal = String::new();
        for _ in 0..MAX_ATTEMPTS {
            if let Err(reason) = self.receive_exports(&*options.clock).await {
                notices.push(reset_notice(&reason));
            }
            // If this future is dropped meanwhile, the state of the shell is unknown. So the future
            // owns the shell until then, and drops the shell, too.
            let mut shell = self.shell.take();
            // The call requires an untraced shell.
            if spec.untraced
                && shell
                    .take_if(|shell| shell.untraced_reason.is_none())
                    .is_some()
            {
                notices.push(reset_notice(
                    "its shell was traced, which prevents commands such as `sudo` from gaining privileges",
                ));
            }
            let remembered = self.remembered.as_ref();
            let mut shell = match shell {
                Some(shell) => shell,
                None => LiveShell::start(spec, options, remembered, snapshot.cloned()).await?,
            };
            shell.change_snapshot(spec, snapshot);
            if let Some(refusal) = untraced_refusal(spec, shell.untraced_reason.as_ref()) {
                self.shell = Some(shell);
                return Err(refusal);
            }
            shell.exclude_earlier_processes(spec.survivors).await;
            let call = SessionCall::hand_over(spec, shell, remembered, options, cancel);
            let after = match call.await {
                Ok(call) => Box::pin(call.finish(out)).await,
                Err(after) => *after,
            };
            match after {
                StateAfterCall::Alive {
                    outcome,
                    mut shell,
                    cwd,
                } => {
                    shell.plan_prompt_hooks(&spec.script);
                    let remembered = self.remembered.get_or_insert_default();
                    remembered.cwd = Some(cwd);
                    remembered.snapshot.clone_from(&shell.snapshot);
                    self.shell = Some(shell);
                    return Ok(with_notices(notices, *outcome));
                }
                StateAfterCall::Ended { outcome, reason } => {
                    notices.push(reset_notice(&reason));
                    return Ok(with_notices(notices, outcome));
                }
                StateAfterCall::Refused { error, shell } => {
                    self.shell = shell;
                    return Err(error);
                }
                StateAfterCall::Displaced(cwd) => {
                    if let Some(remembered) = &mut self.remembered {
                        remembered.cwd = None;
                    }
                    return Err(NotStarted::SessionDisplaced {
                        was: cwd.display_path().clone(),
                        next: spec.cwd.clone(),
                    });
                }
                StateAfterCall::RefusedHandoff(reason) => {
                    notices.push(reset_notice(&reason));
                    refusal = reason;
                }
            }
        }
        Err(NotStarted::SessionHandoffRefused { reason: refusal })
    }
}

fn with_notices(mut notices: Vec<Notice>, mut outcome: Outcome) -> Outcome {
    notices.append(&mut outcome.notices);
    outcome.notices = notices;
    outcome
}

/// Returns the notice that the session got a new shell.
fn reset_notice(reason: &str) -> Notice {
    // A shell reports its directory and exports after a call, so the report of this call is lost.
    let consequence = "directory and exported variables are as before this call, functions and plain variables are gone";
    NoticeKind::SessionReset {
        reason: format!("{reason}; {consequence}"),
    }
    .into()
}
