//! Subvolumes of btrfs: directories on another device, without a mount. Needs root and the tools of
//! btrfs.

use crate::support::{SESSION, TestTree, difference, traced};
use agent_bash_changes::ChangesError;
use agent_bash_core::changes::Undoable;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system in a file, mounted until this is dropped.
struct Mounted {
    dir: tempfile::TempDir,
}

impl Mounted {
    /// Returns `None` if btrfs is not available.
    fn new() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let script =
            "truncate -s 300M image && mkfs.btrfs -q image && mkdir at && mount -o loop image at";
        let made = Command::new("sh")
            .args(["-c", script])
            .current_dir(dir.path())
            .output();
        made.is_ok_and(|made| made.status.success())
            .then_some(Self { dir })
    }

    fn at(&self) -> PathBuf {
        self.dir.path().join("at")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.at()).status();
    }
}

#[test]
fn changes_on_another_device_are_listed_and_not_undone() {
    let Some(mounted) = Mounted::new() else {
        return;
    };
    let script = "btrfs -q subvolume create sub; echo x >sub/x; echo y >sub/y; echo one >one; mkdir d; echo f >d/f";
    let test_tree = TestTree::within(&mounted.at(), script);
    if !test_tree.root.join("sub").is_dir() {
        return;
    }
    let before = test_tree.files();
    let step = "+sub/y ~sub/x +sub/new ~one @d: \
        rm sub/y; echo 2 >>sub/x; echo n >sub/new; echo more >>one; chmod 700 d";
    let changes = traced(&test_tree, &[step]);
    let not_restorable: Vec<_> = changes.not_restorable.iter().map(|it| &*it.path).collect();
    assert_eq!(not_restorable, ["sub/new", "sub/x", "sub/y"]);
    assert_eq!(
        (changes.undo, changes.counts.total()),
        (Undoable::Part, 5),
        "{changes:?}"
    );
    test_tree.undo(changes.id);
    let path: &std::ffi::OsStr = "sub".as_ref();
    let rest = |mut tree: crate::support::Tree| {
        tree.retain(|name, _| {
            !Path::new(name).starts_with(path) && Path::new(name) != Path::new("")
        });
        crate::support::without_inodes(&tree)
    };
    assert_eq!(difference(&rest(before), &rest(test_tree.files())), "");
    assert!(test_tree.root.join("sub/new").exists() && !test_tree.root.join("sub/y").exists());
    // The trial is refused before its command runs.
    let refused = test_tree
        .store()
        .begin_trial(SESSION, &test_tree.root)
        .unwrap_err();
    let is_named =
        matches!(&refused, ChangesError::OtherDevice { path, .. } if path == Path::new("sub"));
    assert!(is_named, "{refused}");
}
