//! The texts of change sets: lists of files, and diffs.

use agent_bash_changes::{DiffText, FileDiff, ListedChanges};
use agent_bash_core::changes::{
    Change, ChangeCounts, Changes, ChangesBy, ChangesState, FileChange, changed_by_text,
};
use agent_bash_core::visible::{one_line, shown};
use std::fmt::Write as _;

/// The note on a change set from a scan.
const SCAN_NOTE: &str = "  by scan, may be incomplete: the call could not be traced, so its directory was scanned before and after;
  changes by other processes in that time are included, and none of the changes can be taken back\n";

/// Returns the word for a state.
pub fn state(state: ChangesState) -> &'static str {
    match state {
        ChangesState::Listed => "listed",
        ChangesState::Done => "done",
        ChangesState::Held => "held",
        ChangesState::Discarded => "discarded",
        ChangesState::Undone => "undone",
        ChangesState::Interrupted => "interrupted",
        ChangesState::Running => "running",
        _ => "",
    }
}

/// Returns the word for a change set's state, with a note if a part of the set was undone.
fn state_text(changes: &Changes) -> String {
    let word = match (changes.by, changes.state) {
        (ChangesBy::Overlay, ChangesState::Done) => "committed",
        (_, other) => state(other),
    };
    if changes.undone_in_part {
        format!("{word}, undone in part")
    } else {
        word.to_owned()
    }
}

/// Returns the counts in words: `2 created, 1 deleted`, or `no files`.
pub fn counts(counts: &ChangeCounts) -> String {
    match counts.in_words() {
        words if words.is_empty() => "no files".to_owned(),
        words => words,
    }
}

/// Returns the words for a change set in a list: its state, or the number of the change set that it
/// undid or redid.
pub fn kind(listed: &ListedChanges) -> String {
    match (listed.undoes, listed.redoes) {
        (Some(undone), _) => format!("undid {undone}"),
        (_, Some(redone)) => format!("redid {redone}"),
        (None, None) if listed.after.is_some() => {
            let after = listed.after.map_or(0, |id| id.0);
            let maybe_earlier = if listed.maybe_earlier {
                " or earlier"
            } else {
                ""
            };
            format!(
                "{}, after {after}{maybe_earlier}",
                state_text(&listed.changes)
            )
        }
        _ if listed.changes.by == ChangesBy::Scan => {
            format!("{}, by scan", state_text(&listed.changes))
        }
        _ => state_text(&listed.changes),
    }
}

/// Returns the text of a change set: a heading, and a line for each of `files`. For each of
/// [`Changes::conflicts`], `by` has the command that changed the file, if known.
pub fn set(changes: &Changes, files: &[FileChange], by: &[Option<String>]) -> String {
    let subject = match (changes.by, changes.state) {
        (ChangesBy::Overlay, ChangesState::Held | ChangesState::Discarded) => "Trial",
        _ => "Changes",
    };
    let mut text = format!(
        "{subject} {}, {}: {} in {}\n",
        changes.id,
        state_text(changes),
        counts(&changes.counts),
        one_line(&changes.root)
    );
    match changes.by {
        ChangesBy::Scan => text.push_str(SCAN_NOTE),
        _ if !changes.exact => text.push_str("  there may be other changed files\n"),
        _ => {}
    }
    // Writing to a String cannot fail.
    if let Some(command) = &changes.command {
        let _ = writeln!(text, "  of: {}", one_line(command));
    }
    let is_held = changes.state == ChangesState::Held;
    let is_conflicting = |file: &FileChange| {
        let mut conflicts = changes.conflicts.iter();
        is_held && conflicts.any(|conflict| file.is_named(conflict))
    };
    for file in files {
        let mark = if is_conflicting(file) {
            "  changed since"
        } else {
            ""
        };
        let _ = writeln!(text, "  {}{mark}", line(file));
    }
    for file in &changes.not_restorable {
        let _ = writeln!(text, "  cannot be taken back: {}", one_line(&file.path));
    }
    for (directory, files) in &changes.outside {
        let _ = writeln!(text, "  outside of it: {files} in {}", one_line(directory));
    }
    if let Some(why) = changes.commit_obstacle() {
        let _ = writeln!(text, "  {why}");
    }
    for (index, conflict) in changes.conflicts.iter().enumerate() {
        let command = by.get(index).and_then(Option::as_deref);
        let _ = match command {
            Some(command) => writeln!(text, "  {}", changed_by_text(conflict, command)),
            None if is_held => writeln!(text, "  changed since: {}", one_line(&conflict.path)),
            None => writeln!(
                text,
                "  changed by another process: {}",
                one_line(&conflict.path)
            ),
        };
    }
    text
}

/// Returns the line of a file: `changed   src/a.rs  (120 → 131 bytes)`.
fn line(file: &FileChange) -> String {
    let mut text = format!("{:<8}  {}", file.change.word(), one_line(&file.name.path));
    match (&file.from, file.bytes) {
        (Some(from), _) => {
            let why = if file.inferred { ", same content" } else { "" };
            let _ = write!(text, "  (from {}{why})", one_line(from));
        }
        (None, Some([before, after])) if file.change == Change::Changed => {
            let _ = write!(text, "  ({before} → {after} bytes)");
        }
        _ => {}
    }
    if let Some(kind) = file.kind.words() {
        let _ = write!(text, "  ({kind})");
    }
    text
}

/// Returns a unified diff. Control characters are marked.
pub fn diff(diff: &FileDiff) -> String {
    let name = one_line(&diff.file.name.path);
    let mut text = String::new();
    if let Some(from) = &diff.file.from {
        let _ = writeln!(text, "renamed {} to {name}", one_line(from));
    }
    if let Some((before, after)) = diff.mode {
        let _ = writeln!(text, "mode of {name}: {before:o} before, {after:o} after");
    }
    if diff.changed_since {
        let _ = writeln!(
            text,
            "{name} was changed again since: compared with its present content"
        );
    }
    let word = diff.file.change.word();
    let kind = diff.file.kind.words();
    let kind = kind.map_or(String::new(), |kind| format!(" ({kind})"));
    if diff.blocks_commit {
        let _ = writeln!(
            text,
            "{name} was changed since: this trial cannot be committed"
        );
    }
    match &diff.text {
        DiffText::Unified(unified) => {
            if !kind.is_empty() {
                let _ = writeln!(text, "{word}: {name}{kind}");
            }
            text.push_str(&shown(unified));
        }
        DiffText::Binary => _ = writeln!(text, "{word}: {name} (binary)"),
        DiffText::TooLarge => _ = writeln!(text, "{word}: {name} (too large to be compared)"),
        DiffText::Unknown => _ = writeln!(text, "{word}: {name} (its content is not stored)"),
        _ if diff.mode.is_none() => _ = writeln!(text, "{word}: {name}{kind}"),
        _ => {}
    }
    text
}
