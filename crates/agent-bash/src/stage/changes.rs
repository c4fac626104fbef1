//! Records the file changes of a call: by a trial, by tracing, or by scans before and after the
//! call. When the call has ended, the changes are committed, held, dropped or stored.

mod limit;
mod run;
mod scans;
mod store_work;

pub(crate) use run::run;

use crate::call::Call;
use crate::journal::command_label;
use crate::tool_context::ToolContext;
use agent_bash_changes::{ChangeSet, ChangesError, DirectoryScan, Store};
use agent_bash_core::changes::{
    Changes, ChangesLevel, ChangesState, Overlay, TrialRequest, applied_text,
};
use agent_bash_core::{
    Executor, Mode, NotStarted, Notice, NoticeKind, Outcome, Request, ScriptEnding, SessionName,
};
use agent_bash_state::{
    CallChanges, UNRESPONSIVE_REASON, commit_trial, finish_trace, run_blocking,
};
use agent_bash_tools::Refusal;
use std::fs::read_dir;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store_work::with_store;

/// The reason why the changes of a trial are unknown.
const NOT_HELD_BACK_REASON: &str =
    "the executor did not hold back the command's file changes, although it promised to";

/// The time between two checks whether a file system still answers.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Maximum number of checks while a record is completed. The checks can succeed although the
/// unresponsive file system is mounted below the checked one. A change set that is completed later
/// is listed then.
const MAX_CHECKS: usize = 15;

/// The record of a call's file changes.
pub(crate) struct ChangeRecord {
    store: Arc<Store>,
    method: RecordMethod,
    /// True if the call was ended because its change set grew too large.
    is_full: bool,
}

/// The method by which the changes of a call are recorded.
enum RecordMethod {
    /// A trial holds the changes back.
    Trial(ChangeSet, TrialRequest),
    /// The supervisor traces the changes. The command runs in this persistent shell, or in a shell
    /// of its own.
    Trace(ChangeSet, Option<SessionName>),
    /// The job's supervisor traces the changes, also after the call has ended.
    Job(ChangeSet),
    /// A scan before the call is compared with a scan after it.
    Scan(DirectoryScan),
}

/// Prepares the record of a call's changes. Returns `None` if no record is wanted, or if an
/// ordinary call cannot be recorded; a notice then gives the reason. `untraceable` is the reason
/// why this call cannot be traced. `typed` is the command as the user wrote it.
pub(crate) async fn begin(
    tool: &ToolContext,
    call: &mut Call,
    request: &Request,
    executor: &dyn Executor,
    untraceable: Option<&str>,
    typed: &str,
) -> Result<Option<ChangeRecord>, Refusal> {
    let command = || command_label(&tool.hide, &tool.environment_policy, request, typed);
    if let Some(trial) = request.trial {
        let held = begin_trial(tool, call, request, executor, (trial, command())).await;
        let refused = |reason| Refusal::NotStarted(NotStarted::Trial { reason });
        return held.map(Some).map_err(refused);
    }
    let level = tool.changes.level();
    if level == ChangesLevel::Off {
        return Ok(None);
    }
    let is_job = request.mode == Some(Mode::Background);
    let is_level_set = tool.changes.is_level_set();
    let begun = match scans::find_untraceable_reason(tool, request, executor, untraceable).await {
        // A scan is too slow for a record that the settings do not ask for. A job ends too late for
        // a second scan.
        Some(reason) if !is_level_set || is_job => Err(reason),
        Some(reason) => {
            let scanned = scans::before(tool, call, &reason).await;
            scanned.map(|(store, scan)| (store, RecordMethod::Scan(scan.with_command(command()))))
        }
        None => {
            let command = command();
            let begun = begin_set(tool, call, move |store, session, root| {
                let begun = if is_job {
                    store.begin_job(session, root, level)
                } else {
                    store.begin_trace(session, root, level)
                };
                begun.map(|set| set.with_command(command))
            });
            let shell = request.session.clone();
            begun.await.map(|(store, set)| {
                let method = if is_job {
                    RecordMethod::Job(set)
                } else {
                    RecordMethod::Trace(set, shell)
                };
                (store, method)
            })
        }
    };
    match begun {
        Ok((store, method)) => Ok(Some(ChangeRecord::new(store, method))),
        Err(reason) => {
            call.notices
                .extend(is_level_set.then(|| unknown_notice(reason)));
            Ok(None)
        }
    }
}

