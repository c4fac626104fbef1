//! What a call did to files, as values: what is asked for, what is held or was done, what can be taken back. How it is
//! found out, kept and applied is in `agent-bash-changes`.

mod kind;
mod name;
mod text;

pub use kind::FileKind;
pub use name::FileName;
pub use text::{
    BY_SCAN, Tell, applied_text, changed_by_text, changed_since_text, changed_too_text,
    conflict_text, counted, discarded_text, not_redone_text, not_undone_text, redone_text,
    undone_text,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Files named in a result at most.
pub const MAX_FILES: usize = 50;

/// How much is kept of what ordinary calls do to files. Those that keep more are greater.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangesLevel {
    /// Nothing.
    #[default]
    Off,
    /// Which files were created, changed, deleted.
    List,
    /// That, and what they were before, so that it can be taken back.
    Undo,
}

impl ChangesLevel {
    /// The word in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::List => "list",
            Self::Undo => "undo",
        }
    }
}

impl fmt::Display for ChangesLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A call whose changes are held back. In JSON `true`, or `"atomic"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrialRequest {
    /// They are held until somebody commits or discards them.
    Hold,
    /// They are committed if the command exits with 0, and discarded otherwise.
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
        Self::read(&value)
            .ok_or_else(|| serde::de::Error::custom("a trial is `true` or \"atomic\""))
    }
}

impl TrialRequest {
    /// What a value asks for; `None` if it is no such request.
    pub(crate) fn read(value: &serde_json::Value) -> Option<Self> {
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

/// A copy-on-write view for one call: what is written below `root` lands in `upper`. All three are absolute,
/// canonical, and owned by whoever prepared them; `upper` and `work` are on one file system and private.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The directory that looks changed; it is the lower one, too.
    pub root: PathBuf,
    /// Takes what is written.
    pub upper: PathBuf,
    /// Belongs to the file system.
    pub work: PathBuf,
}

/// Number of a set of changes in its session. In JSON a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangesId(pub u64);

/// The URI scheme of sets.
const SCHEME: &str = "changes://";

impl ChangesId {
    /// `changes://<id>`.
    pub fn uri(self) -> String {
        format!("{SCHEME}{}", self.0)
    }
}

impl fmt::Display for ChangesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What stands in place of the number of a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a set of changes is named by its number, such as `7` or `changes://7`; got `{0}`")]
pub struct ChangesIdError(pub String);

impl FromStr for ChangesId {
    type Err = ChangesIdError;

    /// Parses `7` or `changes://7`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(SCHEME).unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = plain.then(|| digits.parse().ok()).flatten();
        number
            .map(Self)
            .ok_or_else(|| ChangesIdError(text.to_owned()))
    }
}

impl Serialize for ChangesId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ChangesId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ChangesId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ChangesId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9]+$" })
    }
}

/// What a call did to files, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Changes {
    /// The set that keeps them.
    pub id: ChangesId,
    /// What has become of them.
    pub state: ChangesState,
    /// The command that they are of, on one line and cut, without what is secret. Not in the result of the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Whether some of them were taken back since, and others were not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone_in_part: bool,
    /// How they are known.
    pub by: ChangesBy,
    /// Whether these are all of them, and each is as it says.
    pub exact: bool,
    /// The directory that is looked at; absolute. Characters that are not UTF-8 are replaced.
    pub root: String,
    /// How many there are.
    pub counts: ChangeCounts,
    /// The first of them, at most [`MAX_FILES`], deletions first; those in a `.git` come last.
    pub files: Vec<FileChange>,
    /// How many there are beyond `files`.
    pub more: u64,
    /// Where all of them are: `changes://<id>`.
    pub all: String,
    /// How much of it can be taken back.
    pub undo: Undoable,
    /// Files whose former content was not kept.
    pub not_kept: Vec<FileName>,
    /// Files that somebody else has changed meanwhile.
    pub conflicts: Vec<FileName>,
    /// Files beyond `root` that are others afterwards, by directory. Of very many, each write counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outside: BTreeMap<String, u64>,
}

impl Changes {
    /// A set of which nothing is known yet but where it is kept: no changes, exact, nothing to undo.
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
            not_kept: Vec::new(),
            conflicts: Vec::new(),
            outside: BTreeMap::new(),
        }
    }

    /// Sets counts, files and how many more there are, from all changes in the order of their paths.
    #[must_use]
    pub fn with_files(mut self, all: impl IntoIterator<Item = FileChange>) -> Self {
        // Those deleted and the others; then the same of Git's.
        let mut parts: [Vec<FileChange>; 4] = Default::default();
        for file in all {
            self.counts.count(file.change);
            let part = match (file.name.is_of_git(), file.change) {
                (false, Change::Deleted) => 0,
                (false, _) => 1,
                (true, Change::Deleted) => 2,
                (true, _) => 3,
            };
            if parts[part].len() < MAX_FILES {
                parts[part].push(file);
            }
        }
        self.files = parts.into_iter().flatten().take(MAX_FILES).collect();
        self.more = self.counts.total().saturating_sub(self.files.len() as u64);
        self
    }
}

