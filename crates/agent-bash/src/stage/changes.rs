//! Records the changes of a call to files, by a trial, by tracing, or by scans before and after it.
//! When the call has ended, commits, holds, drops or stores them.

mod compared;
mod limit;
mod run;

pub(crate) use run::run;

use crate::blocking::run_blocking;
use crate::call::Call;
use crate::changes::{CallChanges, ChangeStore, UNRESPONSIVE_REASON};
use crate::journal::named;
use crate::refusal::Refusal;
use crate::tool_context::ToolContext;
use agent_bash_changes::{ChangeSet, ChangesError, DirectoryScan, Store};
use agent_bash_core::changes::{
    Changes, ChangesLevel, ChangesState, Overlay, TraceState, TrialRequest, Undoable, applied_text,
};
use agent_bash_core::{
    Executor, Mode, NotStarted, Notice, NoticeKind, Outcome, Request, ScriptEnding, SessionName,
};
use std::fs::read_dir;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The reason why the changes of a trial are not known.
const NOT_HELD_BACK_REASON: &str =
    "the executor did not hold back what the command changed, although it said it would";

/// The time between two checks whether a file system still answers.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The maximum number of checks while a record is completed: the file system that hangs may be
/// mounted below the one that is checked. The change set is listed once it is complete.
const MAX_CHECKS: usize = 15;

/// A call whose changes are recorded.
pub(crate) struct ChangeRecord {
    store: Arc<Store>,
    how: RecordMethod,
    /// True if the call was ended because its change set grew too large.
    is_full: bool,
}

/// The way by which the changes of a call are found.
enum RecordMethod {
    /// A trial holds them back.
    Trial(ChangeSet, TrialRequest),
    /// The supervisor records them as they are made. The command runs in the shell of this
    /// session, or in a shell of its own.
    Trace(ChangeSet, Option<SessionName>),
    /// The job's supervisor records them as they are made, after the call has ended.
    Job(ChangeSet),
    /// A scan before the call is compared with one after it.
    Scan(DirectoryScan),
}

/// Prepares the record of a call's changes. Returns `None` if no record is wanted, or if an
/// ordinary call cannot be recorded; a notice then gives the reason. `unwatched` is the reason why
/// this call cannot be traced. `typed` is the command as the user wrote it.
pub(crate) async fn begin(
    tool: &ToolContext,
    call: &mut Call,
    request: &Request,
    executor: &dyn Executor,
    unwatched: Option<&str>,
    typed: &str,
) -> Result<Option<ChangeRecord>, Refusal> {
    let command = || named(&tool.hide, &tool.environment_policy, request, typed);
    if let Some(trial) = request.trial {
        let held = hold_back(tool, call, request, executor, (trial, command())).await;
        let refused = |reason| Refusal::NotStarted(NotStarted::Trial { reason });
        return held.map(Some).map_err(refused);
    }
    let level = tool.changes.level();
    if level == ChangesLevel::Off {
        return Ok(None);
    }
    let is_job = request.mode == Some(Mode::Background);
    let is_asked_for = tool.changes.is_asked_for();
    let begun = match compared::reason(tool, request, executor, unwatched).await {
        // A scan is too slow for a record that was not asked for, and a job ends too late for one.
        Some(reason) if !is_asked_for || is_job => Err(reason),
        Some(reason) => {
            let looked = compared::before(tool, call, &reason).await;
            looked.map(|(store, before)| (store, RecordMethod::Scan(before.of_command(command()))))
        }
        None => {
            let command = command();
            let begun = started(tool, call, move |store, session, root| {
                let begun = if is_job {
                    store.begin_job(session, root, level)
                } else {
                    store.begin_trace(session, root, level)
                };
                begun.map(|set| set.of_command(command))
            });
            let shell = request.session.clone();
            begun.await.map(|(store, set)| {
                let how = if is_job {
                    RecordMethod::Job(set)
                } else {
                    RecordMethod::Trace(set, shell)
                };
                (store, how)
            })
        }
    };
    match begun {
        Ok((store, how)) => Ok(Some(ChangeRecord::new(store, how))),
        Err(reason) => {
            call.notices.extend(is_asked_for.then(|| unknown(reason)));
            Ok(None)
        }
    }
}

