//! Conditions of a trial: a link where a directory was, a missing directory, a full disk.

use crate::support::{SESSION, TestTree, difference, in_view, traced};
use agent_bash_changes::ChangesError;
use agent_bash_core::changes::ChangesId;
use std::path::Path;
use std::process::Command;

/// Another process replaces a parent directory of the changed file by a link that leads out of the
/// tree.
#[test]
fn commit_does_not_follow_a_link_that_replaced_a_directory() {
    let tree = TestTree::new(
        "mkdir -p d/sub; echo one >d/sub/file; mkdir ../etc ../etc/sub; echo theirs >../etc/sub/file",
    );
    let held = tree.hold("echo two >d/sub/file; echo new >d/sub/new; rm -f nothing");
    tree.sh("mv d was; ln -s ../etc d");
    let before = tree.files();
    let refused = tree.store().commit(SESSION, held.id).unwrap_err();
    assert!(
        matches!(
            refused,
            ChangesError::Conflict { .. } | ChangesError::Io { .. }
        ),
        "{refused}"
    );
    assert_eq!(difference(&before, &tree.files()), "");
    tree.sh("test \"$(cat ../etc/sub/file)\" = theirs; test ! -e ../etc/sub/new");
    // Control: once the directory is restored, the trial is committed.
    tree.sh("rm d; mv was d");
    tree.commit(held.id);
    assert_eq!(tree.text("d/sub/file").as_deref(), Some("two\n"));
}

#[test]
fn trial_may_remove_its_own_working_directory() {
    let tree = TestTree::new("mkdir -p gone/deep; echo x >gone/file; echo a >a");
    let before = tree.files();
    let held = tree.hold("cd gone/deep; rm -r ../../gone; ! touch here 2>/dev/null");
    assert_eq!(difference(&before, &tree.files()), "");
    assert_eq!(
        (held.counts.deleted, held.counts.changed),
        (2, 0),
        "{held:#?}"
    );
    tree.commit(held.id);
    assert!(!tree.root.join("gone").exists() && tree.text("a").as_deref() == Some("a\n"));
    tree.undo(held.id);
    assert_eq!(tree.text("gone/file").as_deref(), Some("x\n"));
}

