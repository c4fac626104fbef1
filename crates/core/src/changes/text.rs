//! What the model is told of changes, in one line.

use super::{Change, ChangeCounts, Changes, ChangesBy, ChangesId, ChangesState, FileName};
use crate::visible::one_line;
use serde::{Deserialize, Serialize};

/// Names in a line at most.
const NAMED: usize = 5;

/// What is said of changes that are known by comparing alone ([`ChangesBy::Scan`]).
pub const BY_SCAN: &str = "by scan, may be incomplete";

/// Which changes of ordinary calls the model is told of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// Of all.
    All,
    /// Of those by which something was deleted, or that cannot be taken back.
    #[default]
    Deletions,
    /// Of none.
    None,
}

impl ChangeCounts {
    /// `2 created, 1 changed`: what there is none of is left out; nothing if there is nothing.
    pub fn in_words(&self) -> String {
        in_words(self, &DELETED_LAST)
    }
}

impl Changes {
    /// Why what is held can no longer be committed, if so.
    pub fn in_the_way(&self) -> Option<String> {
        let is_held = self.state == ChangesState::Held && !self.conflicts.is_empty();
        is_held.then(|| changed_since_text(self.conflicts.len() as u64))
    }

    /// The line for the model; `None` if there is nothing to be said. What a trial would do is always said.
    pub fn text(&self, tell: Tell) -> Option<String> {
        if let Some(first) = self.conflicts.first() {
            return Some(conflict_text(self.id, first));
        }
        match self.state {
            ChangesState::Held => Some(self.held_text()),
            ChangesState::Discarded if self.counts.total() == 0 => Some(nothing_text(self.id)),
            ChangesState::Discarded => Some(discarded_text(self.id)),
            _ => self.done_text(tell),
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
        let what = match (counts.is_empty(), deleted.is_empty()) {
            (true, _) => "It changes no file".to_owned(),
            (false, true) => counts,
            (false, false) => format!("{counts}: {}", list(&deleted, self.counts.deleted)),
        };
        format!(
            "[Trial {}: nothing applied yet. {what}. Details: {}]",
            self.id, self.all
        )
    }

    fn done_text(&self, tell: Tell) -> Option<String> {
        let said = match tell {
            Tell::All => self.counts.total() > 0,
            // What cannot be taken back is as final.
            Tell::Deletions => self.counts.deleted > 0 || !self.not_kept.is_empty(),
            Tell::None => false,
        };
        if !said {
            return None;
        }
        let names: Vec<String> = self
            .files
            .iter()
            .map(|file| {
                let name = one_line(&file.name.path);
                match file.change {
                    Change::Changed => name.into_owned(),
                    other => format!("{name} ({})", other.word()),
                }
            })
            .collect();
        let about = if self.exact { "" } else { "about " };
        let by = match self.by {
            ChangesBy::Scan => format!(" ({BY_SCAN})"),
            ChangesBy::Overlay | ChangesBy::Trace => String::new(),
        };
        let kept: Vec<_> = self
            .not_kept
            .iter()
            .map(|it| one_line(&it.path).into_owned())
            .collect();
        let total = u64::try_from(kept.len()).unwrap_or(u64::MAX);
        let not_kept = match total {
            0 => String::new(),
            _ => format!(" (cannot be taken back: {})", list(&kept, total)),
        };
        Some(format!(
            "[Files: {about}{}: {} {}{by}{not_kept}]",
            in_words(&self.counts, &DELETED_FIRST),
            list(&names, self.counts.total()),
            self.all
        ))
    }
}

/// A trial was committed.
pub fn applied_text(id: ChangesId, counts: &ChangeCounts) -> String {
    match in_words(counts, &DELETED_LAST) {
        none if none.is_empty() => format!("[Trial {id} applied: it changes no file.]"),
        counts => format!("[Trial {id} applied: {counts}.]"),
    }
}

/// A trial was not committed, as somebody else has changed that file.
pub fn conflict_text(id: ChangesId, file: &FileName) -> String {
    let name = one_line(&file.path);
    format!("[Trial {id} not applied: {name} was changed by somebody else meanwhile.]")
}

/// A trial that has changed no file, so that nothing is held.
fn nothing_text(id: ChangesId) -> String {
    format!("[Trial {id}: it changes no file.]")
}

/// The changes of a trial are gone.
pub fn discarded_text(id: ChangesId) -> String {
    format!("[Trial {id}: nothing was applied; its changes are discarded.]")
}

/// What a later call of the session has changed: `README.md was changed since, by: echo five >> README.md`.
pub fn changed_by_text(file: &FileName, command: &str) -> String {
    let (name, command) = (one_line(&file.path), one_line(command));
    format!("{name} was changed since, by: {command}")
}

/// Of a further file that is in the way, and of what has changed it, if that is known.
pub fn changed_too_text(file: &FileName, by: Option<&str>) -> String {
    match by {
        Some(command) => changed_by_text(file, command),
        None => format!("changed, too: {}", one_line(&file.path)),
    }
}

/// Of a held trial, as of so many of its files somebody has made something else since.
pub fn changed_since_text(files: u64) -> String {
    let (files, were) = (counted(files), if files == 1 { "was" } else { "were" });
    format!("{files} {were} changed since: it can no longer be committed")
}

/// A set was taken back.
pub fn undone_text(of: ChangesId, files: u64) -> String {
    let files = counted(files);
    format!("[Undone: {files} as before call {of}.]")
}

/// A set was not taken back, as somebody has changed that file; so many others were not changed.
pub fn not_undone_text(file: &FileName, others: u64) -> String {
    let name = one_line(&file.path);
    let rest = match others {
        0 => String::new(),
        1 => " The other one can be undone alone.".to_owned(),
        others => format!(" The other {others} can be undone alone."),
    };
    format!("[Not undone: {name} was changed since.{rest}]")
}

/// What was taken back of a set was made again.
pub fn redone_text(of: ChangesId, files: u64) -> String {
    let files = counted(files);
    format!("[Done again: {files} as after call {of}.]")
}

/// It was not, as somebody has changed that file.
pub fn not_redone_text(file: &FileName) -> String {
    let name = one_line(&file.path);
    format!("[Not done again: {name} was changed since.]")
}

/// `1 file`, `4 files`.
pub fn counted(files: u64) -> String {
    match files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    }
}

/// Names of what was deleted may follow.
const DELETED_LAST: [Change; 5] = [
    Change::Created,
    Change::Changed,
    Change::Renamed,
    Change::Mode,
    Change::Deleted,
];
const DELETED_FIRST: [Change; 5] = [
    Change::Deleted,
    Change::Created,
    Change::Changed,
    Change::Renamed,
    Change::Mode,
];

/// "2 created, 1 changed": what there is none of is left out.
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

/// The first names, and a mark if there are more.
fn list(names: &[String], all: u64) -> String {
    let shown = &names[..names.len().min(NAMED)];
    let rest = if all > shown.len() as u64 {
        ", …"
    } else {
        ""
    };
    format!("{}{rest}", shown.join(", "))
}