/// Scans the files before a call that should have been traced and, for this reason, cannot be. The
/// call has not run anything yet. `typed`: as for [`begin`].
async fn begin_unwatched(
    tool: &ToolContext,
    call: &mut Call,
    request: &Request,
    reason: &str,
    (recorded, typed): (Option<ChangeRecord>, &str),
) -> Option<ChangeRecord> {
    if let Some(recorded) = recorded {
        recorded.give_up().await;
    }
    let unwatched = &tool.changes.unwatched;
    unwatched.remember(request.session.as_ref(), reason);
    let command = named(&tool.hide, &tool.environment_policy, request, typed);
    match compared::before(tool, call, reason).await {
        Ok((store, before)) => {
            let how = RecordMethod::Scan(before.of_command(command));
            Some(ChangeRecord::new(store, how))
        }
        Err(reason) => {
            call.notices.push(unknown(reason));
            None
        }
    }
}

/// The reason why this call cannot be traced, if it cannot.
pub(crate) fn unwatched(takes_privileges: Option<&str>) -> Option<String> {
    // Root has all privileges already.
    let lent = takes_privileges.filter(|_| !rustix::process::geteuid().is_root());
    lent.map(|program| format!("it runs `{program}`, which cannot be watched"))
}

/// Completes the record of a call that has ended. Without an `outcome`, the call has not run
/// anything, and the record is removed.
pub(crate) async fn ended(
    tool: &ToolContext,
    changing: Option<ChangeRecord>,
    outcome: Option<&Outcome>,
) -> CallChanges {
    match (changing, outcome) {
        (None, _) => CallChanges::default(),
        (Some(changing), Some(outcome)) => changing.ended(tool, outcome).await,
        (Some(changing), None) => {
            changing.give_up().await;
            CallChanges::default()
        }
    }
}

/// Leaves the record of a call that has started a job to the job's supervisor. An error in
/// `recorded` is the reason why the supervisor does not record. `None` means that no job was
/// started.
pub(crate) async fn goes_on(
    tool: &ToolContext,
    changing: Option<ChangeRecord>,
    recorded: Option<Result<(), String>>,
) -> CallChanges {
    let Some(changing) = changing else {
        return CallChanges::default();
    };
    let known = match recorded {
        Some(Ok(())) => changing.let_go(tool.changes.session().to_owned()).await,
        Some(Err(reason)) => {
            changing.give_up().await;
            Err(reason)
        }
        None => {
            changing.give_up().await;
            return CallChanges::default();
        }
    };
    match known {
        Ok(changes) => CallChanges {
            changes: Some(changes),
            notices: Vec::new(),
        },
        Err(reason) => CallChanges {
            changes: None,
            notices: Vec::from_iter(tool.changes.is_asked_for().then(|| unknown(reason))),
        },
    }
}

async fn hold_back(
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
        return Err("a persistent shell keeps what it does; leave out `session`".to_owned());
    }
    executor.holds_back().await.map_err(|error| match error {
        NotStarted::Trial { reason } => reason,
        other => other.to_string(),
    })?;
    let begun = started(tool, call, move |store, session, root| {
        let begun = store.begin_trial(session, root);
        begun.map(|set| set.of_command(command))
    });
    let (store, set) = begun.await?;
    Ok(ChangeRecord::new(store, RecordMethod::Trial(set, trial)))
}

/// Begins a change set on another thread, because its file system may be slow.
async fn started(
    tool: &ToolContext,
    call: &Call,
    make: impl FnOnce(&Store, &str, &Path) -> Result<ChangeSet, ChangesError> + Send + 'static,
) -> Result<(Arc<Store>, ChangeSet), String> {
    let changes = Arc::clone(&tool.changes);
    let (cwd, host) = (call.cwd.clone(), tool.host.clone());
    let work = move || {
        let root = changes
            .settings
            .root_of(&cwd, &host.cwd, host.home.as_deref())?;
        let store = changes.store()?;
        let set = make(&store, changes.session(), &root).map_err(|error| error.to_string())?;
        Ok((store, set))
    };
    let begun = tool.sandbox.looks.look(&*tool.clock, work).await;
    begun.unwrap_or_else(|| Err(UNRESPONSIVE_REASON.to_owned()))
}

/// Waits for work on the file systems of these directories as long as they answer. Returns `None`
/// if one does not, or after `at_most` checks.
async fn while_answering<T>(
    tool: &ToolContext,
    places: &[PathBuf],
    at_most: usize,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    for _ in 0..at_most {
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            () = tool.clock.sleep(CHECK_INTERVAL) => {}
        }
        let places = places.to_owned();
        // A listing needs an answer of the file system; times may come out of a cache.
        let look = move || {
            for place in places {
                drop(read_dir(place).map(|mut entries| entries.next()));
            }
        };
        tool.sandbox.looks.look(&*tool.clock, look).await?;
    }
    None
}

fn unknown(reason: String) -> Notice {
    NoticeKind::ChangesUnknown { reason }.into()
}

