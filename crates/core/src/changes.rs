//! Changes of files as values: requests to record changes and to run trials, the change sets of
//! calls and trials, and how much of a set can be undone. `agent-bash-changes` records, stores and
//! applies change sets.

mod act;
mod id;
mod kind;
mod name;
mod text;
mod trace_state;

pub use act::ChangesAct;
pub use id::{ChangesId, ChangesIdError};
pub use kind::FileKind;
pub use name::FileName;
pub use text::{
    AnnouncedChanges, BY_SCAN, applied_text, changed_by_text, changed_since_text, changed_too_text,
    conflict_text, counted, discarded_text, not_redone_text, not_undone_text, protected_text,
    redone_text, undone_text,
};
pub use trace_state::TraceState;

use crate::enum_words::enum_words;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The largest number of files named in a result.
pub const MAX_FILES: usize = 50;

/// How much is recorded of the changes that ordinary calls make. Levels that record more are
/// greater.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangesLevel {
    /// Nothing is recorded.
    #[default]
    Off,
    /// The names of files that were created, changed, deleted.
    List,
    /// The list and the preimages, so that the changes can be undone.
    Undo,
}

enum_words! {
    ChangesLevel { Off => "off", List => "list", Undo => "undo" }
    Change {
        Created => "created",
        Changed => "changed",
        Deleted => "deleted",
        Renamed => "renamed",
        Mode => "mode",
    }
}

/// A request to hold back a call's changes. In JSON `true`, or `"atomic"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrialRequest {
    /// The changes are held until the user commits or discards them.
    Hold,
    /// The changes are committed if the command exits with 0, and discarded otherwise.
    Atomic,
}

impl Serialize for TrialRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hold => serializer.serialize_bool(true),
            Self::Atomic => serializer.serialize_str("atomic"),
        }
    }
}

impl<'de> Deserialize<'de> for TrialRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Self::from_json(&value)
            .ok_or_else(|| serde::de::Error::custom("a trial is `true` or \"atomic\""))
    }
}

impl TrialRequest {
    /// Parses a JSON value; `None` if it is not a trial request.
    pub(crate) fn from_json(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::Bool(true) => Some(Self::Hold),
            serde_json::Value::String(word) if word == "atomic" => Some(Self::Atomic),
            _ => None,
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TrialRequest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TrialRequest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "enum": [true, "atomic"] })
    }
}

/// The directories of an overlay mount for one call: writes below `root` go to `upper`.
///
/// All three paths are absolute and canonical. `upper` and `work` are private and on one file
/// system. The code that created them removes them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The mount point, which is also the lower directory.
    pub root: PathBuf,
    /// The upper directory, which receives the writes.
    pub upper: PathBuf,
    /// The work directory of overlayfs.
    pub work: PathBuf,
}

/// A change set: what a call did to files, or what a trial would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Changes {
    /// The number of the change set.
    pub id: ChangesId,
    /// The state of the change set.
    pub state: ChangesState,
    /// The command that made the changes: one line, shortened, secrets masked. Absent in the result
    /// of the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if some of the changes were undone and others were not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone_in_part: bool,
    /// How the changes were detected.
    pub by: ChangesBy,
    /// True if the list is complete and each entry is correct.
    pub exact: bool,
    /// The recorded directory; absolute. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub root: String,
    /// The number of changes of each type.
    pub counts: ChangeCounts,
    /// The first [`MAX_FILES`] changes: deletions first, files of `.git` last.
    pub files: Vec<FileChange>,
    /// The number of changes that are not in `files`.
    pub more: u64,
    /// The URI of the complete list: `changes://<id>`.
    pub all: String,
    /// How much of the change set can be undone.
    pub undo: Undoable,
    /// Files without a preimage, which cannot be restored.
    pub not_restorable: Vec<FileName>,
    /// Files that another process changed in the meantime.
    pub conflicts: Vec<FileName>,
    /// The number of files changed outside `root`, by directory. Beyond a limit, writes are counted
    /// instead of files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outside: BTreeMap<String, u64>,
}

impl Changes {
    /// Returns a change set without changes: exact, nothing to undo.
    pub fn new(id: ChangesId, state: ChangesState, by: ChangesBy, root: impl Into<String>) -> Self {
        Self {
            id,
            state,
            command: None,
            undone_in_part: false,
            by,
            exact: by != ChangesBy::Scan,
            root: root.into(),
            counts: ChangeCounts::default(),
            files: Vec::new(),
            more: 0,
            all: id.uri(),
            undo: Undoable::No,
            not_restorable: Vec::new(),
            conflicts: Vec::new(),
            outside: BTreeMap::new(),
        }
    }

