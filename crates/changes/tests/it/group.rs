//! Undoes and redoes several change sets as one.

use crate::crash::{acting_at, is, kill, steps};
use crate::in_order::{TREE, recorded, same, several_calls};
use crate::support::{SESSION, TestTree, difference, without_inodes};
use agent_bash_changes::{
    ChangesError, ChangesScope, Precautions, Recorder, Store, Touch, TurnSign,
};
use agent_bash_core::Timestamp;
use agent_bash_core::changes::{ChangesId, ChangesLevel, ChangesState};
use std::io;

/// Performs an action whose step with this number fails.
fn fail_at<T>(tree: &TestTree, at: usize, act: impl FnOnce(&Store) -> T) -> T {
    let fails = move |number, _| {
        if number == at {
            return Err(io::Error::other("made to fail"));
        }
        Ok(())
    };
    act(&tree
        .store()
        .with_steps(acting_at(fails), Precautions::default()))
}

/// All change sets.
fn all() -> ChangesScope {
    ChangesScope::From(ChangesId(1))
}

#[test]
fn any_sequence_is_undone_and_redone_as_one() {
    for seed in 1..=10 {
        let tree = TestTree::new(TREE);
        let (calls, states) = several_calls(&tree, seed);
        let when = |what: &str, from: usize| format!("seed {seed}, {what} {:?}", &calls[from..]);
        for from in [calls.len() - 1, calls.len() / 2, 0] {
            let scope = ChangesScope::From(calls[from].0);
            let undone = tree.store().undo_group(SESSION, &scope, false);
            let undone = undone.unwrap_or_else(|error| panic!("{}: {error}", when("undone", from)));
            assert_eq!(undone.changes.len(), calls.len() - from);
            same(&tree, &states[from], &when("undone", from));
            let redone = tree.store().redo_group(SESSION, &scope);
            assert!(redone.is_ok(), "{}: {redone:?}", when("redone", from));
            same(&tree, &states[calls.len()], &when("redone", from));
        }
    }
}

fn three_calls(tree: &TestTree) -> [ChangesId; 3] {
    [
        recorded(tree, "~a: echo 1 >>a"),
        recorded(tree, "~b: echo 2 >>b"),
        recorded(tree, "~a: echo 3 >>a"),
    ]
}

#[test]
fn call_that_leaves_a_file_as_it_was_prevents_no_undo_of_earlier_calls() {
    for later in ["chmod 644 a", "touch -a a", "chmod 600 a; chmod 644 a"] {
        let tree = TestTree::new("echo zero >a; chmod 644 a");
        let first = recorded(&tree, "~a: echo more >>a");
        // The second one changes only the `ctime`.
        recorded(&tree, &format!("@a: sleep 0.02; {later}"));
        let undone = tree.store().undo_group(SESSION, &all(), false).unwrap();
        assert_eq!(undone.changes.len(), 1, "{later}");
        assert_eq!(tree.text("a").as_deref(), Some("zero\n"), "{later}");
        tree.store().redo_group(SESSION, &all()).unwrap();
        assert_eq!(tree.text("a").as_deref(), Some("zero\nmore\n"), "{later}");
        recorded(&tree, &format!("@a: sleep 0.02; {later}"));
        tree.store().undo(SESSION, first, &[], false).unwrap();
        assert_eq!(tree.text("a").as_deref(), Some("zero\n"), "{later}");
    }
    // Control: the same by a process that is not recorded.
    let tree = TestTree::new("echo zero >a; chmod 644 a");
    recorded(&tree, "~a: echo more >>a");
    recorded(&tree, "@a: sleep 0.02; chmod 644 a");
    tree.sh("sleep 0.02; chmod 644 a");
    let refused = tree.store().undo_group(SESSION, &all(), false);
    assert!(
        matches!(refused, Err(ChangesError::Group { .. })),
        "{refused:?}"
    );
}

#[test]
fn conflicts_are_named_before_any_file_changes() {
    let tree = TestTree::new(TREE);
    let [first, second, third] = three_calls(&tree);
    tree.sh("echo theirs >>b");
    let before = tree.files();
    let preview = tree.store().preview_group(SESSION, &all(), false).unwrap();
    let order: Vec<ChangesId> = preview.sets.iter().map(|set| set.id).collect();
    assert_eq!(
        order,
        [third, first, second],
        "the one in conflict is the last"
    );
    let conflicts = preview.obstacles().unwrap().conflicts;
    assert_eq!(conflicts.len(), 1);
    assert_eq!((conflicts[0].0, &*conflicts[0].1[0].path), (second, "b"));
    let refused = tree.store().undo_group(SESSION, &all(), false);
    assert!(
        matches!(refused, Err(ChangesError::Group { .. })),
        "{refused:?}"
    );
    assert_eq!(difference(&before, &tree.files()), "");
    assert_eq!(tree.ids().len(), 3, "no undo was begun");
    let done = tree.store().undo_group(SESSION, &all(), true).unwrap();
    assert_eq!(done.changes.len(), 2);
    assert_eq!(tree.text("a").as_deref(), Some("zero\n"));
    assert_eq!(tree.text("b").as_deref(), Some("zero\n2\ntheirs\n"));
}