impl RecordMethod {
    fn root(&self) -> PathBuf {
        match self {
            Self::Trial(set, _) | Self::Trace(set, _) | Self::Job(set) => set.root(),
            Self::Scan(before) => before.root().to_owned(),
        }
    }
}

impl ChangeRecord {
    fn new(store: Arc<Store>, how: RecordMethod) -> Self {
        Self {
            store,
            how,
            is_full: false,
        }
    }

    /// The notice that the call's survivors are no longer watched, if it was only scanned.
    fn left_unwatched(&self, outcome: &Outcome) -> Option<Notice> {
        let is_seen = !matches!(self.how, RecordMethod::Scan(_)) || outcome.survivors.is_empty();
        let pids = || outcome.survivors.iter().map(|it| it.pid).collect();
        (!is_seen).then(|| NoticeKind::ChangesUnwatched { pids: pids() }.into())
    }

    /// The overlay that holds back the changes, if it is a trial.
    pub(crate) fn trial(&self) -> Option<Arc<Overlay>> {
        match &self.how {
            RecordMethod::Trial(set, _) => Some(Arc::new(set.overlay())),
            _ => None,
        }
    }

    /// The directory for the record of the changes, if they are traced.
    pub(crate) fn trace(&self) -> Option<PathBuf> {
        match &self.how {
            RecordMethod::Trace(set, _) | RecordMethod::Job(set) => Some(set.dir().to_owned()),
            RecordMethod::Trial(..) | RecordMethod::Scan(_) => None,
        }
    }

    /// Marks the time at which the call begins: later changes by other processes conflict with it.
    pub(crate) fn mark(&mut self) -> Result<(), NotStarted> {
        match &mut self.how {
            RecordMethod::Trial(set, _) => set.mark().map_err(|error| NotStarted::Trial {
                reason: error.to_string(),
            }),
            // The record itself shows conflicts with traced changes.
            RecordMethod::Trace(..) | RecordMethod::Job(_) | RecordMethod::Scan(_) => Ok(()),
        }
    }

    /// Removes the record of a call that has not run anything.
    async fn give_up(self) {
        let Self { store, how, .. } = self;
        let removed = run_blocking(move || match how {
            RecordMethod::Trial(set, _) | RecordMethod::Trace(set, _) | RecordMethod::Job(set) => {
                store.remove(set)
            }
            RecordMethod::Scan(_) => Ok(()),
        });
        // A set that could not be removed is put in order when the store is opened next.
        let _ = removed.await;
    }

