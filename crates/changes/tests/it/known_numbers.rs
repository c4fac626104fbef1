//! A number never names two change sets in one process, even if the state directory is removed or
//! replaced.

use crate::support::{SESSION, TestTree};
use agent_bash_changes::{ChangesError, Recorder, Store, Touch};
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel};
use agent_bash_os::PrivateDir;
use std::fs;

const TREE: &str = "echo one >a";

/// A call that changes the file `a`.
fn call(store: &Store, tree: &TestTree, content: &str) -> Changes {
    let set = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    let path = tree.root.join("a");
    recorder.before(&path, Touch::Content).unwrap();
    fs::write(&path, content).unwrap();
    recorder.finish().unwrap();
    store.finish(set).unwrap()
}

fn listed(store: &Store) -> Vec<u64> {
    let sets = store.list(SESSION).unwrap();
    sets.iter().map(|set| set.changes.id.0).collect()
}

fn is_unknown(store: &Store, id: u64) -> bool {
    matches!(
        store.show(SESSION, ChangesId(id)),
        Err(ChangesError::Unknown { .. })
    )
}

#[test]
fn numbers_continue_when_the_state_directory_was_removed() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    assert_eq!(call(&store, &tree, "two").id, ChangesId(1));
    assert_eq!(call(&store, &tree, "three").id, ChangesId(2));
    fs::remove_dir_all(&tree.state).unwrap();
    assert_eq!(call(&store, &tree, "four").id, ChangesId(3));
    assert!(is_unknown(&store, 1) && is_unknown(&store, 2));
    assert_eq!(listed(&store), [3]);
    let undone = store.undo(SESSION, ChangesId(3), &[], false).unwrap();
    assert_eq!(undone.id, ChangesId(4));
    assert_eq!(fs::read(tree.root.join("a")).unwrap(), b"three");
}

#[test]
fn sets_of_a_replaced_state_directory_have_no_known_number() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    assert_eq!(call(&store, &tree, "two").id, ChangesId(1));
    let aside = tree.state.with_extension("aside");
    fs::rename(&tree.state, &aside).unwrap();
    let other = tree.store();
    assert_eq!(call(&other, &tree, "three").id, ChangesId(1));
    assert_eq!(call(&other, &tree, "four").id, ChangesId(2));
    // The first process knows number 1 as a set of the former directory, and never saw number 2.
    assert!(is_unknown(&store, 1), "the number names another set");
    assert_eq!(listed(&store), [2]);
    assert!(store.undo(SESSION, ChangesId(1), &[], false).is_err());
    assert_eq!(call(&store, &tree, "five").id, ChangesId(3));
    assert_eq!(listed(&other), [1, 2, 3]);
}

#[test]
fn shown_number_of_another_process_is_known() {
    let tree = TestTree::new(TREE);
    let (store, other) = (tree.store(), tree.store());
    assert_eq!(call(&other, &tree, "two").id, ChangesId(1));
    assert_eq!(listed(&store), [1]);
    fs::remove_dir_all(&tree.state).unwrap();
    assert_eq!(call(&store, &tree, "three").id, ChangesId(2));
}

#[test]
fn changes_of_background_processes_have_later_numbers_when_the_directory_was_removed() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let set = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    let mut background = recorder.background();
    let path = tree.root.join("a");
    recorder.before(&path, Touch::Content).unwrap();
    recorder.finish().unwrap();
    assert_eq!(store.finish(set).unwrap().id, ChangesId(1));
    fs::remove_dir_all(&tree.state).unwrap();
    // Only the session's directory exists again.
    let session = PrivateDir::create(&tree.state, &["changes", SESSION]).unwrap();
    background.before(&path, Touch::Content).unwrap();
    assert!(session.path().join("2").is_dir(), "number 1 was the call's");
}