/// Scans the files before a call whose shell turned out to be untraceable for this `reason`. The
/// command has not started yet. The new record replaces `recorded`. `typed` is the command as the
/// user wrote it.
async fn begin_scan(
    tool: &ToolContext,
    call: &mut Call,
    request: &Request,
    reason: &str,
    (recorded, typed): (Option<ChangeRecord>, &str),
) -> Option<ChangeRecord> {
    if let Some(recorded) = recorded {
        recorded.remove().await;
    }
    let unrecordable = &tool.changes.unrecordable;
    unrecordable.remember_untraceable(request.session.as_ref(), reason);
    let command = command_label(&tool.hide, &tool.environment_policy, request, typed);
    match scans::before(tool, call, reason).await {
        Ok((store, before)) => {
            let method = RecordMethod::Scan(before.with_command(command));
            Some(ChangeRecord::new(store, method))
        }
        Err(reason) => {
            call.notices.push(unknown_notice(reason));
            None
        }
    }
}

/// Returns why this call cannot be traced, if it runs the program `takes_privileges`, which gains
/// privileges.
pub(crate) fn untraceable_reason(takes_privileges: Option<&str>) -> Option<String> {
    // Root has all privileges already.
    let program = takes_privileges.filter(|_| !rustix::process::geteuid().is_root());
    program.map(|program| format!("it runs `{program}`, which cannot be watched"))
}

/// Completes the record of a call that has ended. Without an `outcome`, the command was not
/// started, and the record is removed.
pub(crate) async fn complete_record(
    tool: &ToolContext,
    changing: Option<ChangeRecord>,
    outcome: Option<&Outcome>,
) -> CallChanges {
    match (changing, outcome) {
        (None, _) => CallChanges::default(),
        (Some(changing), Some(outcome)) => changing.complete(tool, outcome).await,
        (Some(changing), None) => {
            changing.remove().await;
            CallChanges::default()
        }
    }
}

/// Leaves the record of a call that has started a job to the job's supervisor. `recorded` is an
/// error if the supervisor does not record, and `None` if no job was started.
pub(crate) async fn leave_to_job(
    tool: &ToolContext,
    changing: Option<ChangeRecord>,
    recorded: Option<Result<(), String>>,
) -> CallChanges {
    let Some(changing) = changing else {
        return CallChanges::default();
    };
    let changes = match recorded {
        Some(Ok(())) => {
            changing
                .leave_to_job(tool.changes.session().to_owned())
                .await
        }
        Some(Err(reason)) => {
            changing.remove().await;
            Err(reason)
        }
        None => {
            changing.remove().await;
            return CallChanges::default();
        }
    };
    match changes {
        Ok(changes) => CallChanges {
            changes: Some(changes),
            notices: Vec::new(),
        },
        Err(reason) => CallChanges {
            changes: None,
            notices: Vec::from_iter(tool.changes.is_level_set().then(|| unknown_notice(reason))),
        },
    }
}

async fn begin_trial(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    executor: &dyn Executor,
    (trial, command): (TrialRequest, String),
) -> Result<ChangeRecord, String> {
    if request.mode == Some(Mode::Background) {
        return Err("a background job outlives its call; leave out `background`".to_owned());
    }
    if request.session.is_some() {
        return Err("a persistent shell cannot run a trial; leave out `session`".to_owned());
    }
    executor.check_trials().await.map_err(|error| match error {
        NotStarted::Trial { reason } => reason,
        other => other.to_string(),
    })?;
    let begun = begin_set(tool, call, move |store, session, root| {
        let begun = store.begin_trial(session, root);
        begun.map(|set| set.with_command(command))
    });
    let (store, set) = begun.await?;
    Ok(ChangeRecord::new(store, RecordMethod::Trial(set, trial)))
}

/// Begins a change set on another thread, because its file system may be slow.
async fn begin_set(
    tool: &ToolContext,
    call: &Call,
    make: impl FnOnce(&Store, &str, &Path) -> Result<ChangeSet, ChangesError> + Send + 'static,
) -> Result<(Arc<Store>, ChangeSet), String> {
    let begun = with_store(tool, call, move |changes, store, root| {
        make(store, changes.session(), root).map_err(|error| error.to_string())
    });
    begun.await
}