    /// Leaves the record to the job's supervisor. Returns the changes known so far.
    async fn let_go(self, session: String) -> Result<Changes, String> {
        let Self { store, how, .. } = self;
        let RecordMethod::Job(set) = how else {
            return Err("it is no job".to_owned());
        };
        let shown = run_blocking(move || {
            let id = set.id();
            drop(set);
            store.show(&session, id).map_err(error_text)
        });
        shown.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    async fn ended(self, tool: &ToolContext, outcome: &Outcome) -> CallChanges {
        let session = tool.changes.session().to_owned();
        let tell = tool.changes.settings.tell;
        let trial = match &self.how {
            RecordMethod::Trial(_, trial) => Some(*trial),
            _ => None,
        };
        let is_to_be_known = trial.is_some() || tool.changes.is_asked_for();
        let (held_back, traced) = (outcome.held_back, outcome.traced.clone());
        let max_mb = tool.changes.settings.max_set_mb;
        let is_full = traced.as_ref().is_some_and(|it| it.full) || self.is_full;
        let full = is_full.then(|| NoticeKind::ChangesLimit { max_mb }.into());
        let unwatched = self.left_unwatched(outcome);
        let lacking = traced.as_ref().filter(|it| !it.full && is_to_be_known);
        let lacking = lacking.and_then(|it| it.lacking.as_deref());
        let partly = lacking.map(|reason| unknown(format!("not all of it: {reason}")));
        let succeeded = matches!(outcome.ending, ScriptEnding::Exited { code: 0 });
        let wanted = succeeded && outcome.survivors.is_empty();
        let Self { store, how, .. } = self;
        if let (RecordMethod::Trace(_, shell), Some(traced)) = (&how, &traced)
            && traced.unwatched
        {
            let reason = traced.lacking.as_deref().unwrap_or_default();
            tool.changes.unwatched.remember(shell.as_ref(), reason);
        }
        if let (RecordMethod::Trial(set, _), true) = (&how, lacking.is_some()) {
            // A process outside may have changed files. If the mark cannot be stored, the notice
            // still says so.
            let _ = set.lacks();
        }
        let places = [store.path().to_owned(), how.root()];
        let (changes, clock) = (Arc::clone(&tool.changes), Arc::clone(&tool.clock));
        let is_confined = outcome.sandbox.is_some();
        let (own, kept) = (Arc::clone(&tool.changes), Arc::clone(&store));
        let end = move || match how {
            RecordMethod::Trial(..) if !held_back => Err(NOT_HELD_BACK_REASON.to_owned()),
            RecordMethod::Trial(set, TrialRequest::Hold) => store.hold(set).map_err(error_text),
            RecordMethod::Trial(set, TrialRequest::Atomic) if wanted => {
                committed(&store, &session, set)
            }
            RecordMethod::Trial(set, TrialRequest::Atomic) => {
                store.drop_trial(set).map_err(error_text)
            }
            RecordMethod::Trace(set, _) => recorded(&store, set, traced.as_ref()),
            RecordMethod::Job(_) => Err("it is a job".to_owned()),
            RecordMethod::Scan(before) => compared::after(&changes, &store, &before, &*clock),
        };
        let ended = tool.sandbox.looks.work(move || {
            let changes: Changes = end()?;
            let is_held = is_confined && changes.state == ChangesState::Held;
            let protected = is_held.then(|| protected_in_trial(&own, &kept, &changes));
            Ok((changes, protected.flatten()))
        });
        // A commit must not be left half done.
        let at_most = trial.map_or(MAX_CHECKS, |_| usize::MAX);
        let changes = match while_answering(tool, &places, at_most, ended).await {
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
                    _ => changes.text(tell),
                };
                CallChanges {
                    notices: text
                        .map(|text| file_notice(&changes, &text))
                        .into_iter()
                        .chain(full)
                        .chain(partly)
                        .chain(unwatched)
                        .chain(protected)
                        .collect(),
                    changes: Some(changes),
                }
            }
            Err(reason) => CallChanges {
                changes: None,
                notices: Vec::from_iter(is_to_be_known.then(|| unknown(reason))),
            },
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn error_text(error: ChangesError) -> String {
    error.to_string()
}

/// Names the files of a held trial that run or configure programs outside of the sandbox.
fn protected_in_trial(own: &ChangeStore, store: &Store, held: &Changes) -> Option<Notice> {
    // A trial that cannot be read cannot be committed either.
    let (_, files) = store.show_all(own.session(), held.id).ok()?;
    let found = own.protected.among(Path::new(&held.root), &files);
    let paths: Vec<String> = found
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    (!paths.is_empty()).then(|| NoticeKind::ProtectedInTrial { paths }.into())
}

/// Commits a trial. If another process has changed one of its files meanwhile, the changes stay
/// held, and the result names the file.
fn committed(store: &Store, session: &str, set: ChangeSet) -> Result<Changes, String> {
    let mut held = store.hold_to_commit(set).map_err(error_text)?;
    match store.commit(session, held.id) {
        Ok(changes) => Ok(changes),
        Err(ChangesError::Conflict { conflicts, .. }) => {
            held.conflicts = conflicts;
            Ok(held)
        }
        Err(error) => Err(error.to_string()),
    }
}

fn recorded(store: &Store, set: ChangeSet, traced: Option<&TraceState>) -> Result<Changes, String> {
    const UNTRACEABLE_REASON: &str = "it ran where it cannot be traced";
    let lacking = match traced {
        Some(traced) if traced.unwatched => {
            let reason = traced
                .lacking
                .as_deref()
                .unwrap_or(UNTRACEABLE_REASON)
                .to_owned();
            store.remove(set).map_err(error_text)?;
            return Err(reason);
        }
        Some(traced) => traced.lacking.as_deref(),
        None => Some(UNTRACEABLE_REASON),
    };
    let ended = match lacking {
        None => store.finish(set),
        Some(_) => store.break_off(set),
    };
    let mut changes = ended.map_err(error_text)?;
    changes.exact &= lacking.is_none();
    if lacking.is_some() && changes.undo == Undoable::Whole {
        changes.undo = Undoable::Part;
    }
    match lacking {
        Some(reason) if changes.counts.total() == 0 => Err(reason.to_owned()),
        _ => Ok(changes),
    }
}

/// The notice with this line, without the brackets, which each layout adds itself.
fn file_notice(changes: &Changes, line: &str) -> Notice {
    let line = line.strip_prefix('[').unwrap_or(line);
    let line = line.strip_suffix(']').unwrap_or(line).to_owned();
    let id = changes.id;
    NoticeKind::Changes { id, line }.into()
}
