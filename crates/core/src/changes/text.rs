//! The one-line texts about changes for the model.

use super::{Change, ChangeCounts, Changes, ChangesBy, ChangesId, ChangesState, FileName};
use crate::plural;
use crate::visible::one_line;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The largest number of names in a line.
const MAX_NAMED_FILES: usize = 5;

/// Marks changes that were detected by a scan ([`ChangesBy::Scan`]).
pub const BY_SCAN: &str = "by scan, may be incomplete";

/// The changes of ordinary calls that the text for the model names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnnouncedChanges {
    /// All changes.
    All,
    /// Changes that delete files, and changes that cannot be undone.
    #[default]
    Deletions,
    /// No changes.
    None,
}

impl ChangeCounts {
    /// Returns `2 created, 1 changed`. Counts of zero are omitted; the text is empty if all are
    /// zero.
    pub fn in_words(&self) -> String {
        in_words(self, &DELETED_LAST)
    }
}

impl Changes {
    /// Returns why a held trial can no longer be committed, if so.
    pub fn commit_obstacle(&self) -> Option<String> {
        let is_held = self.state == ChangesState::Held && !self.conflicts.is_empty();
        is_held.then(|| changed_since_text(self.conflicts.len() as u64))
    }

    /// Returns the line for the model. A trial always has a line; for an ordinary call, `announced`
    /// decides.
    pub fn text(&self, announced: AnnouncedChanges) -> Option<String> {
        if let Some(first) = self.conflicts.first() {
            return Some(conflict_text(self.id, first));
        }
        match self.state {
            ChangesState::Held => Some(self.held_text()),
            ChangesState::Discarded if self.counts.total() == 0 => Some(self.nothing_text()),
            ChangesState::Discarded => Some(discarded_text(self.id)),
            _ => self.done_text(announced),
        }
    }

    fn held_text(&self) -> String {
        let counts = in_words(&self.counts, &DELETED_LAST);
        let deleted: Vec<String> = self
            .files
            .iter()
            .filter(|file| file.change == Change::Deleted)
            .map(|file| one_line(&file.name.path).into_owned())
            .collect();
        let effect = match (counts.is_empty(), deleted.is_empty()) {
            (true, _) if !self.exact => "It changes no known file".to_owned(),
            (true, _) => format!("It changes no file in {}", one_line(&self.root)),
            (false, true) => counts,
            (false, false) => format!("{counts}: {}", list(&deleted, self.counts.deleted)),
        };
        format!(
            "[Trial {}: nothing applied yet. {effect}. Details: {}]",
            self.id, self.all
        )
    }

    /// Returns the text of a trial that changed no file below its root. Changes of other files are
    /// not held back.
    fn nothing_text(&self) -> String {
        let known = if self.exact { "" } else { " that is known" };
        let (id, root) = (self.id, one_line(&self.root));
        format!("[Trial {id}: it changes no file{known} in {root}.]")
    }

    fn done_text(&self, announced: AnnouncedChanges) -> Option<String> {
        let is_announced = match announced {
            AnnouncedChanges::All => self.counts.total() > 0,
            // A change without a preimage is as final as a deletion.
            AnnouncedChanges::Deletions => {
                self.counts.deleted > 0 || !self.not_restorable.is_empty()
            }
            AnnouncedChanges::None => false,
        };
        if !is_announced {
            return None;
        }
        let names: Vec<String> = self
            .files
            .iter()
            .map(|file| {
                let name = one_line(&file.name.path);
                match file.change {
                    Change::Changed => name.into_owned(),
                    change => format!("{name} ({})", change.word()),
                }
            })
            .collect();
        let about = if self.exact { "" } else { "about " };
        let by = match self.by {
            ChangesBy::Scan => format!(" ({BY_SCAN})"),
            ChangesBy::Overlay | ChangesBy::Trace => String::new(),
        };
        let not_restorable: Vec<_> = self
            .not_restorable
            .iter()
            .map(|file| one_line(&file.path).into_owned())
            .collect();
        let total = u64::try_from(not_restorable.len()).unwrap_or(u64::MAX);
        let not_restorable = match total {
            0 => String::new(),
            _ => format!(" (cannot be undone: {})", list(&not_restorable, total)),
        };
        Some(format!(
            "[Files: {about}{}: {} {}{by}{not_restorable}]",
            in_words(&self.counts, &DELETED_FIRST),
            list(&names, self.counts.total()),
            self.all
        ))
    }
}

