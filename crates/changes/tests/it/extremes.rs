//! Many files, a disk that fills up during a commit, and files of groups that are not mapped in a
//! user namespace.

use crate::support::{SESSION, TestTree, difference};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn twenty_thousand_new_files_are_committed_and_undone() {
    const MAKE: &str =
        "python3 -c \"for n in range(20000): open(f'many/{n % 100}/{n}', 'w').write(str(n))\"";
    let tree = TestTree::new("echo old >old");
    let before = tree.files();
    let held = tree.hold(&format!("mkdir -p many/{{0..99}}; {MAKE}"));
    assert_eq!((held.counts.created, held.counts.total()), (20_000, 20_000));
    assert_eq!((held.files.len(), held.more), (50, 19_950));
    assert_eq!(difference(&before, &tree.files()), "");
    tree.commit(held.id);
    assert_eq!(tree.text("many/99/19999").as_deref(), Some("19999"));
    // The counts include the root, the old file, and their directories.
    assert_eq!(tree.files().len(), 20_000 + 2 + 101);
    tree.undo(held.id);
    assert_eq!(difference(&before, &tree.files()), "");
}

/// Runs in a namespace with a small file system for the tree. Files from a store on another device
/// are copied there, and do not fit.
#[test]
fn disk_that_fills_up_during_a_commit_causes_a_rollback() {
    if let Ok(dir) = std::env::var("CHANGES_TEST_FILLS_UP") {
        return fills_up(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("small")).unwrap();
    let script = r#"mount -t tmpfs -o size=4m tmpfs "$1/small" && exec "$2" --exact extremes::disk_that_fills_up_during_a_commit_causes_a_rollback --nocapture"#;
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(dir.path())
        .arg(std::env::current_exe().unwrap())
        .env("CHANGES_TEST_FILLS_UP", dir.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{errors}");
}

fn fills_up(dir: &Path) {
    let mut tree = TestTree::within(
        &dir.join("small"),
        "mkdir -m 700 .agent-bash-changes; echo one >a; echo two >b; mkdir d; echo 3 >d/3",
    );
    tree.state = dir.join("state");
    let before = tree.files();
    let held = tree.hold(
        "rm b; echo more >>a; rm -r d; for n in 1 2 3 4 5 6; do dd if=/dev/zero of=big$n bs=64k count=16 status=none; done; echo z >z",
    );
    let commit = || tree.store().commit(SESSION, held.id);
    let error = commit().unwrap_err().to_string();
    assert!(error.contains("No space left"), "{error}");
    assert_eq!(difference(&before, &tree.files()), "");
    // Control: with enough space, the same set is committed.
    let bigger = ["-o", "remount,size=32m"];
    let mount = Command::new("mount")
        .args(bigger)
        .arg(dir.join("small"))
        .status()
        .unwrap();
    assert!(mount.success());
    commit().unwrap();
    assert_eq!(tree.text("z").as_deref(), Some("z\n"));
    assert!(tree.text("b").is_none() && tree.root.join("big6").exists());
    tree.undo(held.id);
    assert_eq!(difference(&before, &tree.files()), "");
}

/// Files of users outside a user namespace cannot be changed in an overlay, and keep their owner.
#[test]
fn file_of_an_unmapped_group_fails_only_the_command() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let tree = TestTree::new(
        "mkdir -p d/sub; echo own >d/own; echo theirs >d/sub/theirs; chgrp 12345 d/sub/theirs",
    );
    let before = tree.files();
    let held = tree.hold(
        "echo more >>d/own; if (echo more >>d/sub/theirs) 2>says; then exit 9; fi; grep -q 'too large' says; rm says",
    );
    let names: Vec<&str> = held.files.iter().map(|file| &*file.name.path).collect();
    assert_eq!(names, ["d/own"]);
    tree.commit(held.id);
    assert_eq!(tree.text("d/sub/theirs").as_deref(), Some("theirs\n"));
    assert_eq!(tree.text("d/own").as_deref(), Some("own\nmore\n"));
    tree.undo(held.id);
    assert_eq!(difference(&before, &tree.files()), "");
}
