//! What a page is made of: a record, and what a host adds to it, which is what is still known of changes and jobs.

use agent_bash_core::changes::{Changes, ChangesId, FileChange};
use agent_bash_core::{JobId, Timestamp};
use agent_bash_journal::{JournalEntry, Recorded};
use std::collections::{BTreeMap, BTreeSet};

/// What changed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// Which one, and what was done to it.
    pub file: FileChange,
    /// A unified diff, if there is one.
    pub text: Option<String>,
    /// What else is to be said: it is binary, its mode changed.
    pub note: Option<String>,
}

impl Diff {
    /// A file of which no more is known.
    pub fn of(file: FileChange) -> Self {
        Self {
            file,
            text: None,
            note: None,
        }
    }
}

/// Something that was done with the changes of a call after it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deed {
    /// When.
    pub at: Timestamp,
    /// In a few words: `committed`, `undone but for src/a.rs`.
    pub what: String,
}

impl Deed {
    /// That was done at this time.
    pub fn new(at: Timestamp, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { at, what }
    }
}

/// A background job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobLine {
    /// Its number in the session.
    pub id: JobId,
    /// In a few words: `running`, `exited with code 0`.
    pub state: String,
    /// Whether it has not ended.
    pub is_running: bool,
    /// Whether it ended otherwise than with exit code 0.
    pub failed: bool,
    /// The file that has its output.
    pub output: Option<String>,
    /// Its processes that are alive, with their commands; `None` if that is not known.
    pub alive: Option<Vec<(u32, String)>>,
}

impl JobLine {
    /// A job in this state, of which no more is known.
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

    /// Whether any process of it is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.is_running || self.alive.as_ref().is_some_and(|alive| !alive.is_empty())
    }
}

/// A recorded session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page {
    /// Its name.
    pub session: String,
    /// When the page is made.
    pub made_at: Timestamp,
    /// Its calls.
    pub entries: Vec<JournalEntry>,
    /// Lines of the record that could not be read, also because a newer version has written them.
    pub damaged: u64,
    /// Whether the record was full before the session ended.
    pub full: bool,
    /// What changed in files, by the set of a call.
    pub diffs: BTreeMap<ChangesId, Vec<Diff>>,
    /// What calls left running has changed, by the set of the call.
    pub background: BTreeMap<ChangesId, Vec<Changes>>,
    /// Those of them of which it is not known whether that call or an earlier one of its shell left it running.
    pub or_earlier: BTreeSet<ChangesId>,
    /// What was done with changes, in the order of time, by their set.
    pub actions: BTreeMap<ChangesId, Vec<Deed>>,
    /// When the first call of each process of the session began, if there are several.
    pub processes: Vec<Timestamp>,
    /// What has become of its jobs.
    pub jobs: Vec<JobLine>,
}

impl Page {
    /// A page of what was recorded of a session, and of nothing that came after.
    pub fn new(session: impl Into<String>, recorded: Recorded, made_at: Timestamp) -> Self {
        Self {
            session: session.into(),
            made_at,
            entries: recorded.entries,
            damaged: recorded.damaged + recorded.newer,
            full: recorded.full,
            diffs: BTreeMap::new(),
            background: BTreeMap::new(),
            or_earlier: BTreeSet::new(),
            actions: BTreeMap::new(),
            processes: Vec::new(),
            jobs: Vec::new(),
        }
    }

    /// What is known of the files of a set.
    pub(crate) fn diffs(&self, set: &Changes) -> &[Diff] {
        self.diffs.get(&set.id).map_or(&[], Vec::as_slice)
    }

    /// What was done with a set.
    pub(crate) fn actions(&self, set: &Changes) -> &[Deed] {
        self.actions.get(&set.id).map_or(&[], Vec::as_slice)
    }

    /// What a call left running has changed.
    pub(crate) fn background_changes(&self, entry: &JournalEntry) -> &[Changes] {
        let set = entry.result.changes.as_ref();
        let late = set.and_then(|set| self.background.get(&set.id));
        late.map_or(&[], Vec::as_slice)
    }
}
