//! Reuse of change sets of calls that changed nothing: with own numbers, without former records,
//! and never while another change set refers to them.

use crate::support::{SESSION, TestTree};
use agent_bash_changes::{ChangeSet, Recorder, Store, Touch};
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel, ChangesState};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const TREE: &str = "echo one >a; echo two >b";

fn begin(store: &Store, tree: &TestTree) -> ChangeSet {
    store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap()
}

/// A call that records these paths and then runs a script.
fn call(store: &Store, tree: &TestTree, touched: &[(&str, Touch)], script: &str) -> Changes {
    let set = begin(store, tree);
    let mut recorder = Recorder::open(set.dir()).unwrap();
    for (path, touch) in touched {
        recorder.before(&tree.root.join(path), *touch).unwrap();
    }
    tree.sh(script);
    recorder.finish().unwrap();
    store.finish(set).unwrap()
}

/// The number of each change set, and the inode of its directory.
fn sets_and_inodes(tree: &TestTree) -> Vec<(u64, u64)> {
    let session = tree.state.join("changes").join(SESSION);
    let entries = fs::read_dir(session).unwrap().map(|entry| entry.unwrap());
    let mut all: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            Some((name.parse().ok()?, entry.metadata().unwrap().ino()))
        })
        .collect();
    all.sort_unstable();
    all
}

fn files(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let sizes = entries.map(|entry| {
        let is_dir = entry.file_type().unwrap().is_dir();
        if is_dir { files(&entry.path()) } else { 1 }
    });
    sizes.sum()
}

#[test]
fn empty_change_set_is_recycled_by_the_next_call() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let first = call(&store, &tree, &[], "true");
    assert_eq!((first.id, first.counts.total()), (ChangesId(1), 0));
    assert_eq!((first.state, first.exact), (ChangesState::Done, true));
    assert_eq!(store.show(SESSION, first.id).unwrap(), first);
    let [(1, inode)] = sets_and_inodes(&tree)[..] else {
        unreachable!("one set");
    };
    // Its records of unchanged files are removed with it.
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("x");
    let file = file.to_str().unwrap();
    let touched = [
        ("a", Touch::Content),
        ("b", Touch::Name),
        (file, Touch::Name),
    ];
    let script = format!("echo x >{file}; touch -d 2001-02-03 b");
    let second = call(&store, &tree, &touched, &script);
    assert_eq!(second.id, ChangesId(2));
    assert_eq!(second.outside.values().sum::<u64>(), 1, "{second:?}");
    assert_eq!(sets_and_inodes(&tree), [(2, inode)]);
    let links = |path: &str| fs::metadata(tree.root.join(path)).unwrap().nlink();
    assert_eq!(links("b"), 2, "it is kept by a link");
    let third = call(&store, &tree, &[("b", Touch::Content)], "echo more >>b");
    assert_eq!((third.id, third.counts.changed), (ChangesId(3), 1));
    assert!(third.outside.is_empty() && third.exact);
    assert_eq!((links("b"), sets_and_inodes(&tree)), (1, vec![(3, inode)]));
    // A set with a change is not reused.
    let fourth = call(&store, &tree, &[], "true");
    assert_eq!(fourth.id, ChangesId(4));
    assert_eq!(store.list(SESSION).unwrap().len(), 2);
    store.undo(SESSION, third.id, &[], false).unwrap();
    assert_eq!(tree.text("b").unwrap(), "two\n");
}

#[test]
fn change_set_of_a_call_that_left_a_file_as_it_was_is_not_recycled() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let first = call(&store, &tree, &[("a", Touch::Content)], "echo more >>a");
    let touched = [("a", Touch::Attributes)];
    // Only the `ctime` changes.
    let second = call(&store, &tree, &touched, "sleep 0.02; touch -a a");
    assert_eq!(second.counts.total(), 0);
    call(&store, &tree, &[], "true");
    // The undo accepts the file because of the second set.
    store.undo(SESSION, first.id, &[], false).unwrap();
    assert_eq!(tree.text("a").unwrap(), "one\n");
}

#[test]
fn calls_at_a_time_have_sets_and_numbers_of_their_own() {
    const AT_A_TIME: u64 = 20;
    const KEPT: usize = 16;
    let tree = TestTree::new(TREE);
    let store = tree.store();
    for round in 0..3 {
        let sets: Vec<ChangeSet> = (0..AT_A_TIME).map(|_| begin(&store, &tree)).collect();
        let mut ids: Vec<u64> = sets.iter().map(|set| set.id().0).collect();
        ids.sort_unstable();
        let former = AT_A_TIME * round;
        assert_eq!(ids, (former + 1..=former + AT_A_TIME).collect::<Vec<_>>());
        for set in sets.into_iter().rev() {
            store.finish(set).unwrap();
        }
        let left = sets_and_inodes(&tree);
        assert_eq!((left.len(), left[KEPT - 1].0), (KEPT, former + AT_A_TIME));
    }
    // A description and a lock each, and the counter.
    let session = tree.state.join("changes").join(SESSION);
    assert_eq!(files(&session), KEPT * 2 + 1);
}

#[test]
fn change_set_is_not_recycled_for_another_root_or_level_or_after_an_undo() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let first = call(&store, &tree, &[], "true");
    tree.sh("mkdir sub");
    let other = |root: &Path, level| {
        let set = store.begin_trace(SESSION, root, level).unwrap();
        let id = set.id().0;
        store.finish(set).unwrap();
        id
    };
    assert_eq!(other(&tree.root.join("sub"), ChangesLevel::Undo), 2);
    assert_eq!(other(&tree.root, ChangesLevel::List), 3);
    assert!(store.show(SESSION, first.id).is_ok());
    // New times of a file are not listed, but can be undone.
    let touched = [("a", Touch::Attributes)];
    let times = call(&store, &tree, &touched, "touch -d 2001-02-03 a");
    assert_eq!((times.id.0, times.counts.total()), (4, 0));
    store.undo(SESSION, times.id, &[], false).unwrap();
    let next = call(&store, &tree, &[], "true");
    assert_eq!(next.id.0, 6);
    store.redo(SESSION, times.id).unwrap();
    // Another directory at the path of the root gets a new set.
    tree.sh("rmdir sub; mkdir elsewhere; mv elsewhere sub");
    assert_eq!(other(&tree.root.join("sub"), ChangesLevel::Undo), 8);
}

#[test]
fn missing_record_is_not_an_empty_change_set() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let set = begin(&store, &tree);
    drop(Recorder::open(set.dir()).unwrap());
    tree.sh("echo more >>a");
    let changes = store.break_off(set).unwrap();
    let state = (changes.state, changes.exact);
    assert_eq!(state, (ChangesState::Interrupted, false));
    // The host dies, and the next one does not know either.
    let set = begin(&store, &tree);
    let id = set.id();
    let running = tree.store().list(SESSION).unwrap();
    let running = running.last().map(|it| (it.changes.id, it.changes.state));
    assert_eq!(running, Some((id, ChangesState::Running)));
    drop((set, store));
    let changes = tree.store().show(SESSION, id).unwrap();
    let state = (changes.state, changes.exact);
    assert_eq!(state, (ChangesState::Interrupted, false));
}
