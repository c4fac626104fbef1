//! A user edits files while an undo, a redo or a commit runs. No edit is lost, whether the
//! operation completes or is rolled back.

use crate::crash::{acting_at, kill};
use crate::support::{SESSION, TestTree, traced};
use agent_bash_changes::{ChangesError, Precautions, Step, Store};
use agent_bash_core::changes::FileName;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// Returns a store that runs a script as another process after this number of operations; then, if
/// `fails`, the operation is rolled back.
fn editing(tree: &TestTree, operations: usize, script: &'static str, fails: bool) -> Store {
    let root: PathBuf = tree.root.clone();
    let steps = acting_at(move |_, step| {
        if !matches!(step, Step::Operated(number) if number == operations) {
            return Ok(());
        }
        let mut edit = Command::new("sh");
        let edited = edit.args(["-c", script]).current_dir(&root).status()?;
        assert!(edited.success());
        if fails {
            return Err(io::Error::other("it fails here"));
        }
        Ok(())
    });
    tree.store().with_steps(steps, Precautions::default())
}

fn conflicts(error: ChangesError) -> Vec<String> {
    let conflicts = match error {
        ChangesError::Conflict { conflicts, .. } => conflicts,
        other => vec![FileName::new(other.to_string())],
    };
    conflicts.into_iter().map(|name| name.path).collect()
}

#[test]
fn edit_of_a_restored_file_is_no_result_of_the_undo() {
    let tree = TestTree::new("echo one >a; echo one >b");
    let id = traced(&tree, &["~a ~b: echo two >a; echo two >b"]).id;
    let store = editing(&tree, 2, "echo mine >>a", false);
    store.undo(SESSION, id, &[], false).unwrap();
    let error = tree.store().redo(SESSION, id).unwrap_err();
    assert_eq!(conflicts(error), ["a"]);
    assert_eq!(tree.text("a").as_deref(), Some("one\nmine\n"));
    // Control: without the edit, the redo is possible.
    let tree = TestTree::new("echo one >a; echo one >b");
    let id = traced(&tree, &["~a ~b: echo two >a; echo two >b"]).id;
    editing(&tree, 2, "true", false)
        .undo(SESSION, id, &[], false)
        .unwrap();
    tree.redo(id);
    assert_eq!(tree.text("a").as_deref(), Some("two\n"));
}

#[test]
fn edit_survives_the_rollback_and_the_next_undo() {
    let tree = TestTree::new("echo one >a; echo one >b; echo one >c");
    let id = traced(&tree, &["~a ~b ~c: for f in a b c; do echo two >$f; done"]).id;
    let store = editing(&tree, 2, "echo mine >>a; echo mine >>c", true);
    let error = store.undo(SESSION, id, &[], false).unwrap_err();
    assert!(matches!(error, ChangesError::Partly { .. }), "{error}");
    assert_eq!(tree.text("a").as_deref(), Some("one\nmine\n"));
    assert_eq!(tree.text("b").as_deref(), Some("two\n"), "rolled back");
    let again = tree.store().undo(SESSION, id, &[], false).unwrap_err();
    let named = conflicts(again);
    assert!(named.contains(&"c".to_owned()), "{named:?}");
    assert!(!named.contains(&"b".to_owned()), "{named:?}");
    assert_eq!(tree.text("a").as_deref(), Some("one\nmine\n"));
    assert_eq!(tree.text("c").as_deref(), Some("two\nmine\n"));
}

#[test]
fn new_file_in_a_restored_directory_survives_the_rollback() {
    for (script, is_partly) in [("echo mine >d/new", true), ("true", false)] {
        let tree = TestTree::new("mkdir d; echo one >d/a; echo one >e");
        let id = traced(&tree, &["+d ~e: rm -r d; echo two >e"]).id;
        let store = editing(&tree, 3, script, true);
        let error = store.undo(SESSION, id, &[], false).unwrap_err();
        assert_eq!(matches!(error, ChangesError::Partly { .. }), is_partly);
        let new = tree.text("d/new");
        assert_eq!(new.as_deref(), is_partly.then_some("mine\n"));
        // Control: a directory without such a file is removed again.
        assert_eq!(tree.root.join("d").exists(), is_partly);
    }
}

#[test]
fn only_the_edited_file_remains_a_conflict_of_a_commit() {
    let tree = TestTree::new("echo one >a; echo one >b; echo one >c");
    let id = tree.hold("for f in a b c; do echo two >$f; done").id;
    let store = editing(&tree, 1, "echo mine >>c", false);
    let error = store.commit(SESSION, id).unwrap_err();
    assert_eq!(conflicts(error), ["c"]);
    for _ in 0..2 {
        let again = tree.store().commit(SESSION, id).unwrap_err();
        assert_eq!(conflicts(again), ["c"]);
    }
    assert_eq!(tree.text("a").as_deref(), Some("one\n"));
    assert_eq!(tree.text("c").as_deref(), Some("one\nmine\n"));
}

#[test]
fn undo_of_a_rename_works_after_one_that_failed_before_its_journal() {
    for since in ["true", "echo more >>e/b"] {
        let tree = TestTree::new("mkdir d; echo one >d/a; echo two >d/b");
        let changes = traced(&tree, &["+d +e: mv d e"]);
        let fails = acting_at(|_, step| match step {
            // The slots are links to files of the tree: their inodes have newer times now.
            Step::Checked => Err(io::Error::other("ended here")),
            _ => Ok(()),
        });
        let failing = tree.store().with_steps(fails, Precautions::default());
        failing.undo(SESSION, changes.id, &[], false).unwrap_err();
        drop(failing);
        assert!(tree.root.join("e/a").exists());
        tree.sh(since);
        match tree.store().undo(SESSION, changes.id, &[], false) {
            Ok(_) => {
                assert_eq!(tree.text("d/b").as_deref(), Some("two\n"));
                assert!(!tree.root.join("e").exists(), "{since}");
                assert_eq!(since, "true");
            }
            // Control: a file that was changed since is a conflict.
            Err(error) => {
                assert!(matches!(error, ChangesError::Conflict { .. }), "{error}");
                assert_eq!(since, "echo more >>e/b");
            }
        }
    }
}

#[test]
fn recovery_leaves_the_attributes_of_files_that_were_changed_since() {
    let changed = "rm p; echo mine >p; chmod 640 p; touch -d 2022-02-02 p";
    for (since, mode) in [("true", "644"), (changed, "640"), ("chmod 604 p", "604")] {
        let mut killed = 0;
        for at in 0.. {
            let tree = TestTree::new("echo p >p; echo a >a; chmod 644 p; touch -d 2001-01-01 p");
            let call = traced(&tree, &["@p: chmod 611 p", "~a: echo more >>a"]);
            if !kill(&tree, "undo", at, None) {
                break;
            }
            killed += 1;
            tree.sh(since);
            let stat = |tree: &TestTree| tree.files()[OsStr::new("p")].clone();
            let before = stat(&tree);
            drop(tree.store());
            if since == "true" && stat(&tree) == before && before.mode & 0o777 == 0o611 {
                tree.undo(call.id);
            }
            let after = stat(&tree);
            assert_eq!(format!("{:o}", after.mode & 0o777), mode, "{since}: {at}");
            if since == changed {
                assert_eq!(after, before, "{at}");
            }
        }
        assert!(killed > 3, "{killed}");
    }
}
