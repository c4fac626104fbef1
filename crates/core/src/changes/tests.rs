//! Tests of the JSON values and the fixed texts.

use super::*;
use serde_json::json;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn file(path: &str, change: Change) -> FileChange {
    FileChange::new(FileName::new(path), change)
}

fn set(state: ChangesState, files: Vec<FileChange>) -> Changes {
    Changes::new(ChangesId(7), state, ChangesBy::Overlay, "/p").with_files(files)
}

#[test]
fn json_equals_the_contract() {
    let mut longer = file("src/a.rs", Change::Changed);
    longer.bytes = Some([120, 131]);
    let mut link = file("l", Change::Created);
    link.kind = FileKind::Symlink;
    let renamed = file("new", Change::Created).renamed_from(FileName::new("old"));
    let mut changes = set(ChangesState::Held, vec![longer, link, renamed]);
    changes.undo = Undoable::Whole;
    changes.outside.insert("/tmp".to_owned(), 3);
    let want = json!({
        "id": "7", "state": "held", "by": "overlay", "exact": true, "root": "/p",
        "counts": {"created": 1, "changed": 1, "deleted": 0, "renamed": 1, "mode": 0},
        "files": [
            {"path": "src/a.rs", "change": "changed", "bytes": [120, 131]},
            {"path": "l", "change": "created", "kind": "symlink"},
            {"path": "new", "from": "old", "change": "renamed", "inferred": true},
        ],
        "more": 0, "all": "changes://7", "undo": "whole", "not_restorable": [], "conflicts": [],
        "outside": {"/tmp": 3},
    });
    assert_eq!(serde_json::to_value(&changes).unwrap(), want);
    assert_eq!(serde_json::from_value::<Changes>(want).unwrap(), changes);
}

/// A scan finds only names, sizes and times, and also the changes by other processes.
#[test]
fn scanned_changes_are_never_exact_and_the_text_says_so() {
    let found = |by| {
        let files = [file("old", Change::Deleted)];
        Changes::new(ChangesId(7), ChangesState::Listed, by, "/p").with_files(files)
    };
    let (scan, trace) = (found(ChangesBy::Scan), found(ChangesBy::Trace));
    assert_eq!((scan.exact, trace.exact), (false, true));
    assert_eq!(
        scan.text(AnnouncedChanges::Deletions).as_deref(),
        Some("[Files: about 1 deleted: old (deleted) changes://7 (by scan, may be incomplete)]")
    );
    assert_eq!(
        trace.text(AnnouncedChanges::Deletions).as_deref(),
        Some("[Files: 1 deleted: old (deleted) changes://7]")
    );
}

#[test]
fn text_names_files_that_cannot_be_restored() {
    let mut changes = set(ChangesState::Done, vec![file("big", Change::Changed)]);
    assert_eq!(changes.text(AnnouncedChanges::Deletions), None);
    changes.not_restorable = vec![FileName::new("big")];
    assert_eq!(
        changes.text(AnnouncedChanges::Deletions).as_deref(),
        Some("[Files: 1 changed: big changes://7 (cannot be undone: big)]")
    );
    assert_eq!(changes.text(AnnouncedChanges::None), None);
}

#[test]
fn name_with_invalid_utf_8_survives_json() {
    let bytes = b"a\xff\nb";
    let name = FileName::new(OsStr::from_bytes(bytes));
    let json = serde_json::to_value(&name).unwrap();
    assert_eq!(
        json,
        json!({"path": "a\u{fffd}\nb", "path_base64": "Yf8KYg=="})
    );
    let read: FileName = serde_json::from_value(json).unwrap();
    assert_eq!(read.bytes().unwrap(), bytes);
    assert_eq!(FileName::new("a").bytes().unwrap(), b"a");
    assert_eq!(FileName::new("a").path_base64, None);
}

#[test]
fn at_most_fifty_files_are_named_deletions_first() {
    let mut all: Vec<_> = (0..70)
        .map(|n| file(&format!("c{n:02}"), Change::Created))
        .collect();
    all.push(file("gone", Change::Deleted));
    let changes = set(ChangesState::Done, all);
    assert_eq!(changes.files.len(), MAX_FILES);
    assert_eq!(changes.files[0].name.path, "gone");
    assert_eq!(changes.files[1].name.path, "c00");
    assert_eq!((changes.counts.created, changes.counts.deleted), (70, 1));
    assert_eq!(changes.more, 21);
}

/// Files of `.git` come last in the list and in the line.
#[test]
fn files_in_git_directories_are_named_last() {
    let mut all: Vec<_> = (0..60)
        .map(|n| file(&format!(".git/objects/{n:02}"), Change::Created))
        .collect();
    all.push(file(".git/AUTO_MERGE", Change::Deleted));
    all.push(file(".gitignore", Change::Changed));
    all.push(file("gone", Change::Deleted));
    all.push(file("sub/.git/index", Change::Changed));
    all.push(file("wordy/core.py", Change::Changed));
    let changes = set(ChangesState::Done, all);
    let names: Vec<_> = changes.files.iter().map(|it| &it.name.path[..]).collect();
    let first = [
        "gone", ".gitignore", "wordy/core.py", ".git/AUTO_MERGE", ".git/objects/00",
    ];
    assert_eq!(names[..5], first);
    assert_eq!((names.len(), changes.more), (MAX_FILES, 15));
    let line = changes.text(AnnouncedChanges::Deletions).unwrap();
    let want = ": gone (deleted), .gitignore, wordy/core.py, .git/AUTO_MERGE (deleted), .git/objects/00 (created), … changes://7]";
    assert!(line.ends_with(want), "{line}");
}