/// Another process wrote between two calls to a file of both: only the later change can be undone.
#[test]
fn write_between_two_calls_is_a_conflict_of_the_earlier_one() {
    let tree = TestTree::new(TREE);
    let first = recorded(&tree, "~a: echo 1 >>a");
    tree.sh("echo theirs >>a");
    let second = recorded(&tree, "~a: echo 2 >>a");
    let preview = tree.store().preview_group(SESSION, &all(), false).unwrap();
    let conflicts = preview.obstacles().unwrap().conflicts;
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].0, first);
    assert!(
        preview
            .sets
            .iter()
            .any(|set| set.id == second && set.conflicts.is_empty())
    );
}

#[test]
fn set_without_preimages_blocks_the_whole() {
    let tree = TestTree::new(TREE);
    let first = recorded(&tree, "~a: echo 1 >>a");
    let store = tree.store();
    let set = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::List)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    recorder
        .before(&tree.root.join("b"), Touch::Content)
        .unwrap();
    tree.sh("echo 2 >>b");
    recorder.finish().unwrap();
    let listed = store.finish(set).unwrap().id;
    let preview = store.preview_group(SESSION, &all(), false).unwrap();
    assert_eq!(preview.blocked.len(), 1);
    assert_eq!(preview.blocked[0].0, listed);
    assert!(
        preview.blocked[0]
            .1
            .contains("only their names were recorded")
    );
    assert!(store.undo_group(SESSION, &all(), false).is_err());
    assert_eq!(tree.text("a").as_deref(), Some("zero\n1\n"));
    store.undo_group(SESSION, &all(), true).unwrap();
    assert_eq!(
        store.show(SESSION, first).unwrap().state,
        ChangesState::Undone
    );
}

#[test]
fn redo_applies_only_what_the_last_group_undid() {
    let tree = TestTree::new(TREE);
    let [_, second, _] = three_calls(&tree);
    let before = tree.text("a");
    tree.undo(second);
    tree.store().undo_group(SESSION, &all(), false).unwrap();
    assert_eq!(tree.text("a").as_deref(), Some("zero\n"));
    let nothing = tree.store().undo_group(SESSION, &all(), false);
    assert!(
        matches!(nothing, Err(ChangesError::NothingInScope { .. })),
        "{nothing:?}"
    );
    tree.store().redo_group(SESSION, &all()).unwrap();
    assert_eq!(tree.text("a"), before);
    assert_eq!(
        tree.text("b").as_deref(),
        Some("zero\n"),
        "undone before by itself"
    );
    tree.store().redo_group(SESSION, &all()).unwrap();
    assert_eq!(tree.text("b").as_deref(), Some("zero\n2\n"));
}

