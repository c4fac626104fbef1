//! Undoes calls one after another, the last first, and then redoes them. Each finds its files
//! unchanged, since only the store has touched them.

use crate::support::{SESSION, TestTree, Tree, difference, traced, without_inodes};
use agent_bash_changes::ChangesError;
use agent_bash_core::changes::ChangesId;
use std::ffi::OsStr;

pub(crate) const TREE: &str = "echo zero >a; echo zero >b; mkdir d; echo zero >d/x; chmod 640 b";

/// Calls of one step, as [`traced`] reads it. `NUMBER` is replaced by another number each time.
const CALLS: [&str; 10] = [
    "~a: echo more >>a",
    "~b: echo NUMBER >b",
    "+a: rm a",
    "+a +c: mv a c",
    "@b: chmod 600 b",
    "+d ~d/x: mkdir -p d; echo NUMBER >>d/x",
    "+d/x +d: rm -rf d",
    "+l: ln -sfn NUMBER l",
    "+t +a: echo NUMBER >t; mv t a",
    "@b: touch -d 2001-02-03 b",
];

pub(crate) fn recorded(tree: &TestTree, step: &str) -> ChangesId {
    traced(tree, &[step]).id
}

/// Compares trees without inodes and without the times of directories, which an undo does not
/// always restore.
pub(crate) fn same(test_tree: &TestTree, want: &Tree, when: &str) {
    let plain = |tree: &Tree| {
        let mut plain = without_inodes(tree);
        let directories = plain
            .values_mut()
            .filter(|it| it.mode & 0o170_000 == 0o040_000);
        directories.for_each(|it| it.mtime = (0, 0));
        plain
    };
    let difference = difference(&plain(want), &plain(&test_tree.files()));
    assert!(difference.is_empty(), "{when}:\n{difference}");
}

/// Returns a reproducible random sequence.
fn sequence(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 1000) as usize
    })
}

/// A call: its change set, its script, and whether it is a trial.
type MadeCall = (ChangesId, String, bool);

/// Makes random calls. Returns them, and the trees before the first and after each.
pub(crate) fn several_calls(tree: &TestTree, seed: u64) -> (Vec<MadeCall>, Vec<Tree>) {
    let mut states = vec![tree.files()];
    let mut calls = Vec::new();
    for number in sequence(seed).take(12) {
        let step = CALLS[number % CALLS.len()].replace("NUMBER", &calls.len().to_string());
        let (_, script) = step.split_once(": ").unwrap();
        // A call that changes nothing may still touch files, which conflicts with earlier calls.
        let files = tree.files();
        let is_there = |name: &str| files.contains_key(OsStr::new(name));
        let changes = match script {
            "rm a" | "mv a c" => is_there("a"),
            "rm -rf d" => is_there("d"),
            "chmod 600 b" => files[OsStr::new("b")].mode & 0o777 != 0o600,
            "touch -d 2001-02-03 b" => files[OsStr::new("b")].mtime.0 > 1_000_000_000,
            _ => true,
        };
        if !changes {
            continue;
        }
        let is_trial = number % 3 == 0;
        let id = if is_trial {
            tree.make(script)
        } else {
            recorded(tree, &step)
        };
        calls.push((id, script.to_owned(), is_trial));
        states.push(tree.files());
    }
    (calls, states)
}

fn there_and_back(seed: u64) {
    let tree = TestTree::new(TREE);
    let (calls, states) = several_calls(&tree, seed);
    let when = |what: &str, upto: usize| format!("seed {seed}, {what} {:?}", &calls[..=upto]);
    for (at, (id, _, _)) in calls.iter().enumerate().rev() {
        let undone = tree.store().undo(SESSION, *id, &[], false);
        assert!(undone.is_ok(), "{}: {undone:?}", when("undone", at));
        same(&tree, &states[at], &when("undone", at));
    }
    for (at, (id, _, _)) in calls.iter().enumerate() {
        let redone = tree.store().redo(SESSION, *id);
        assert!(redone.is_ok(), "{}: {redone:?}", when("redone", at));
        same(&tree, &states[at + 1], &when("redone", at));
    }
}

#[test]
fn calls_are_undone_and_redone_in_any_sequence() {
    for seed in 1..=40 {
        there_and_back(seed);
    }
}

/// Control: a write of another process to a restored file is a conflict.
#[test]
fn write_of_another_process_in_between_is_a_conflict() {
    let tree = TestTree::new(TREE);
    let first = recorded(&tree, "~a: echo more >>a");
    let second = recorded(&tree, "~a: echo more >>a");
    tree.undo(second);
    tree.sh("echo theirs >>a");
    let refused = tree.store().undo(SESSION, first, &[], false);
    assert!(matches!(refused, Err(ChangesError::Conflict { .. })));
    assert_eq!(tree.text("a").as_deref(), Some("zero\nmore\ntheirs\n"));
    // The write is a conflict even if the file has the same size and time.
    let tree = TestTree::new(TREE);
    let first = recorded(&tree, "~a: echo more >>a");
    let second = recorded(&tree, "~a: echo more >>a");
    tree.undo(second);
    tree.sh("cp -p a copy; mv copy a");
    let refused = tree.store().undo(SESSION, first, &[], false);
    assert!(matches!(refused, Err(ChangesError::Conflict { .. })));
    // An undo is also a conflict if a call in between is not undone.
    let tree = TestTree::new(TREE);
    let first = recorded(&tree, "~a: echo more >>a");
    recorded(&tree, "~a: echo more >>a");
    let refused = tree.store().undo(SESSION, first, &[], false);
    assert!(matches!(refused, Err(ChangesError::Conflict { .. })));
}