/// What has become of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangesState {
    /// They were done, and only their names are known.
    Listed,
    /// They were done.
    Done,
    /// They are held back.
    Held,
    /// They were held back, and are gone.
    Discarded,
    /// They were done, and taken back.
    Undone,
    /// Whoever kept watch died: these are those seen until then. Or whoever applied what was held, and it could not be
    /// finished yet, as their directory is not there for example.
    Interrupted,
    /// Their call runs: it is not known yet what it does.
    Running,
}

/// How changes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangesBy {
    /// The call wrote to a view of its own.
    Overlay,
    /// Its system calls were observed.
    Trace,
    /// The directory was compared with what it was before.
    Scan,
}

/// How many files changed, by what was done to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeCounts {
    /// Not there before.
    pub created: u64,
    /// With another content, or of another type.
    pub changed: u64,
    /// Gone.
    pub deleted: u64,
    /// At another path.
    pub renamed: u64,
    /// With other permissions, owner, times or attributes, and nothing else.
    pub mode: u64,
}

impl ChangeCounts {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.created + self.changed + self.deleted + self.renamed + self.mode
    }

    /// How many these are.
    pub fn of<'a>(files: impl IntoIterator<Item = &'a FileChange>) -> Self {
        let mut counts = Self::default();
        for file in files {
            counts.count(file.change);
        }
        counts
    }

    /// These and those.
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

    /// Counts one more.
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

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// It was not there before.
    Created,
    /// Its content or its type is another.
    Changed,
    /// It is gone.
    Deleted,
    /// It was at another path.
    Renamed,
    /// Its permissions, owner, times or attributes are others, and nothing else.
    Mode,
}

impl Change {
    /// The word in JSON and texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Mode => "mode",
        }
    }
}

/// A file that a call changed. Paths are below the root, separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileChange {
    /// Where it is, or was.
    #[serde(flatten)]
    pub name: FileName,
    /// Where it was before, if it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// [`Self::from`] in base64, if that is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_base64: Option<String>,
    /// What was done.
    pub change: Change,
    /// What it is, or was. Left out in JSON for regular files.
    #[serde(default, skip_serializing_if = "FileKind::is_file")]
    pub kind: FileKind,
    /// Bytes before and after, of regular files; 0 where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<[u64; 2]>,
    /// Whether `change` was concluded from equal contents, as of a file that is gone here and there as new.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
}

impl FileChange {
    /// A change of the file at `path`, of which no more is known.
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

    /// Whether that is its name, or was.
    pub fn is_named(&self, name: &FileName) -> bool {
        self.name.path == name.path || self.from.as_ref() == Some(&name.path)
    }

    /// The same, renamed from there, as far as can be concluded.
    #[must_use]
    pub fn renamed_from(mut self, from: FileName) -> Self {
        self.from = Some(from.path);
        self.from_base64 = from.path_base64;
        self.change = Change::Renamed;
        self.inferred = true;
        self
    }
}

/// How much of a set can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Undoable {
    /// All of it.
    Whole,
    /// All but what was not kept.
    Part,
    /// Nothing.
    No,
}

/// How much of what a call did to files was seen while it did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// Why that was not all, if it was not.
    pub lacking: Option<String>,
    /// Whether the call was ended, as no more could be kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// Whether nobody watched at all, and nobody will watch the next call in that shell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwatched: bool,
}

impl Traced {
    /// All of it.
    pub fn complete() -> Self {
        Self {
            lacking: None,
            full: false,
            unwatched: false,
        }
    }

    /// Not all of it, and why.
    pub fn incomplete(reason: impl Into<String>) -> Self {
        Self {
            lacking: Some(reason.into()),
            full: false,
            unwatched: false,
        }
    }

    /// Nothing of it, as nobody can watch the shell, and why.
    pub fn unwatched(reason: impl Into<String>) -> Self {
        Self {
            unwatched: true,
            ..Self::incomplete(reason)
        }
    }

    /// Not all of it either, for this reason unless there was one before.
    pub fn lacks(&mut self, reason: impl Into<String>) {
        self.lacking.get_or_insert_with(|| reason.into());
    }
}

#[cfg(test)]
#[path = "changes/tests.rs"]
mod tests;
