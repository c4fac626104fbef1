//! Lists and diffs of change sets, and pruning.

mod changed_since;

use crate::support::{SESSION, TestTree, traced};
use agent_bash_changes::{ChangesError, DiffText, FileDiff, StoreLimits};
use agent_bash_core::changes::{ChangesId, ChangesState, FileChange, FileKind, FileName, Undoable};
use std::path::PathBuf;

const TREE: &str = "printf '1\\n2\\n3\\n' >text; printf 'a\\0b' >binary; seq 100 >old; ln -s text link; echo gone >gone; mkdir d";
const SCRIPT: &str = "sed -i s/2/two/ text; printf 'a\\0c' >binary; mv old d/new; ln -sfn gone link; rm gone; chmod 700 d; printf '\\033[2J' >evil";

fn diffs(tree: &TestTree, id: ChangesId, paths: &[&str]) -> Vec<FileDiff> {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    tree.store().diff(SESSION, id, &paths).unwrap()
}

fn of<'a>(diffs: &'a [FileDiff], path: &str) -> &'a FileDiff {
    diffs
        .iter()
        .find(|diff| diff.file.name.path == path)
        .unwrap()
}

fn is_as_expected(diffs: &[FileDiff]) {
    let text = |text: &str| DiffText::Unified(text.to_owned());
    assert_eq!(
        of(diffs, "text").text,
        text("--- a/text\n+++ b/text\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n")
    );
    assert_eq!(of(diffs, "binary").text, DiffText::Binary);
    assert_eq!(of(diffs, "d/new").file.from.as_deref(), Some("old"));
    assert_eq!(
        of(diffs, "gone").text,
        text("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n")
    );
    let link = &of(diffs, "link").text;
    let DiffText::Unified(link) = link else {
        unreachable!("{link:?}");
    };
    assert!(
        link.ends_with("-text\n+gone\n"),
        "where it leads lacks no end of its line: {link}"
    );
    let kinds = ["text", "link", "d"].map(|path| of(diffs, path).file.kind);
    let wanted = [FileKind::File, FileKind::Symlink, FileKind::Directory];
    assert_eq!(kinds, wanted);
    let evil = &of(diffs, "evil").text;
    assert!(
        matches!(evil, DiffText::Unified(text) if text.contains("\u{1b}[2J")),
        "{evil:?}"
    );
}

#[test]
fn diff_is_equal_when_held_done_and_undone() {
    let tree = TestTree::new(TREE);
    let id = tree.hold(SCRIPT).id;
    let held = diffs(&tree, id, &[]);
    is_as_expected(&held);
    let (before, after) = of(&held, "d").mode.unwrap();
    assert_ne!(before, after);
    assert_eq!(after, 0o40700, "{after:o}");
    tree.commit(id);
    assert_eq!(diffs(&tree, id, &[]), held);
    tree.undo(id);
    assert_eq!(
        tree.store().show(SESSION, id).unwrap().state,
        ChangesState::Undone
    );
    assert_eq!(diffs(&tree, id, &[]), held);
    tree.redo(id);
    assert_eq!(
        tree.store().show(SESSION, id).unwrap().state,
        ChangesState::Done
    );
    assert_eq!(diffs(&tree, id, &[]), held);
    let some = diffs(&tree, id, &["d", "text"]);
    let names: Vec<_> = some.iter().map(|diff| &diff.file.name.path[..]).collect();
    assert_eq!(names, ["d", "d/new", "text"]);
    let error = tree.store().diff(SESSION, id, &["x".into()]).unwrap_err();
    assert!(matches!(error, ChangesError::NotInSet { .. }), "{error}");
}

/// In a list, in a diff, and in what an undo would do.
#[test]
fn files_of_git_are_listed_last() {
    let tree = TestTree::new(
        "mkdir -p .git sub/.git; echo a >.git/index; echo a >sub/.git/HEAD; echo a >z",
    );
    let id = tree
        .hold("echo b >.git/index; rm sub/.git/HEAD; echo b >z; echo b >.gitignore")
        .id;
    tree.commit(id);
    let store = tree.store();
    let names = |files: Vec<FileChange>| -> Vec<String> {
        files.into_iter().map(|file| file.name.path).collect()
    };
    let want = [".gitignore", "z", ".git/index", "sub/.git/HEAD"];
    assert_eq!(names(store.files(SESSION, id).unwrap()), want);
    let diffs = diffs(&tree, id, &[]);
    assert_eq!(names(diffs.into_iter().map(|it| it.file).collect()), want);
    let preview = store.preview(SESSION, id, false).unwrap();
    assert_eq!(names(preview.files), want);
}

