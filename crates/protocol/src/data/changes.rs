//! The data of responses about change sets: the changes that calls made to files.

use agent_bash_core::Timestamp;
use agent_bash_core::changes::{ChangeCounts, Changes, ChangesId, FileChange, FileName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data of `changes.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesListData {
    /// The change sets, oldest first.
    pub sets: Vec<ChangesSetData>,
}

/// A change set in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesSetData {
    /// The number, state and files of the change set.
    pub changes: Changes,
    /// When the call that made the changes was started.
    pub started_at: Timestamp,
    /// If this change set is an undo: the change set that was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangesId>,
    /// If this change set is a redo: the change set that was redone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redoes: Option<ChangesId>,
    /// For changes of background processes: the change set of the call that started the processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ChangesId>,
    /// True if an earlier call of the same shell may have started these background processes
    /// instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maybe_earlier: bool,
    /// The name of the turn in which the call ran, if turns are recorded.
    #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
    pub turn_name: Option<String>,
}

/// Data of `changes.diff`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesDiffData {
    /// The requested files, in the order of their paths; files in a `.git` directory come last.
    pub files: Vec<FileDiffData>,
}

/// The diff of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiffData {
    /// The change.
    pub file: FileChange,
    /// A unified diff, in which the file's characters are not escaped; `null` if no diff can be
    /// shown.
    pub diff: Option<String>,
    /// True if `diff` is `null` because the file is not text.
    pub binary: bool,
    /// True if the file was changed again later, and its contents before that change are not
    /// stored. The diff then compares with the current file.
    #[serde(default)]
    pub changed_since: bool,
    /// True for a file of a held trial that another process changed after the trial: the trial
    /// cannot be committed. The diff shows the trial's change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks_commit: bool,
    /// Type and permissions before and after, in octal, where they differ; otherwise `null`.
    pub mode: Option<[String; 2]>,
}

/// Data of `changes.commit`, `changes.discard`, `changes.undo` and `changes.redo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesDoneData {
    /// The change set. For an undo or a redo: the new change set of that operation, which can
    /// itself be undone.
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
    /// Files that were changed after the change set. These files prevent the operation, unless it
    /// is partial.
    pub conflicts: Vec<FileName>,
    /// The changes that a partial operation would make: all changes without conflicts.
    #[serde(default)]
    pub without_conflict: Vec<FileChange>,
}

/// Data of `changes.undo_all` and `changes.redo_all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesGroupData {
    /// The turn's name, if the request names a turn.
    #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
    pub turn_name: Option<String>,
    /// The change sets that were undone or redone, in order of execution.
    pub sets: Vec<ChangesId>,
    /// The new change sets of these undos or redos, in the same order.
    pub changes: Vec<Changes>,
    /// The result as a sentence, and a line for each skipped file or change set.
    pub text: String,
}

/// Data of `changes.preview_all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesGroupPreviewData {
    /// The turn's name, if the request names a turn.
    #[serde(rename = "turn", default, skip_serializing_if = "Option::is_none")]
    pub turn_name: Option<String>,
    /// The change sets in order of execution.
    pub sets: Vec<ChangesMemberData>,
    /// The change sets that cannot be undone or redone.
    pub blocked: Vec<ChangesBlockedData>,
}

/// A change set in the preview of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesMemberData {
    /// The number of the change set.
    pub id: ChangesId,
    /// The recorded directory.
    pub root: String,
    /// The effect of the operation.
    #[serde(flatten)]
    pub preview: ChangesPreviewData,
}

/// A change set that cannot be undone or redone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesBlockedData {
    /// The number of the change set.
    pub id: ChangesId,
    /// The reason.
    pub why: String,
}
