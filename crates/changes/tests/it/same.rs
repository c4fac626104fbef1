//! Changed files with the same size and times as before, and directories whose times are restored.

use crate::support::{SESSION, TestTree, difference, traced, without_inodes};
use agent_bash_changes::{RecordOutcome, Recorder, Touch};
use agent_bash_core::changes::{ChangesLevel, Undoable};

/// The file has the same inode, size and modification time; only `ctime` shows the change.
#[test]
fn contents_with_restored_times_are_a_change() {
    let tree = TestTree::new("echo one >a; touch -d 2001-02-03 a; cp -p a reference; sleep 0.02");
    let before = tree.files();
    let changes = traced(&tree, &["~a: echo two >a", "@a: touch -r reference a"]);
    assert_eq!(changes.counts.changed, 1);
    tree.undo(changes.id);
    let (want, got) = (without_inodes(&before), without_inodes(&tree.files()));
    assert_eq!(difference(&want, &got), "");
    // Control: a file that was only opened.
    let tree = TestTree::new("echo one >a; touch -d 2001-02-03 a");
    let changes = traced(&tree, &["~a: : >>a; chmod 600 a; chmod 644 a"]);
    assert_eq!(changes.counts.total(), 0);
}

#[test]
fn undo_restores_the_time_of_a_directory() {
    const TREE: &str = "mkdir d; echo a >d/f; touch -d 2001-02-03 d";
    const CASES: &[&[&str]] = &[
        &["~d/f +d/f: echo x >>d/f; rm d/f"],
        &["~d/f +d/f +g: echo x >>d/f; mv d/f g"],
        &["+d/f @ @d: rm -r d", "+d: echo x >d"],
    ];
    for steps in CASES {
        let tree = TestTree::new(TREE);
        let before = tree.files();
        let changes = traced(&tree, steps);
        let after = tree.files();
        let same = |want, when: &str| {
            let difference = difference(&without_inodes(want), &without_inodes(&tree.files()));
            assert_eq!(difference, "", "{steps:?}: {when}");
        };
        tree.undo(changes.id);
        same(&before, "undone");
        tree.redo(changes.id);
        same(&after, "made again");
    }
}

/// A socket cannot be opened for comparison, and a path that is too long cannot be examined. All
/// other changes are listed, and the long path is named.
#[test]
fn uncomparable_file_does_not_hide_other_changes() {
    const BIND: &str = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; ";
    let tree = TestTree::new(BIND);
    let step = format!("+s +new: rm s; {BIND} echo x >new");
    let changes = traced(&tree, &[&*step]);
    assert_eq!((changes.counts.total(), changes.exact), (1, true));

    let tree = TestTree::new("");
    let long = vec!["d".repeat(250); 17].join("/");
    let deep = format!("{long}/{long}");
    let down = "for i in {1..34}; do mkdir $N; cd -P $N 2>/dev/null || cd $N; done";
    let first = &long[..250];
    let step = format!("+new +{first} +{deep}: echo x >new; N={first}; {down}");
    let changes = traced(&tree, &[&*step]);
    assert_eq!((changes.undo, changes.exact), (Undoable::Part, false));
    assert!(changes.files.iter().any(|it| &*it.name.path == "new"));
    assert!(changes.not_restorable.iter().any(|it| *it.path == *deep));
    tree.undo(changes.id);
    assert_eq!(tree.text("new"), None);
}

#[test]
fn too_long_path_is_listed_without_a_preimage() {
    let tree = TestTree::new("");
    let store = tree.store();
    let set = store.begin_trace(SESSION, &tree.root, ChangesLevel::Undo);
    let mut recorder = Recorder::open(set.unwrap().dir()).unwrap();
    let long = tree.root.join(vec!["d".repeat(250); 20].join("/"));
    assert_eq!(
        recorder.before(&long, Touch::Name).unwrap(),
        RecordOutcome::WithoutPreimage
    );
}
