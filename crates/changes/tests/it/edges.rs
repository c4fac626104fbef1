//! Conditions of a trial: a link where a directory was, a missing directory, a full disk.

use crate::support::{SESSION, TestTree, difference, in_view};
use agent_bash_changes::ChangesError;
use std::path::Path;
use std::process::Command;

/// Another process replaces a parent directory of the changed file by a link that leads out of the
/// tree.
#[test]
fn commit_does_not_follow_a_link_that_replaced_a_directory() {
    let place = TestTree::new(
        "mkdir -p d/sub; echo one >d/sub/file; mkdir ../etc ../etc/sub; echo theirs >../etc/sub/file",
    );
    let held = place.hold("echo two >d/sub/file; echo new >d/sub/new; rm -f nothing");
    place.sh("mv d was; ln -s ../etc d");
    let before = place.files();
    let refused = place.store().commit(SESSION, held.id).unwrap_err();
    assert!(
        matches!(
            refused,
            ChangesError::Conflict { .. } | ChangesError::Io { .. }
        ),
        "{refused}"
    );
    assert_eq!(difference(&before, &place.files()), "");
    place.sh("test \"$(cat ../etc/sub/file)\" = theirs; test ! -e ../etc/sub/new");
    // Control: once the directory is restored, the trial is committed.
    place.sh("rm d; mv was d");
    place.commit(held.id);
    assert_eq!(place.text("d/sub/file").as_deref(), Some("two\n"));
}

#[test]
fn trial_may_remove_its_own_working_directory() {
    let place = TestTree::new("mkdir -p gone/deep; echo x >gone/file; echo a >a");
    let before = place.files();
    let held = place.hold("cd gone/deep; rm -r ../../gone; ! touch here 2>/dev/null");
    assert_eq!(difference(&before, &place.files()), "");
    assert_eq!(
        (held.counts.deleted, held.counts.changed),
        (2, 0),
        "{held:#?}"
    );
    place.commit(held.id);
    assert!(!place.root.join("gone").exists() && place.text("a").as_deref() == Some("a\n"));
    place.undo(held.id);
    assert_eq!(place.text("gone/file").as_deref(), Some("x\n"));
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
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
}

fn no_room(dir: &Path) {
    let place = TestTree::within(dir, "echo one >one; echo two >two");
    let before = place.files();
    let store = place.store();
    let mut set = store.begin_trial(SESSION, &place.root).unwrap();
    set.mark().unwrap();
    let script = "echo more >>one; dd if=/dev/zero of=big bs=64k count=64 status=none";
    let output = in_view(&set, script);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("No space left"),
        "{said}"
    );
    let held = store.hold(set).unwrap();
    assert_eq!((held.counts.changed, held.counts.created), (1, 1));
    assert_eq!(difference(&before, &place.files()), "");
    // The change set is removed with its files.
    place.store().discard(SESSION, held.id).unwrap();
    assert_eq!(difference(&before, &place.files()), "");
    let next = place.hold("rm two; echo more >>one");
    place.commit(next.id);
    assert_eq!(place.text("one").as_deref(), Some("one\nmore\n"));
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
        let place = TestTree::new(tree);
        let before = place.files();
        let held = place.hold(script);
        place.commit(held.id);
        let after = place.files();
        assert!(!difference(&before, &after).is_empty());
        place.undo(held.id);
        assert_eq!(difference(&before, &place.files()), "", "{script}: undone");
        place.redo(held.id);
        assert_eq!(difference(&after, &place.files()), "", "{script}: redone");
        // The user's own link is allowed.
        place.undo(held.id);
        let place = TestTree::new(tree);
        let held = place.hold("mkdir -p n/m; echo c >n/m/f");
        place.sh("ln -s x n");
        let refused = place.store().commit(SESSION, held.id);
        assert!(
            matches!(refused, Err(ChangesError::Conflict { .. })),
            "{refused:?}"
        );
    }
}