/// The preview of an undo and a redo is correct, and changes nothing.
#[test]
fn preview_equals_the_undo() {
    let tree = TestTree::new(TREE);
    let id = tree.hold(SCRIPT).id;
    let store = tree.store();
    let none = store.preview(SESSION, id, false).unwrap_err();
    assert!(matches!(none, ChangesError::State { .. }), "{none}");
    tree.commit(id);
    for again in [false, true] {
        let before = tree.files();
        let preview = store.preview(SESSION, id, again).unwrap();
        assert!(tree.files() == before, "nothing is done");
        assert_eq!(preview.conflicts, []);
        let done = if again { tree.redo(id) } else { tree.undo(id) };
        assert_eq!(preview.counts, done.counts);
        let names = |files: &[FileChange]| -> Vec<_> {
            let all = files.iter();
            let mut all: Vec<_> = all.map(|it| (it.name.path.clone(), it.change)).collect();
            all.sort();
            all
        };
        assert_eq!(names(&preview.files), names(&done.files));
    }
    tree.sh("echo other >text");
    let preview = store.preview(SESSION, id, false).unwrap();
    assert_eq!(preview.conflicts, [FileName::new("text")]);
    let kept = tree.text("text");
    assert_eq!(kept.as_deref(), Some("other\n"));
}

/// An undo in part counts each file once: before, in the refusal, and after. Operations also
/// include directories and both ends of a rename.
#[test]
fn preview_counts_files_without_conflict_as_the_partial_undo_does() {
    let tree = TestTree::new(
        "mkdir docs data; echo a >docs/intro; echo p >data/prices; echo r >readme; echo c >cart",
    );
    let id = tree
        .hold("mkdir build made; echo x >made/x; cp cart readme build/; mv docs/intro docs/start; rm data/prices; echo more >>readme; chmod +x cart")
        .id;
    tree.commit(id);
    tree.sh("echo theirs >build/cart");
    let store = tree.store();
    let preview = store.preview(SESSION, id, false).unwrap();
    assert_eq!((preview.files.len(), preview.counts.total()), (7, 7));
    assert_eq!(preview.conflicts, [FileName::new("build/cart")]);
    let refused = store.undo(SESSION, id, &[], false).unwrap_err();
    let ChangesError::Conflict {
        without_conflict, ..
    } = refused
    else {
        panic!("{refused}");
    };
    let done = store.undo(SESSION, id, &[], true).unwrap();
    assert_eq!(
        (
            without_conflict,
            preview.without_conflict.len(),
            done.counts.total()
        ),
        (6, 6, 6)
    );
    // If every file has a conflict, no partial undo is offered.
    tree.sh("rm build/cart; echo theirs >build/other");
    let preview = store.preview(SESSION, id, false).unwrap();
    assert_eq!(preview.without_conflict, []);
    let refused = store.undo(SESSION, id, &[], true).unwrap_err();
    assert!(
        matches!(
            refused,
            ChangesError::Conflict {
                without_conflict: 0,
                ..
            }
        ),
        "{refused}"
    );
}

/// Where all that is left to be undone is a mode, it is.
#[test]
fn mode_is_undone_next_to_a_conflicting_file() {
    let tree = TestTree::new("echo a >a; echo b >b");
    let id = tree.hold("echo aa >a; chmod 700 b").id;
    tree.commit(id);
    tree.sh("echo theirs >a");
    let store = tree.store();
    let preview = store.preview(SESSION, id, false).unwrap();
    assert_eq!(
        (preview.files.len(), preview.without_conflict.len()),
        (2, 1)
    );
    let done = store.undo(SESSION, id, &[], true).unwrap();
    assert_eq!((done.counts.mode, done.counts.total()), (1, 1));
    assert_eq!(tree.text("a").as_deref(), Some("theirs\n"));
}

const ABC: &str = "echo a >a; echo b >b; echo c >c";

/// Undoes some of what a set did to `a` and `b`, in both ways, and does it again.
fn undo_in_part(tree: &TestTree, id: ChangesId) {
    let store = tree.store();
    let known = || {
        let set = store.show(SESSION, id).unwrap();
        (set.state, set.undone_in_part, set.undo)
    };
    let done = (ChangesState::Done, false, Undoable::Whole);
    let part = (ChangesState::Done, true, Undoable::Whole);
    assert_eq!(known(), done);
    let after = tree.text("a");
    store.undo(SESSION, id, &["a".into()], false).unwrap();
    assert_eq!(known(), part);
    let preview = store.preview(SESSION, id, true).unwrap();
    assert_eq!(preview.files.len(), 1, "a redo is of that part");
    tree.redo(id);
    assert_eq!((known(), tree.text("a")), (done, after.clone()));
    tree.sh("echo theirs >b");
    store.undo(SESSION, id, &[], true).unwrap();
    assert_eq!(known(), part);
    store.undo(SESSION, id, &[], true).unwrap_err();
    assert_eq!(known(), part, "where nothing more can be done");
    tree.redo(id);
    assert_eq!((known(), tree.text("a")), (done, after));
}