    /// Sets `counts`, `files` and `more` from all changes, which must be sorted by path.
    #[must_use]
    pub fn with_files(mut self, all: impl IntoIterator<Item = FileChange>) -> Self {
        // Deleted files, other files, deleted files of `.git`, other files of `.git`.
        let mut groups: [Vec<FileChange>; 4] = Default::default();
        for file in all {
            self.counts.count(file.change);
            let group = match (file.name.is_of_git(), file.change) {
                (false, Change::Deleted) => 0,
                (false, _) => 1,
                (true, Change::Deleted) => 2,
                (true, _) => 3,
            };
            if groups[group].len() < MAX_FILES {
                groups[group].push(file);
            }
        }
        self.files = groups.into_iter().flatten().take(MAX_FILES).collect();
        self.more = self.counts.total().saturating_sub(self.files.len() as u64);
        self
    }
}

/// The state of a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangesState {
    /// The call made the changes; only the names are recorded.
    Listed,
    /// The call made the changes.
    Done,
    /// A trial holds the changes.
    Held,
    /// A trial held the changes, and they were discarded.
    Discarded,
    /// The changes were undone.
    Undone,
    /// The recording process died, and the list ends there. Or a process died while it applied held
    /// changes, and the rest cannot be applied yet, for example because the directory does not
    /// exist.
    Interrupted,
    /// The call is still running.
    Running,
}

/// How changes were detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangesBy {
    /// The call wrote to an overlay.
    Overlay,
    /// The system calls of the call were traced.
    Trace,
    /// The directory was scanned before and after the call.
    Scan,
}

/// The number of changed files by type of change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeCounts {
    /// Files that did not exist before.
    pub created: u64,
    /// Files with other contents or another type.
    pub changed: u64,
    /// Files that no longer exist.
    pub deleted: u64,
    /// Files that were moved to another path.
    pub renamed: u64,
    /// Files with other permissions, owner, times or attributes, and the same contents.
    pub mode: u64,
}

impl ChangeCounts {
    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.created + self.changed + self.deleted + self.renamed + self.mode
    }

    /// Returns the counts of these changes.
    pub fn of<'a>(files: impl IntoIterator<Item = &'a FileChange>) -> Self {
        let mut counts = Self::default();
        for file in files {
            counts.count(file.change);
        }
        counts
    }

    /// Returns the sums of the counts of `self` and `other`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            created: self.created + other.created,
            changed: self.changed + other.changed,
            deleted: self.deleted + other.deleted,
            renamed: self.renamed + other.renamed,
            mode: self.mode + other.mode,
        }
    }

    /// Adds one to the count of `change`.
    pub fn count(&mut self, change: Change) {
        *match change {
            Change::Created => &mut self.created,
            Change::Changed => &mut self.changed,
            Change::Deleted => &mut self.deleted,
            Change::Renamed => &mut self.renamed,
            Change::Mode => &mut self.mode,
        } += 1;
    }
}

/// The type of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// The file did not exist before.
    Created,
    /// The contents or the type changed.
    Changed,
    /// The file no longer exists.
    Deleted,
    /// The file was moved.
    Renamed,
    /// Permissions, owner, times or attributes changed; the contents did not.
    Mode,
}

/// A file that a call changed. Paths are below the root, separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileChange {
    /// The file's path, or its path before the call deleted it.
    #[serde(flatten)]
    pub name: FileName,
    /// The file's former path, if the file was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The bytes of the former path in base64, if they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_base64: Option<String>,
    /// The type of the change.
    pub change: Change,
    /// The file type, or the former one of a deleted file. Absent in JSON for regular files.
    #[serde(default, skip_serializing_if = "FileKind::is_file")]
    pub kind: FileKind,
    /// Size of a regular file in bytes before and after; 0 if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<[u64; 2]>,
    /// True if `change` was inferred: a deleted and a created file have equal contents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
}

impl FileChange {
    /// Returns a change of a regular file of unknown size.
    pub fn new(name: FileName, change: Change) -> Self {
        Self {
            name,
            from: None,
            from_base64: None,
            change,
            kind: FileKind::default(),
            bytes: None,
            inferred: false,
        }
    }

    /// True if `name` is the path of the file before or after the change.
    pub fn is_named(&self, name: &FileName) -> bool {
        self.name.path == name.path || self.from.as_ref() == Some(&name.path)
    }

    /// Marks the change as an inferred rename from `from`.
    #[must_use]
    pub fn renamed_from(mut self, from: FileName) -> Self {
        self.from = Some(from.path);
        self.from_base64 = from.path_base64;
        self.change = Change::Renamed;
        self.inferred = true;
        self
    }
}

/// How much of a change set can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Undoable {
    /// All changes.
    Whole,
    /// All changes of files with a preimage.
    Part,
    /// No change.
    No,
}

#[cfg(test)]
#[path = "changes/tests.rs"]
mod tests;