#[test]
fn texts_are_fixed() {
    let held = set(
        ChangesState::Held,
        vec![
            file("a", Change::Created),
            file("b", Change::Created),
            file("c", Change::Changed),
            file("old.rs", Change::Deleted),
        ],
    );
    let done = set(
        ChangesState::Done,
        vec![
            file("1", Change::Changed),
            file("old.rs", Change::Deleted),
            file("2", Change::Changed),
            file("3", Change::Changed),
            file("4", Change::Changed),
            file("5", Change::Changed),
        ],
    );
    let moved = set(
        ChangesState::Held,
        vec![
            file("old.rs", Change::Deleted),
            file("y", Change::Renamed),
            file("run", Change::Mode),
        ],
    );
    let harmless = set(ChangesState::Done, vec![file("a", Change::Created)]);
    let nothing = set(ChangesState::Held, Vec::new());
    let name = FileName::new("b\u{1b}[2J\n.rs");
    for (got, want) in [
        (
            held.text(AnnouncedChanges::None).unwrap(),
            "[Trial 7: nothing applied yet. 2 created, 1 changed, 1 deleted: old.rs. Details: changes://7]",
        ),
        // Each name follows the count that it belongs to.
        (
            moved.text(AnnouncedChanges::None).unwrap(),
            "[Trial 7: nothing applied yet. 1 renamed, 1 with another mode, 1 deleted: old.rs. Details: changes://7]",
        ),
        (
            nothing.text(AnnouncedChanges::None).unwrap(),
            "[Trial 7: nothing applied yet. It changes no file in /p. Details: changes://7]",
        ),
        (
            set(ChangesState::Discarded, Vec::new())
                .text(AnnouncedChanges::None)
                .unwrap(),
            "[Trial 7: it changes no file in /p.]",
        ),
        (
            done.text(AnnouncedChanges::Deletions).unwrap(),
            "[Files: 1 deleted, 5 changed: old.rs (deleted), 1, 2, 3, 4, … changes://7]",
        ),
        (
            harmless.text(AnnouncedChanges::All).unwrap(),
            "[Files: 1 created: a (created) changes://7]",
        ),
        (
            conflict_text(ChangesId(7), &FileName::new("src/a.rs")),
            "[Trial 7 not applied: src/a.rs was changed by another process meanwhile.]",
        ),
        (
            undone_text(ChangesId(8), 4),
            "[Undone: 4 files as before call 8.]",
        ),
        (
            not_undone_text(&FileName::new("b.rs"), 3),
            "[Not undone: b.rs was changed since. The other 3 can be undone alone.]",
        ),
        (
            not_undone_text(&name, 0),
            "[Not undone: b<U+001B>[2J⏎.rs was changed since.]",
        ),
        (
            applied_text(ChangesId(7), &held.counts),
            "[Trial 7 applied: 2 created, 1 changed, 1 deleted.]",
        ),
    ] {
        assert_eq!(got, want);
    }
    assert_eq!(harmless.text(AnnouncedChanges::Deletions), None);
    assert_eq!(done.text(AnnouncedChanges::None), None);
}

#[test]
fn trial_request_is_true_or_atomic() {
    for (json, want) in [
        (json!(true), Some(TrialRequest::Hold)),
        (json!("atomic"), Some(TrialRequest::Atomic)),
        (json!(false), None),
        (json!("maybe"), None),
        (json!(1), None),
    ] {
        assert_eq!(
            serde_json::from_value::<TrialRequest>(json.clone()).ok(),
            want
        );
        if let Some(trial) = want {
            assert_eq!(serde_json::to_value(trial).unwrap(), json);
        }
    }
}

#[test]
fn changes_id_is_parsed_with_and_without_scheme() {
    for (text, want) in [
        ("7", Some(7)),
        ("changes://12", Some(12)),
        ("changes://", None),
        ("+1", None),
        ("../7", None),
        ("99999999999999999999", None),
    ] {
        assert_eq!(
            text.parse::<ChangesId>().ok(),
            want.map(ChangesId),
            "{text}"
        );
    }
    assert_eq!(serde_json::to_value(ChangesId(7)).unwrap(), "7");
}

#[test]
fn levels_that_record_more_are_greater() {
    assert!(ChangesLevel::Off < ChangesLevel::List && ChangesLevel::List < ChangesLevel::Undo);
    for level in [ChangesLevel::Off, ChangesLevel::List, ChangesLevel::Undo] {
        assert_eq!(serde_json::to_value(level).unwrap(), level.word());
    }
}

#[test]
fn refused_action_names_the_state_and_possible_action_is_offered() {
    use ChangesAct::{Commit, Discard, Redo, Undo};
    for (state, by, possible, act, refusal) in [
        (
            ChangesState::Held,
            ChangesBy::Overlay,
            Commit,
            Undo,
            "undone: nothing of them was applied yet",
        ),
        (
            ChangesState::Done,
            ChangesBy::Overlay,
            Undo,
            Commit,
            "committed: they were committed before",
        ),
        (
            ChangesState::Done,
            ChangesBy::Trace,
            Undo,
            Discard,
            "discarded: they were made in place",
        ),
        (
            ChangesState::Undone,
            ChangesBy::Trace,
            Redo,
            Undo,
            "undone: they were undone",
        ),
    ] {
        let file = FileChange::new(FileName::new("a"), Change::Changed);
        let mut set = Changes::new(ChangesId(7), state, by, "/p").with_files([file]);
        set.undo = Undoable::Whole;
        assert!(set.possible_actions().contains(&possible), "{state:?}");
        assert!(!set.possible_actions().contains(&act), "{state:?}");
        let text = act.refusal(set.id, act.obstacle(state, by));
        assert_eq!(text, format!("changes 7 cannot be {refusal}"));
    }
}