#[test]
fn partial_undo_is_reported_and_can_be_redone() {
    let tree = TestTree::new(ABC);
    let id = tree.hold("echo aa >a; echo bb >b; rm c").id;
    tree.commit(id);
    undo_in_part(&tree, id);

    let tree = TestTree::new(ABC);
    let id = traced(&tree, &["~a ~b: echo aa >a; echo bb >b"]).id;
    undo_in_part(&tree, id);
}

#[test]
fn trace_has_a_diff_when_done_and_undone() {
    let tree = TestTree::new(TREE);
    let script = SCRIPT.replace("sed -i s/2/two/ text", "printf '1\\ntwo\\n3\\n' >text");
    let touched = "~text ~binary +old +d/new +link +gone @d +evil";
    let id = traced(&tree, &[&*format!("{touched}: {script}")]).id;
    let done = diffs(&tree, id, &[]);
    is_as_expected(&done);
    tree.undo(id);
    assert_eq!(diffs(&tree, id, &[]), done);
    tree.redo(id);
    assert_eq!(diffs(&tree, id, &[]), done);
}

#[test]
fn list_has_the_state_of_each_change_set() {
    let tree = TestTree::new(TREE);
    assert!(tree.store().list("other").unwrap().is_empty());
    let first = tree.hold("echo x >a").id;
    tree.commit(first);
    tree.undo(first);
    let held = tree.hold("echo y >b").id;
    let listed = tree.store().list(SESSION).unwrap();
    let got: Vec<_> = listed
        .iter()
        .map(|it| (it.changes.id.0, it.changes.state, it.undoes))
        .collect();
    let want = [
        (1, ChangesState::Undone, None),
        (2, ChangesState::Done, Some(first)),
        (held.0, ChangesState::Held, None),
    ];
    assert_eq!(got, want);
    let error = tree.store().show("other", first).unwrap_err().to_string();
    assert!(error.contains("changes 1 do not exist"), "{error}");
    assert!(!tree.state.join("changes/other").exists());
}

#[test]
fn old_or_surplus_change_sets_are_removed_and_held_ones_stay() {
    let tree = TestTree::new(TREE);
    let held = tree.hold("head -c 1M /dev/zero >held").id;
    let done: Vec<ChangesId> = (0..3)
        .map(|n| {
            let id = tree.hold(&format!("head -c 1M /dev/zero >f{n}")).id;
            tree.commit(id);
            tree.undo(id);
            id
        })
        .collect();
    let there = || -> Vec<u64> {
        let listed = tree.store().list(SESSION).unwrap();
        listed.iter().map(|it| it.changes.id.0).collect()
    };
    assert_eq!(there(), [1, 2, 3, 4, 5, 6, 7]);
    // Four of a MiB each are beyond this; the oldest goes, with its undo.
    let mut limits = StoreLimits::default();
    limits.max_total_bytes = 4 << 20;
    let begin = |limits: StoreLimits| {
        let store = tree.store().limits(limits);
        let set = store.begin_trial("another", &tree.root).unwrap();
        store.drop_trial(set).unwrap();
    };
    begin(StoreLimits::default());
    assert_eq!(there(), [1, 2, 3, 4, 5, 6, 7], "the control");
    begin(limits);
    assert_eq!(there(), [held.0, 4, 5, 6, 7]);
    // Sets that were last used long ago are too old, unless they are held.
    for id in [held.0, 4, 5] {
        tree.age(id);
    }
    begin(StoreLimits::default());
    assert_eq!(there(), [held.0, 4, 5, 6, 7], "the step is not due");
    tree.make_sweep_due();
    begin(StoreLimits::default());
    assert_eq!(there(), [held.0, 6, 7]);
    tree.redo(done[2]);
    // An undo without the change set that it refers to is removed, too.
    tree.age(6);
    tree.make_sweep_due();
    begin(StoreLimits::default());
    assert_eq!(there(), [held.0]);
    tree.commit(held);
}

/// A directory keeps the times of another process's work; the undo counts as done all the same.
#[test]
fn undo_is_complete_beside_changes_of_other_processes() {
    let tree = TestTree::new(TREE);
    let state = |id| tree.store().show(SESSION, id).unwrap().state;
    let id = tree.hold("echo new >made").id;
    tree.commit(id);
    tree.sh("echo x >theirs");
    tree.undo(id);
    assert_eq!(state(id), ChangesState::Undone);
    let again = tree.store().undo(SESSION, id, &[], false);
    assert!(again.is_err(), "{again:?}");
    tree.redo(id);
    assert_eq!(state(id), ChangesState::Done);
    assert_eq!(tree.text("made").as_deref(), Some("new\n"));
    // Where a call has changed nothing but times, that they are made again is seen.
    let id = tree.make("touch -d 2001-02-03 d");
    tree.undo(id);
    assert_eq!(state(id), ChangesState::Undone);
    tree.redo(id);
    assert_eq!(state(id), ChangesState::Done);
}
