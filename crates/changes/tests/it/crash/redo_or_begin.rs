//! Killed while something is done again, or before a set is there at all.

use crate::crash::{SCRIPT, TREE, is, kill, steps};
use crate::support::{SESSION, TestTree, difference};

#[test]
fn killed_redo_is_complete_or_changes_nothing() {
    let undone = || {
        let tree = TestTree::new(TREE);
        let before = tree.files();
        let id = tree.hold(SCRIPT).id;
        tree.commit(id);
        let after = tree.files();
        tree.undo(id);
        (tree, id, before, after)
    };
    let (tree, id, ..) = undone();
    let count = steps(&tree, |store| drop(store.redo(SESSION, id).unwrap())).len();
    for at in 0..count {
        let (tree, id, before, after) = undone();
        assert!(kill(&tree, "redo", at, None), "step {at} was not reached");
        drop(tree.store());
        if is(&before, &tree.files()) {
            assert!(at < 3, "step {at}: nothing was done");
            tree.redo(id);
        }
        assert_eq!(difference(&after, &tree.files()), "", "step {at}");
        tree.undo(id);
        assert_eq!(difference(&before, &tree.files()), "", "step {at}: undone");
        tree.redo(id);
        assert_eq!(difference(&after, &tree.files()), "", "step {at}: redone");
    }
}

/// Its host was killed before the change set was complete. It has changed nothing, and blocks no
/// other.
#[test]
fn incomplete_change_set_blocks_no_other() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let id = tree.hold(SCRIPT).id;
    tree.commit(id);
    let half = tree.state.join("changes").join(SESSION).join("2");
    std::fs::create_dir(&half).unwrap();
    tree.undo(id);
    assert_eq!(difference(&before, &tree.files()), "");
    tree.redo(id);
    let other = tree.hold("echo x >x").id;
    tree.commit(other);
    tree.undo(other);
    // The next prune removes it.
    assert!(half.exists());
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let directory = std::fs::File::open(&half).unwrap();
    directory.set_modified(old).unwrap();
    // A prune is left out while the store is locked, as by a child that another test has forked and
    // that has not executed its program yet.
    let is_removed = (0..100).any(|_| {
        tree.make_sweep_due();
        let store = tree.store();
        let store = store.limits(agent_bash_changes::StoreLimits::default());
        store.begin_trial("other", &tree.root).unwrap();
        !half.exists()
    });
    assert!(is_removed);
}