#[test]
fn scope_selects_by_number_time_and_turn() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let no_turn = store.undo_group(SESSION, &ChangesScope::AgentTurn(None), false);
    assert!(matches!(no_turn, Err(ChangesError::NoTurns)), "{no_turn:?}");
    let first = recorded(&tree, "~a: echo 1 >>a");
    let begin = |sign| store.begin_turn(SESSION, sign).unwrap();
    let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
    pause();
    assert_eq!(begin(TurnSign::Prompt(None)), "1");
    let second = recorded(&tree, "~a: echo 2 >>a");
    pause();
    assert_eq!(begin(TurnSign::Name("a-turn")), "a-turn");
    assert_eq!(
        begin(TurnSign::Name("a-turn")),
        "a-turn",
        "the same turn goes on"
    );
    let third = recorded(&tree, "~a: echo 3 >>a");
    let fourth = recorded(&tree, "~b: echo 4 >>b");
    pause();
    assert_eq!(begin(TurnSign::Prompt(None)), "2");
    let listed = store.list(SESSION).unwrap();
    let turns: Vec<Option<&str>> = listed.iter().map(|one| one.turn_name.as_deref()).collect();
    assert_eq!(turns, [None, Some("1"), Some("a-turn"), Some("a-turn")]);
    let sets = |scope: &ChangesScope| -> Vec<ChangesId> {
        let preview = store.preview_group(SESSION, scope, false).unwrap();
        preview.sets.iter().map(|set| set.id).collect()
    };
    // A turn without changes is passed over.
    assert_eq!(sets(&ChangesScope::AgentTurn(None)), [fourth, third]);
    assert_eq!(
        sets(&ChangesScope::AgentTurn(Some("a-turn".to_owned()))),
        [fourth, third]
    );
    assert_eq!(sets(&ChangesScope::From(second)), [fourth, third, second]);
    assert_eq!(sets(&ChangesScope::After(listed[2].begun)), [fourth, third]);
    assert_eq!(
        sets(&ChangesScope::After(Timestamp(0))),
        [fourth, third, second, first]
    );
    let unknown = store.preview_group(SESSION, &ChangesScope::From(ChangesId(99)), false);
    assert!(matches!(unknown, Err(ChangesError::Unknown { .. })));
    store
        .undo_group(SESSION, &ChangesScope::AgentTurn(None), false)
        .unwrap();
    assert_eq!(tree.text("a").as_deref(), Some("zero\n1\n2\n"));
    // The next undo is of the turn before. The undo itself belongs to no turn.
    store
        .undo_group(SESSION, &ChangesScope::AgentTurn(None), false)
        .unwrap();
    assert_eq!(tree.text("a").as_deref(), Some("zero\n1\n"));
    let redone = store
        .redo_group(SESSION, &ChangesScope::AgentTurn(None))
        .unwrap();
    assert_eq!(redone.changes.len(), 1);
    assert_eq!(tree.text("a").as_deref(), Some("zero\n1\n2\n"));
    for name in ["", "last", "a b", "a\n", &"x".repeat(101)] {
        let bad = store.begin_turn(SESSION, TurnSign::Name(name));
        assert!(matches!(bad, Err(ChangesError::TurnName(_))), "{name:?}");
    }
}

#[test]
fn call_goes_on_with_the_turn_of_its_prompt() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let names = [
        (TurnSign::Call("p1"), "1"),
        (TurnSign::Call("p1"), "1"),
        (TurnSign::Call("p2"), "2"),
        (TurnSign::Prompt(Some("p3")), "3"),
        (TurnSign::Call("p3"), "3"),
        // A prompt without an id: the first call tells it.
        (TurnSign::Prompt(None), "4"),
        (TurnSign::Call("p4"), "4"),
        (TurnSign::Call("p5"), "5"),
        (TurnSign::Prompt(None), "6"),
        (TurnSign::Prompt(None), "7"),
    ];
    for (sign, name) in names {
        assert_eq!(store.begin_turn(SESSION, sign).unwrap(), name, "{sign:?}");
    }
}

#[test]
fn failure_at_any_step_redoes_what_was_undone() {
    let made = || {
        let tree = TestTree::new(TREE);
        three_calls(&tree);
        let after = tree.files();
        (tree, after)
    };
    let (tree, _) = made();
    let count = steps(&tree, |store| {
        drop(store.undo_group(SESSION, &all(), false));
    })
    .len();
    let mut failures = 0;
    for at in 0..count {
        let (tree, after) = made();
        let failed = fail_at(&tree, at, |store| store.undo_group(SESSION, &all(), false));
        if let Err(error) = &failed {
            failures += 1;
            assert!(
                matches!(error, ChangesError::GroupFailed { remaining, .. } if remaining.is_empty()),
                "{at}: {error}"
            );
            same(&tree, &after, &format!("step {at}"));
            let register = tree.state.join("changes/.unfinished/test@group");
            assert!(!register.exists(), "step {at}");
        }
        drop(tree.store());
        let undone = tree.store().undo_group(SESSION, &all(), false);
        assert_eq!(undone.is_ok(), failed.is_err(), "step {at}: {undone:?}");
        assert_eq!(tree.text("a").as_deref(), Some("zero\n"), "step {at}");
    }
    assert!(failures > count / 2, "{failures} of {count}");
}

#[test]
fn killed_undo_of_several_is_completed_by_the_next_open() {
    let made = || {
        let tree = TestTree::new(TREE);
        let before = tree.files();
        three_calls(&tree);
        (tree, before)
    };
    let (tree, _) = made();
    let count = steps(&tree, |store| {
        drop(store.undo_group(SESSION, &all(), false));
    })
    .len();
    assert!(count > 10);
    for at in 0..count {
        let (tree, before) = made();
        assert!(
            kill(&tree, "undo-all", at, None),
            "step {at} was not reached"
        );
        drop(tree.store());
        let (want, got) = (without_inodes(&before), without_inodes(&tree.files()));
        assert!(is(&want, &got), "step {at}:\n{}", difference(&want, &got));
        tree.store().redo_group(SESSION, &all()).unwrap();
        assert_eq!(tree.text("a").as_deref(), Some("zero\n1\n3\n"), "step {at}");
    }
}
