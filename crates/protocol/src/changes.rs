//! The data of the requests about what calls do to files.

use agent_bash_core::Timestamp;
use agent_bash_core::changes::{ChangeCounts, Changes, ChangesId, FileChange, FileName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data of `changes.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesListData {
    /// Oldest first.
    pub sets: Vec<ChangesSetData>,
}

/// A set of changes in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesSetData {
    /// The changes.
    pub changes: Changes,
    /// When its call was begun.
    pub started_at: Timestamp,
    /// The set that it took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangesId>,
    /// The set that it did again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redoes: Option<ChangesId>,
    /// The set of the call that it outlived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ChangesId>,
    /// True if an earlier call of the same shell may have started the processes instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_earlier: bool,
    /// The turn of its call, if turns are recorded.
    #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
    pub turn_name: Option<String>,
}

/// Data of `changes.diff`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesDiffData {
    /// The files that were asked for, in the order of their paths; those in a `.git` come last.
    pub files: Vec<FileDiffData>,
}

/// The diff of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiffData {
    /// The change.
    pub file: FileChange,
    /// A unified diff, with the file's own characters; `null` if there is none.
    pub diff: Option<String>,
    /// True if there is no diff because the file is not text.
    pub binary: bool,
    /// The file was changed again since, and what it was meanwhile is not kept: compared with the
    /// file as it is now.
    #[serde(default)]
    pub changed_since: bool,
    /// True for a file of a held trial that was changed since, so that it cannot be committed. The
    /// diff is of the trial's change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_the_way: bool,
    /// Type and permissions before and after, in octal, where they differ; otherwise `null`.
    pub mode: Option<[String; 2]>,
}

/// Data of `changes.commit`, `changes.discard`, `changes.undo` and `changes.redo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesDoneData {
    /// The set; of an undo or a redo the one that this is, which can be undone, too.
    pub changes: Changes,
    /// The counts as a sentence.
    pub text: String,
}

/// Data of `changes.preview`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesPreviewData {
    /// The number of files that would change.
    pub counts: ChangeCounts,
    /// All files of the change set.
    pub files: Vec<FileChange>,
    /// Files that were changed since. They prevent the operation, unless it may be done in part.
    pub conflicts: Vec<FileName>,
    /// The changes that are possible in part: all without conflicts.
    #[serde(default)]
    pub free: Vec<FileChange>,
}

/// Data of `changes.undo_all` and `changes.redo_all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesGroupData {
    /// The turn, if a turn was asked for.
    #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
    pub turn_name: Option<String>,
    /// The sets that were undone or redone, in this order.
    pub of: Vec<ChangesId>,
    /// The sets of the undos or redos, in this order.
    pub changes: Vec<Changes>,
    /// The result as a sentence, and a line for each file and set that was skipped.
    pub text: String,
}

/// Data of `changes.preview_all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesGroupPreviewData {
    /// The turn, if a turn was asked for.
    #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
    pub turn_name: Option<String>,
    /// The sets in the order of execution.
    pub sets: Vec<ChangesMemberData>,
    /// Sets that cannot be undone or redone.
    pub blocked: Vec<ChangesBlockedData>,
}

/// A set in a preview of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesMemberData {
    /// The set.
    pub id: ChangesId,
    /// The recorded directory.
    pub root: String,
    /// The effect of the operation.
    #[serde(flatten)]
    pub preview: ChangesPreviewData,
}

/// A set that cannot be undone or redone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesBlockedData {
    /// The set.
    pub id: ChangesId,
    /// Why it cannot.
    pub why: String,
}
