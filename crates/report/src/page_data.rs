//! The data of a page: a journal, and the present state of changes and jobs, which the host adds.

use agent_bash_core::changes::{Changes, ChangesId, FileChange};
use agent_bash_core::{JobId, Status, Timestamp};
use agent_bash_journal::{JournalContents, JournalEntry};
use std::collections::{BTreeMap, BTreeSet};

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// The file and the kind of change.
    pub file: FileChange,
    /// A unified diff, if there is one.
    pub text: Option<String>,
    /// A further note: the file is binary, or its mode changed.
    pub note: Option<String>,
}

impl Diff {
    /// Returns the changes of a file whose diff is unknown.
    pub fn of(file: FileChange) -> Self {
        Self {
            file,
            text: None,
            note: None,
        }
    }
}

/// An action on the changes of an earlier call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangesAction {
    /// The time of the action.
    pub at: Timestamp,
    /// The action in a few words: `committed`, `undone but for src/a.rs`.
    pub what: String,
}

impl ChangesAction {
    /// Returns an action at this time.
    pub fn new(at: Timestamp, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { at, what }
    }
}

/// A background job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobLine {
    /// The number of the job in the session.
    pub id: JobId,
    /// The state in a few words: `running`, `exited with code 0`.
    pub state: String,
    /// True if the job has not ended.
    pub is_running: bool,
    /// True if the job has ended, but not with exit code 0.
    pub failed: bool,
    /// The file with the output.
    pub output: Option<String>,
    /// The running processes of the job, with their commands; `None` if unknown.
    pub alive: Option<Vec<(u32, String)>>,
}

impl JobLine {
    /// Returns a job in this state, without further facts.
    pub fn new(id: JobId, state: impl Into<String>) -> Self {
        Self {
            id,
            state: state.into(),
            is_running: false,
            failed: false,
            output: None,
            alive: None,
        }
    }

    /// True if any process of the job is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.is_running || self.alive.as_ref().is_some_and(|alive| !alive.is_empty())
    }
}

/// Returns the known jobs of a call: the job that the call became, or the jobs of its survivors.
pub(crate) fn jobs_of_call<'a>(entry: &JournalEntry, jobs: &'a [JobLine]) -> Vec<&'a JobLine> {
    let survivors = entry.result.survivors.iter();
    let mut ids: Vec<&JobId> = survivors
        .filter_map(|survivor| survivor.job.as_ref())
        .collect();
    if let Status::MovedToBackground { job, .. } = &entry.result.status {
        ids.push(job);
    }
    jobs.iter().filter(|job| ids.contains(&&job.id)).collect()
}

/// A recorded session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page {
    /// The name of the session.
    pub session: String,
    /// The time at which the page is made.
    pub made_at: Timestamp,
    /// The calls of the session.
    pub entries: Vec<JournalEntry>,
    /// Number of lines of the journal that could not be read, for example because a newer version
    /// wrote them.
    pub damaged: u64,
    /// True if the journal was full before the session ended.
    pub full: bool,
    /// The diffs of changed files, by change set.
    pub diffs: BTreeMap<ChangesId, Vec<Diff>>,
    /// The changes of background processes, by the change set of the call.
    pub background: BTreeMap<ChangesId, Vec<Changes>>,
    /// The change sets of `background` whose processes an earlier call of the same shell may have
    /// started.
    pub maybe_earlier: BTreeSet<ChangesId>,
    /// Actions on changes, in order of time, by their change set.
    pub actions: BTreeMap<ChangesId, Vec<ChangesAction>>,
    /// If several processes recorded the session, the start of the first call of each process.
    pub process_starts: Vec<Timestamp>,
    /// The present state of the session's jobs.
    pub jobs: Vec<JobLine>,
}

impl Page {
    /// Returns the page of a recorded session. The caller adds what happened after the session.
    pub fn new(session: impl Into<String>, recorded: JournalContents, made_at: Timestamp) -> Self {
        Self {
            session: session.into(),
            made_at,
            entries: recorded.entries,
            damaged: recorded.damaged + recorded.newer,
            full: recorded.full,
            diffs: BTreeMap::new(),
            background: BTreeMap::new(),
            maybe_earlier: BTreeSet::new(),
            actions: BTreeMap::new(),
            process_starts: Vec::new(),
            jobs: Vec::new(),
        }
    }

    pub(crate) fn diffs(&self, set: &Changes) -> &[Diff] {
        self.diffs.get(&set.id).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn actions(&self, set: &Changes) -> &[ChangesAction] {
        self.actions.get(&set.id).map_or(&[], Vec::as_slice)
    }

    /// Returns the changes of a call's background processes.
    pub(crate) fn background_changes(&self, entry: &JournalEntry) -> &[Changes] {
        let set = entry.result.changes.as_ref();
        let background = set.and_then(|set| self.background.get(&set.id));
        background.map_or(&[], Vec::as_slice)
    }
}