/// Waits for `work` as long as the file systems of these directories respond. Returns `None` if a
/// file system does not respond, or after `max_checks` checks.
async fn while_responsive<T>(
    tool: &ToolContext,
    directories: &[PathBuf],
    max_checks: usize,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    for _ in 0..max_checks {
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            () = tool.clock.sleep(CHECK_INTERVAL) => {}
        }
        let directories = directories.to_owned();
        // A listing needs a response of the file system; `stat` may be answered from a cache.
        let list = move || {
            for directory in directories {
                drop(read_dir(directory).map(|mut entries| entries.next()));
            }
        };
        tool.within_limit(list).await?;
    }
    None
}

fn unknown_notice(reason: String) -> Notice {
    NoticeKind::ChangesUnknown { reason }.into()
}

impl RecordMethod {
    /// Returns the directory below which changes are recorded.
    fn root(&self) -> PathBuf {
        match self {
            Self::Trial(set, _) | Self::Trace(set, _) | Self::Job(set) => set.root(),
            Self::Scan(before) => before.root().to_owned(),
        }
    }
}

impl ChangeRecord {
    fn new(store: Arc<Store>, method: RecordMethod) -> Self {
        Self {
            store,
            method,
            is_full: false,
        }
    }

    /// Returns the notice that the changes of survivors are not recorded, if the call was scanned.
    fn survivors_notice(&self, outcome: &Outcome) -> Option<Notice> {
        let is_unrecorded =
            matches!(self.method, RecordMethod::Scan(_)) && !outcome.survivors.is_empty();
        let pids = || {
            let survivors = outcome.survivors.iter();
            survivors.map(|survivor| survivor.pid).collect()
        };
        is_unrecorded.then(|| NoticeKind::ChangesUntraced { pids: pids() }.into())
    }

    /// Returns the overlay that holds back the changes of a trial.
    pub(crate) fn trial(&self) -> Option<Arc<Overlay>> {
        match &self.method {
            RecordMethod::Trial(set, _) => Some(Arc::new(set.overlay())),
            _ => None,
        }
    }

    /// Returns the directory for the record of traced changes.
    pub(crate) fn trace(&self) -> Option<PathBuf> {
        match &self.method {
            RecordMethod::Trace(set, _) | RecordMethod::Job(set) => Some(set.dir().to_owned()),
            RecordMethod::Trial(..) | RecordMethod::Scan(_) => None,
        }
    }

    /// Marks the beginning of the call. Changes that other processes make from now on conflict with
    /// a trial.
    pub(crate) fn mark(&mut self) -> Result<(), NotStarted> {
        match &mut self.method {
            RecordMethod::Trial(set, _) => set.mark().map_err(|error| NotStarted::Trial {
                reason: error.to_string(),
            }),
            // Conflicts with traced changes are found in the record itself.
            RecordMethod::Trace(..) | RecordMethod::Job(_) | RecordMethod::Scan(_) => Ok(()),
        }
    }

    /// Removes the record of a call whose command was not started.
    async fn remove(self) {
        let Self { store, method, .. } = self;
        let removed = run_blocking(move || match method {
            RecordMethod::Trial(set, _) | RecordMethod::Trace(set, _) | RecordMethod::Job(set) => {
                store.remove(set)
            }
            RecordMethod::Scan(_) => Ok(()),
        });
        // If the removal fails, the next opening of the store removes the change set.
        let _ = removed.await;
    }

