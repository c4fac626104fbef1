//! Files of another user, and directories that their owner may not write, without privileges.

use crate::support::{SESSION, TestTree, traced};
use agent_bash_core::changes::Undoable;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Set to the path of another user's file.
const FOREIGN: &str = "CHANGES_TEST_FOREIGN";

/// The skipped file is named when it is recorded, and the rest is undone.
#[test]
fn file_of_another_user_is_skipped_and_the_rest_is_undone() {
    const THIS: &str = "owners::file_of_another_user_is_skipped_and_the_rest_is_undone";
    if rustix::process::geteuid().is_root() {
        return without_privileges(THIS);
    }
    let Some(foreign) = std::env::var_os(FOREIGN) else {
        return;
    };
    let foreign = foreign.to_str().unwrap();
    let tree = TestTree::new("echo own >own; echo own >written");
    tree.sh(&format!("mv {foreign} public"));
    let steps = &[
        "+own +public: rm -f own public",
        "~written: echo x >>written",
    ];
    let changes = traced(&tree, steps);
    let not_restorable = changes.not_restorable.iter().map(|it| &*it.path);
    assert_eq!(not_restorable.collect::<Vec<_>>(), ["public"]);
    assert_eq!(changes.undo, Undoable::Part);
    tree.store().undo(SESSION, changes.id, &[], false).unwrap();
    assert_eq!(tree.text("own").as_deref(), Some("own\n"));
    assert_eq!(tree.text("written").as_deref(), Some("own\n"));
    // A file that was only moved is not removed by the undo.
    let tree = TestTree::new("echo own >own");
    tree.sh(&format!("mv {foreign}2 public"));
    let steps = &["+public +moved: mv public moved", "+own: rm own"];
    let changes = traced(&tree, steps);
    tree.store().undo(SESSION, changes.id, &[], false).unwrap();
    assert_eq!(tree.text("own").as_deref(), Some("own\n"));
    assert_eq!(tree.text("moved").as_deref(), Some("foreign\n"));
}

/// A rename of a directory to another parent needs write permission for the directory itself.
#[test]
fn undo_restores_removed_and_moved_read_only_directories() {
    const THIS: &str = "owners::undo_restores_removed_and_moved_read_only_directories";
    if rustix::process::geteuid().is_root() {
        return without_privileges(THIS);
    }
    let tree = TestTree::new(
        "mkdir -p gone/in empty moved; touch gone/a gone/in/b moved/c; \
         chmod 500 gone/in gone empty moved",
    );
    let look = || {
        tree.sh("find . -printf '%P %m\\n' | sort >../list");
        fs::read_to_string(tree.root.join("../list")).unwrap()
    };
    let before = look();
    let steps = &[
        "+gone: chmod -R u+w gone; rm -r gone",
        "+empty: rmdir empty",
        "+moved +to: mv moved to",
    ];
    let changes = traced(&tree, steps);
    assert_eq!(changes.undo, Undoable::Whole);
    let after = look();
    let store = tree.store();
    for _ in 0..2 {
        store.undo(SESSION, changes.id, &[], false).unwrap();
        assert_eq!(look(), before);
        store.redo(SESSION, changes.id).unwrap();
        assert_eq!(look(), after);
    }
}

fn without_privileges(test: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (program, work) = (dir.path().join("it"), dir.path().join("work"));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::create_dir(&work).unwrap();
    fs::write(work.join("foreign"), "foreign\n").unwrap();
    fs::write(work.join("foreign2"), "foreign\n").unwrap();
    for (path, mode) in [(dir.path(), 0o755), (&program, 0o755), (&work, 0o777)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", test])
        .env("TMPDIR", &work)
        .env(FOREIGN, work.join("foreign"))
        .current_dir(&work)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}"
    );
}
