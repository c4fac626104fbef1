//! Scans of a directory before and after an untraced call: the results, and their limits.

use crate::support::{SESSION, TestTree};
use agent_bash_changes::{ChangesError, DiffText, DirectoryScan, Store};
use agent_bash_core::changes::{Change, Changes, ChangesBy, ChangesLevel, ChangesState, Undoable};
use std::collections::BTreeMap;

const TREE: &str = r"
    echo one >a; echo two >b; echo three >c; mkdir -p d/sub; echo 1 >d/1; echo 2 >d/sub/2; ln -s a link
    touch -d '2001-02-03 04:05:06.123456789' a b c d/1
";

fn scan(store: &Store, tree: &TestTree) -> DirectoryScan {
    store.scan_before(&tree.root, |_| true).unwrap()
}

/// Returns the changes of an untraced script.
fn compared(tree: &TestTree, script: &str) -> Changes {
    let store = tree.store();
    let before = scan(&store, tree);
    tree.sh(script);
    let after = scan(&store, tree);
    store.scan_after(SESSION, &before, &after).unwrap()
}

fn files(changes: &Changes) -> BTreeMap<&str, (Change, Option<&str>)> {
    let files = changes.files.iter();
    files
        .map(|file| (&*file.name.path, (file.change, file.from.as_deref())))
        .collect()
}

#[test]
fn scan_detects_changes_by_names_sizes_and_times() {
    use Change::{Changed, Created, Deleted, Mode, Renamed};
    type ExpectedChanges = &'static [(&'static str, Change, Option<&'static str>)];
    let cases: &[(&str, ExpectedChanges)] = &[
        ("echo n >new", &[("new", Created, None)]),
        ("echo more >>a", &[("a", Changed, None)]),
        // The file has the same size and modification time; its `ctime` shows the change.
        (
            "t=$(stat -c %y b); echo owt >b; touch -d \"$t\" b",
            &[("b", Changed, None)],
        ),
        ("rm c", &[("c", Deleted, None)]),
        ("mv a d/moved", &[("d/moved", Renamed, Some("a"))]),
        (
            "mv d e",
            &[
                ("e/1", Renamed, Some("d/1")),
                ("e/sub/2", Renamed, Some("d/sub/2")),
            ],
        ),
        ("chmod 600 b", &[("b", Mode, None)]),
        ("ln a other", &[("other", Created, None)]),
        ("ln -sfn b link", &[("link", Changed, None)]),
        ("rm c; mkdir c", &[("c", Changed, None)]),
        (
            "rm -r d",
            &[("d/1", Deleted, None), ("d/sub/2", Deleted, None)],
        ),
        ("echo x >t; rm t; cat a; ls d", &[]),
    ];
    for (script, wanted) in cases {
        let tree = TestTree::new(TREE);
        let changes = compared(&tree, script);
        let wanted: BTreeMap<_, _> = wanted
            .iter()
            .map(|(path, change, from)| (*path, (*change, *from)))
            .collect();
        assert_eq!(files(&changes), wanted, "{script}");
    }
}

/// Without a trace, the list is never complete, a rename is inferred, and no preimage exists.
#[test]
fn scan_claims_no_exactness_renames_or_undo() {
    let tree = TestTree::new(TREE);
    let changes = compared(&tree, "mv a moved; echo more >>b; rm c");
    let shown = tree.store().show(SESSION, changes.id).unwrap();
    for found in [&changes, &shown] {
        assert_eq!(
            (found.by, found.state, found.undo, found.exact),
            (ChangesBy::Scan, ChangesState::Listed, Undoable::No, false)
        );
        let renamed = found
            .files
            .iter()
            .find(|file| file.change == Change::Renamed);
        assert!(renamed.is_some_and(|file| file.inferred), "{found:?}");
    }
    let store = tree.store();
    let refused = store.undo(SESSION, changes.id, &[], false).unwrap_err();
    assert!(
        refused.to_string().contains("scanned, not traced"),
        "{refused}"
    );
    // Another process's file at the same path is not the former contents.
    tree.sh("echo other >c; echo other >a");
    for diff in store.diff(SESSION, changes.id, &[]).unwrap() {
        assert_eq!(diff.text, DiffText::Unknown, "{diff:?}");
    }
    // Control: a traced change is exact, and can be undone.
    let set = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let watched = store.finish(set).unwrap();
    assert_eq!((watched.by, watched.exact), (ChangesBy::Trace, true));
}

#[test]
fn scan_ends_when_its_callback_returns_false() {
    let tree = TestTree::new("mkdir d; touch d/{1..50}");
    let store = tree.store();
    let stopped = store.scan_before(&tree.root, |files| files < 20);
    let Err(ChangesError::TooManyFiles { scanned: count, .. }) = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!(count, 20);
    assert!(store.scan_before(&tree.root, |files| files < 51).is_ok());
    // The store must not scan itself.
    let within = store.scan_before(tree.root.parent().unwrap(), |_| true);
    assert!(matches!(within, Err(ChangesError::StoreInsideRoot { .. })));
}

/// A later call reuses an empty set under its own number.
#[test]
fn sets_of_scans_without_changes_are_reused() {
    let tree = TestTree::new(TREE);
    let store = tree.store();
    let mut ids = Vec::new();
    for script in ["cat a", "cat b", "rm c"] {
        let before = scan(&store, &tree);
        tree.sh(script);
        let after = scan(&store, &tree);
        let changes = store.scan_after(SESSION, &before, &after).unwrap();
        ids.push((changes.id.0, changes.counts.total()));
    }
    assert_eq!(ids, [(1, 0), (2, 0), (3, 1)]);
    assert_eq!(store.list(SESSION).unwrap().len(), 1);
    // Neither a trace nor a scan of another directory reuses one of these.
    let set = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    assert_eq!(set.id().0, 4);
}

/// Entries of an unlistable directory are neither deleted nor new. For a user other than root: see
/// `trial::results_are_equal_for_an_unprivileged_user`.
#[test]
fn unlistable_entries_are_not_reported_as_deleted() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let tree = TestTree::new("mkdir shut; echo x >shut/file; echo y >gone");
    let changes = compared(&tree, "rm gone; chmod 000 shut");
    tree.sh("chmod 700 shut");
    let wanted = [
        ("gone", (Change::Deleted, None)),
        ("shut", (Change::Mode, None)),
    ];
    assert_eq!(files(&changes), wanted.into());
}

#[test]
fn scans_of_different_directories_are_not_compared() {
    let (tree, other) = (TestTree::new(TREE), TestTree::new(TREE));
    let store = tree.store();
    let (before, after) = (scan(&store, &tree), scan(&store, &other));
    let refused = store.scan_after(SESSION, &before, &after);
    assert!(matches!(refused, Err(ChangesError::Replaced { .. })));
}