    /// Leaves the record to the job's supervisor. Returns the changes known so far.
    async fn leave_to_job(self, session: String) -> Result<Changes, String> {
        let Self { store, method, .. } = self;
        let RecordMethod::Job(set) = method else {
            return Err("this call did not start a job".to_owned());
        };
        let shown = run_blocking(move || {
            let id = set.id();
            drop(set);
            store.show(&session, id).map_err(error_text)
        });
        shown.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Completes the record: commits, holds, drops or stores the changes.
    async fn complete(self, tool: &ToolContext, outcome: &Outcome) -> CallChanges {
        let session = tool.changes.session().to_owned();
        let announced = tool.changes.settings.announced;
        let trial = match &self.method {
            RecordMethod::Trial(_, trial) => Some(*trial),
            _ => None,
        };
        let is_requested = trial.is_some() || tool.changes.is_level_set();
        let (held_back, traced) = (outcome.held_back, outcome.traced.clone());
        let max_mb = tool.changes.settings.max_set_mb;
        let is_full = traced.as_ref().is_some_and(|traced| traced.reached_limit) || self.is_full;
        let full = is_full.then(|| NoticeKind::ChangesLimit { max_mb }.into());
        let untraced = self.survivors_notice(outcome);
        let incomplete_reason = traced
            .as_ref()
            .filter(|traced| !traced.reached_limit && is_requested);
        let incomplete_reason =
            incomplete_reason.and_then(|traced| traced.incomplete_reason.as_deref());
        let partly = incomplete_reason
            .map(|reason| unknown_notice(format!("some may be missing, since {reason}")));
        let has_succeeded = matches!(outcome.ending, ScriptEnding::Exited { code: 0 });
        let is_to_commit = has_succeeded && outcome.survivors.is_empty();
        let Self { store, method, .. } = self;
        if let (RecordMethod::Trace(_, shell), Some(traced)) = (&method, &traced)
            && traced.untraced
        {
            let reason = traced.incomplete_reason.as_deref().unwrap_or_default();
            tool.changes
                .unrecordable
                .remember_untraceable(shell.as_ref(), reason);
        }
        if let (RecordMethod::Trial(set, _), true) = (&method, incomplete_reason.is_some()) {
            // A process outside of the trial may have changed files. If this cannot be stored in
            // the change set, the notice still reports it.
            let _ = set.mark_inexact();
        }
        let directories = [store.path().to_owned(), method.root()];
        let (changes, clock) = (Arc::clone(&tool.changes), Arc::clone(&tool.clock));
        let is_sandboxed = outcome.sandbox.is_some();
        let (change_store, shown_store) = (Arc::clone(&tool.changes), Arc::clone(&store));
        let end = move || match method {
            RecordMethod::Trial(..) if !held_back => Err(NOT_HELD_BACK_REASON.to_owned()),
            RecordMethod::Trial(set, TrialRequest::Hold) => store.hold(set).map_err(error_text),
            RecordMethod::Trial(set, TrialRequest::Atomic) if is_to_commit => {
                commit_trial(&store, &session, set)
            }
            RecordMethod::Trial(set, TrialRequest::Atomic) => {
                store.drop_trial(set).map_err(error_text)
            }
            RecordMethod::Trace(set, _) => finish_trace(&store, set, traced.as_ref()),
            RecordMethod::Job(_) => Err("this call started a job".to_owned()),
            RecordMethod::Scan(before) => changes.scan_after(&store, &before, &*clock),
        };
        let ended = tool.sandbox.file_access.unlimited(move || {
            let changes: Changes = end()?;
            let is_held = is_sandboxed && changes.state == ChangesState::Held;
            let protected =
                is_held.then(|| change_store.protected_in_trial(&shown_store, &changes));
            Ok((changes, protected.flatten()))
        });
        // A commit must not be abandoned halfway, so a trial has no limit.
        let max_checks = trial.map_or(MAX_CHECKS, |_| usize::MAX);
        let changes = match while_responsive(tool, &directories, max_checks, ended).await {
            Some(Ok(ended)) => ended,
            Some(Err(error)) => Err(error.to_string()),
            None => Err(UNRESPONSIVE_REASON.to_owned()),
        };
        match changes {
            Ok((changes, protected)) => {
                let text = match (trial, changes.state) {
                    (Some(_), ChangesState::Done) => {
                        Some(applied_text(changes.id, &changes.counts))
                    }
                    _ => changes.text(announced),
                };
                CallChanges {
                    notices: text
                        .map(|text| file_notice(&changes, &text))
                        .into_iter()
                        .chain(full)
                        .chain(partly)
                        .chain(untraced)
                        .chain(protected)
                        .collect(),
                    changes: Some(changes),
                }
            }
            Err(reason) => CallChanges {
                changes: None,
                notices: Vec::from_iter(is_requested.then(|| unknown_notice(reason))),
            },
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn error_text(error: ChangesError) -> String {
    error.to_string()
}

/// Returns a notice with this line, without the line's brackets: each layout adds its own brackets.
fn file_notice(changes: &Changes, line: &str) -> Notice {
    let line = line.strip_prefix('[').unwrap_or(line);
    let line = line.strip_suffix(']').unwrap_or(line).to_owned();
    let id = changes.id;
    NoticeKind::Changes { id, line }.into()
}