/// If the disk for a trial's writes is full, only the command gets an error.
#[test]
fn trial_on_a_full_disk_fails_only_its_command() {
    if let Ok(dir) = std::env::var("CHANGES_TEST_NO_ROOM") {
        return no_room(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2" --exact edges::trial_on_a_full_disk_fails_only_its_command --nocapture"#;
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(dir.path())
        .arg(std::env::current_exe().unwrap())
        .env("CHANGES_TEST_NO_ROOM", dir.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{errors}");
}

fn no_room(dir: &Path) {
    let tree = TestTree::within(dir, "echo one >one; echo two >two");
    let before = tree.files();
    let store = tree.store();
    let mut set = store.begin_trial(SESSION, &tree.root).unwrap();
    set.mark().unwrap();
    let script = "echo more >>one; dd if=/dev/zero of=big bs=64k count=64 status=none";
    let output = in_view(&set, script);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && stderr.contains("No space left"),
        "{stderr}"
    );
    let held = store.hold(set).unwrap();
    assert_eq!((held.counts.changed, held.counts.created), (1, 1));
    assert_eq!(difference(&before, &tree.files()), "");
    // The change set is removed with its files.
    tree.store().discard(SESSION, held.id).unwrap();
    assert_eq!(difference(&before, &tree.files()), "");
    let next = tree.hold("rm two; echo more >>one");
    tree.commit(next.id);
    assert_eq!(tree.text("one").as_deref(), Some("one\nmore\n"));
}

/// A directory becomes a link, and a link becomes a directory, whose entries are created after the
/// link is removed.
#[test]
fn directory_and_link_can_replace_each_other() {
    for (tree, script) in [
        ("mkdir d x; echo a >d/f; echo b >x/f", "rm -r d; ln -s x d"),
        (
            "mkdir x; ln -s x l; echo b >x/in",
            "rm l; mkdir l; echo c >l/in",
        ),
        (
            "mkdir -p x d/e; ln -s ../x d/l; echo a >d/e/f",
            "rm d/l; mkdir -p d/l/m; echo c >d/l/m/f; rm -r d/e; ln -s l d/e",
        ),
    ] {
        let test_tree = TestTree::new(tree);
        let before = test_tree.files();
        let held = test_tree.hold(script);
        test_tree.commit(held.id);
        let after = test_tree.files();
        assert!(!difference(&before, &after).is_empty());
        test_tree.undo(held.id);
        assert_eq!(
            difference(&before, &test_tree.files()),
            "",
            "{script}: undone"
        );
        test_tree.redo(held.id);
        assert_eq!(
            difference(&after, &test_tree.files()),
            "",
            "{script}: redone"
        );
        // The user's own link is allowed.
        test_tree.undo(held.id);
        let test_tree = TestTree::new(tree);
        let held = test_tree.hold("mkdir -p n/m; echo c >n/m/f");
        test_tree.sh("ln -s x n");
        let refused = test_tree.store().commit(SESSION, held.id);
        assert!(
            matches!(refused, Err(ChangesError::Conflict { .. })),
            "{refused:?}"
        );
    }
}

/// The undo of a single path restores the path's deleted directories, as `git checkout` does, and
/// removes the file or link in place of one. It leaves a directory in place of a file.
#[test]
fn undo_of_a_path_restores_its_directory_in_place_of_a_file() {
    let calls: [fn(&TestTree, &str) -> ChangesId; 2] = [
        |tree, script| tree.make(script),
        |tree, script| traced(tree, &[&*format!("+d/e/x +d/e/y +d/e +d/z +d: {script}")]).id,
    ];
    let existing =
        |tree: &TestTree| ["d/e/x", "d/e/y", "d/z"].map(|path| tree.text(path).is_some());
    for (call, script) in calls.iter().flat_map(|call| {
        let scripts = ["rm -r d; echo new >d", "rm -r d; ln -s other d"];
        scripts.map(|script| (call, script))
    }) {
        let tree = TestTree::new("mkdir -p d/e other; touch d/e/x d/e/y d/z");
        let id = call(&tree, script);
        let after = tree.files();
        let undo = |path: &str| tree.store().undo(SESSION, id, &[path.into()], false);
        undo("d/e/x").unwrap();
        assert_eq!(existing(&tree), [true, false, false], "{script}");
        tree.redo(id);
        let difference = difference(&after, &tree.files());
        assert!(!difference.contains("d:"), "{script}: {difference}");
        undo("d/e").unwrap();
        tree.undo(id);
        assert_eq!(existing(&tree), [true; 3], "{script}");
    }
    for call in calls {
        let tree = TestTree::new("echo old >d");
        let id = call(&tree, "rm d; mkdir -p d/e; touch d/e/x d/e/y d/z");
        let undo = |path: &str| tree.store().undo(SESSION, id, &[path.into()], false);
        undo("d/e/x").unwrap();
        assert_eq!(existing(&tree), [false, true, true]);
        undo("d").unwrap();
        assert_eq!(tree.text("d").as_deref(), Some("old\n"));
    }
    // The control: a file that another process changed stays.
    let tree = TestTree::new("mkdir -p d/e; touch d/e/x");
    let id = tree.make("rm -r d; echo new >d");
    tree.sh("echo theirs >d");
    for partial in [false, true] {
        let undone = tree.store().undo(SESSION, id, &["d/e/x".into()], partial);
        assert!(matches!(undone, Err(ChangesError::Conflict { .. })));
    }
    assert_eq!(tree.text("d").as_deref(), Some("theirs\n"));
}

#[test]
fn undo_follows_no_link_in_place_of_the_repository() {
    let tree = TestTree::far("mkdir .git; echo one >a");
    let changes = traced(&tree, &["~a: echo more >>a"]);
    tree.sh("mkdir outside; mv .git moved; ln -s outside .git");
    let refused = tree.store().undo(SESSION, changes.id, &[], false);
    let error = refused.unwrap_err().to_string();
    assert!(error.contains(".git`: a link is in its place"), "{error}");
    let names = std::fs::read_dir(tree.root.join("outside")).unwrap();
    assert_eq!(names.count(), 0);
    assert_eq!(tree.text("a").as_deref(), Some("one\nmore\n"));
    // Control: with the directory in its place again, the undo works.
    tree.sh("rm .git; mv moved .git");
    tree.undo(changes.id);
    assert_eq!(tree.text("a").as_deref(), Some("one\n"));
}
