//! Killed while something is done again, or before a set is there at all.

use crate::crash::{SCRIPT, TREE, is, kill, steps};
use crate::support::{SESSION, TestTree, difference};

#[test]
fn killed_redo_is_complete_or_changes_nothing() {
    let undone = || {
        let place = TestTree::new(TREE);
        let before = place.files();
        let id = place.hold(SCRIPT).id;
        place.commit(id);
        let after = place.files();
        place.undo(id);
        (place, id, before, after)
    };
    let (place, id, ..) = undone();
    let count = steps(&place, |store| drop(store.redo(SESSION, id).unwrap())).len();
    for at in 0..count {
        let (place, id, before, after) = undone();
        assert!(kill(&place, "redo", at, None), "step {at} was not reached");
        drop(place.store());
        if is(&before, &place.files()) {
            assert!(at < 3, "step {at}: nothing was done");
            place.redo(id);
        }
        assert_eq!(difference(&after, &place.files()), "", "step {at}");
        place.undo(id);
        assert_eq!(difference(&before, &place.files()), "", "step {at}: undone");
        place.redo(id);
        assert_eq!(difference(&after, &place.files()), "", "step {at}: redone");
    }
}

/// Its host was killed before the change set was complete. It has changed nothing, and blocks no
/// other.
#[test]
fn incomplete_change_set_blocks_no_other() {
    let place = TestTree::new(TREE);
    let before = place.files();
    let id = place.hold(SCRIPT).id;
    place.commit(id);
    let half = place.state.join("changes").join(SESSION).join("2");
    std::fs::create_dir(&half).unwrap();
    place.undo(id);
    assert_eq!(difference(&before, &place.files()), "");
    place.redo(id);
    let other = place.hold("echo x >x").id;
    place.commit(other);
    place.undo(other);
    // The next prune removes it.
    assert!(half.exists());
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let directory = std::fs::File::open(&half).unwrap();
    directory.set_modified(old).unwrap();
    // A prune is left out while the store is locked, as by a child that another test has forked and
    // that has not executed its program yet.
    let is_removed = (0..100).any(|_| {
        place.make_sweep_due();
        let store = place.store();
        let store = store.limits(agent_bash_changes::StoreLimits::default());
        store.begin_trial("other", &place.root).unwrap();
        !half.exists()
    });
    assert!(is_removed);
}