/// Returns the text of a committed trial.
pub fn applied_text(id: ChangesId, counts: &ChangeCounts) -> String {
    match in_words(counts, &DELETED_LAST) {
        none if none.is_empty() => format!("[Trial {id} applied: it changes no file.]"),
        counts => format!("[Trial {id} applied: {counts}.]"),
    }
}

/// Returns the text of a trial that was not committed because another process changed `file`.
pub fn conflict_text(id: ChangesId, file: &FileName) -> String {
    let name = one_line(&file.path);
    format!("[Trial {id} not applied: {name} was changed by another process meanwhile.]")
}

/// Returns the text of a discarded trial.
pub fn discarded_text(id: ChangesId) -> String {
    format!("[Trial {id}: nothing was applied; its changes are discarded.]")
}

/// Returns the text that names the later call that changed a file: `README.md was changed since,
/// by: echo five >> README.md`.
pub fn changed_by_text(file: &FileName, command: &str) -> String {
    let (name, command) = (one_line(&file.path), one_line(command));
    format!("{name} was changed since, by: {command}")
}

/// Returns the text for a further conflicting file. Names the command that changed the file, if
/// known.
pub fn changed_too_text(file: &FileName, by: Option<&str>) -> String {
    match by {
        Some(command) => changed_by_text(file, command),
        None => format!("changed, too: {}", one_line(&file.path)),
    }
}

/// Returns why a held trial can no longer be committed: `files` of its files were changed since.
pub fn changed_since_text(files: u64) -> String {
    let (files, were) = (counted(files), if files == 1 { "was" } else { "were" });
    format!("{files} {were} changed since: it can no longer be committed")
}

/// Returns the text of an undone change set.
pub fn undone_text(id: ChangesId, files: u64) -> String {
    let files = counted(files);
    format!("[Undone: {files} as before call {id}.]")
}

/// Returns the text of a refused undo: `file` was changed since. `others` is the number of files
/// without a conflict.
pub fn not_undone_text(file: &FileName, others: u64) -> String {
    let name = one_line(&file.path);
    let rest = match others {
        0 => String::new(),
        1 => " The other one can be undone alone.".to_owned(),
        others => format!(" The other {others} can be undone alone."),
    };
    format!("[Not undone: {name} was changed since.{rest}]")
}

/// Returns the text of a redone change set.
pub fn redone_text(id: ChangesId, files: u64) -> String {
    let files = counted(files);
    format!("[Done again: {files} as after call {id}.]")
}

/// Returns the text of a refused redo: `file` was changed since.
pub fn not_redone_text(file: &FileName) -> String {
    let name = one_line(&file.path);
    format!("[Not done again: {name} was changed since.]")
}

/// Returns the text about changed files that run or configure other programs; `None` if `files` is
/// empty.
pub fn protected_text(files: &[PathBuf]) -> Option<String> {
    let name = |path: &PathBuf| one_line(&path.to_string_lossy()).into_owned();
    let names: Vec<String> = files.iter().map(name).collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("[These run or configure programs outside of the sandbox: {names}.]")
    })
}

/// Returns `1 file`, `4 files`.
pub fn counted(files: u64) -> String {
    plural(files, "file")
}

/// The order of the counts in a text that names deleted files after the counts.
const DELETED_LAST: [Change; 5] = [
    Change::Created,
    Change::Changed,
    Change::Renamed,
    Change::Mode,
    Change::Deleted,
];
/// The order of the counts in the text of an ordinary call.
const DELETED_FIRST: [Change; 5] = [
    Change::Deleted,
    Change::Created,
    Change::Changed,
    Change::Renamed,
    Change::Mode,
];

/// Returns "2 created, 1 changed"; counts of zero are omitted.
fn in_words(counts: &ChangeCounts, order: &[Change]) -> String {
    let parts: Vec<String> = order
        .iter()
        .filter_map(|change| {
            let (number, word) = match change {
                Change::Created => (counts.created, "created"),
                Change::Changed => (counts.changed, "changed"),
                Change::Deleted => (counts.deleted, "deleted"),
                Change::Renamed => (counts.renamed, "renamed"),
                Change::Mode => (counts.mode, "with another mode"),
            };
            (number > 0).then(|| format!("{number} {word}"))
        })
        .collect();
    parts.join(", ")
}

/// Returns the first names, with an ellipsis if there are more.
fn list(names: &[String], all: u64) -> String {
    let shown = &names[..names.len().min(MAX_NAMED_FILES)];
    let rest = if all > shown.len() as u64 {
        ", …"
    } else {
        ""
    };
    format!("{}{rest}", shown.join(", "))
}
