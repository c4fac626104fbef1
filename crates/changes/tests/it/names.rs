//! Files that are changed under another name than they had: moved with their directory, linked, or
//! with several names. The list has all differences, and each of them can be undone and redone.

use crate::in_order;
use crate::support::{SESSION, TestTree, Tree, difference, traced, without_inodes};
use agent_bash_changes::{ChangesError, ChangesScope};
use agent_bash_core::changes::{Changes, ChangesId, Undoable};

const TREE: &str = r"
    mkdir -p d/s e; echo 1 >d/f; echo 2 >d/g; echo 3 >d/s/h; echo old >e/o; echo one >a; echo two >b; ln b c; mkfifo p
    touch -d 2001-02-03 d d/f d/s e a b; echo same >same1; sleep 0.02; echo same >same2; setfattr -n user.x -v 1 a
";

/// The steps of a call, as [`traced`] reads them, and the expected list.
const CASES: &[(&[&str], &str)] = &[
    // In a directory that was moved.
    (
        &["+d +m: mv d m", "~m/f: echo x >>m/f"],
        "d/f deleted, m/f created, m/g renamed, m/s/h renamed",
    ),
    (
        &["+d +m: mv d m", "+m/f: rm m/f"],
        "d/f deleted, m/g renamed, m/s/h renamed",
    ),
    (
        &["+d +m: mv d m", "@m/f @m/s: chmod 600 m/f; chmod 700 m/s"],
        "d/f deleted, m/f created, m/g renamed, m/s/h renamed",
    ),
    (
        &[
            "+d +m: mv d m", "+m/s +m/t: mv m/s m/t", "+m/t/new: echo new >m/t/new",
        ],
        "m/f renamed, m/g renamed, m/t/h renamed, m/t/new created",
    ),
    // The directory had only its former entries before the call.
    (
        &["+d +m: mv d m", "+m +d: mv m d", "~d/f: echo x >>d/f"],
        "d/f changed",
    ),
    // A directory in the place of another.
    (
        &["+e/o: rm e/o", "+d +e: mv -T d e"],
        "e/f renamed, e/g renamed, e/o deleted, e/s/h renamed",
    ),
    (
        &[
            "+t: mkdir t",
            "+t/n +t/o: echo new >t/n; echo new >t/o",
            "+e/o @ @e: rm -r e",
            "+t +e: mv t e",
        ],
        "e/n created, e/o changed",
    ),
    // By a name that is new.
    (
        &["+a2: ln a a2", "~a2: echo x >>a2"],
        "a changed, a2 created",
    ),
    (&["+a +m: mv a m", "~m: echo x >>m"], "a deleted, m created"),
    // Under one of several names, which is then removed.
    (&["~b: echo x >>b", "+b: rm b"], "b deleted, c changed"),
    (
        &["~b: echo x >>b", "+b +m: mv b m"],
        "b deleted, c changed, m created",
    ),
    (
        &["~b: echo x >>b", "+b: rm b", "+b: echo y >b"],
        "b changed, c changed",
    ),
    (&["+b: rm b", "~c: echo x >>c"], "b deleted, c changed"),
    (
        &["@b: chmod 600 b", "~c: echo x >>c"],
        "b changed, c changed",
    ),
    (
        &["~b: echo x >>b", "@c: chmod 600 c"],
        "b changed, c changed",
    ),
    (&["@c: chmod 600 c", "@b: chmod 640 b"], "b mode, c mode"),
    (
        &["~b: echo x >>b", "+b: rm b", "~c: echo y >>c"],
        "b deleted, c changed",
    ),
    // The file is moved, and its attributes are changed.
    (
        &[
            "+a +m: mv a m",
            "@m: chmod 600 m; setfattr -n user.x -v 2 m",
        ],
        "a deleted, m created",
    ),
    (
        &["@a: chmod 600 a; setfattr -x user.x a", "+a +m: mv a m"],
        "a deleted, m created",
    ),
    (
        &["+p +m: mv p m", "@m: chmod 600 m"],
        "m created, p deleted",
    ),
];

fn listed(changes: &Changes) -> String {
    let files = changes.files.iter();
    let mut files: Vec<_> = files
        .map(|file| format!("{} {}", file.name.path, file.change.word()))
        .collect();
    files.sort();
    files.join(", ")
}

fn same(want: &Tree, tree: &TestTree, when: &str) {
    let difference = difference(&without_inodes(want), &without_inodes(&tree.files()));
    assert_eq!(difference, "", "{when}");
}

fn there_and_back(new: fn(&str) -> TestTree) {
    for (steps, want) in CASES {
        let name = steps.join("; ");
        let tree = new(TREE);
        let before = tree.files();
        let changes = traced(&tree, steps);
        assert_eq!(listed(&changes), *want, "{name}");
        assert_eq!(
            (changes.exact, changes.undo),
            (true, Undoable::Whole),
            "{name}"
        );
        let after = tree.files();
        tree.undo(changes.id);
        same(&before, &tree, &format!("{name}: undone"));
        tree.redo(changes.id);
        same(&after, &tree, &format!("{name}: made again"));
        tree.undo(changes.id);
        same(&before, &tree, &format!("{name}: undone again"));
    }
}

#[test]
fn changes_by_other_names_are_listed_and_undone() {
    there_and_back(TestTree::new);
}

#[test]
fn changes_by_other_names_are_undone_with_a_store_on_another_device() {
    there_and_back(TestTree::far);
}

/// The former contents of a file that was moved and written to are stored: the file alone can be
/// restored.
#[test]
fn moved_and_changed_file_is_undone_alone() {
    let tree = TestTree::new(TREE);
    let changes = traced(&tree, &["+a +m: mv a m", "~m: echo x >>m"]);
    let store = tree.store();
    store
        .undo(SESSION, changes.id, &["a".into()], false)
        .unwrap();
    tree.sh("echo theirs >>m");
    assert_eq!(tree.text("a").as_deref(), Some("one\n"));
}

/// Two files with equal contents are swapped; an undo swaps them back nevertheless.
#[test]
fn swapped_files_with_equal_contents_are_swapped_back() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let steps = [
        "+same1 +t +same2: mv same1 t; mv same2 same1; mv t same2",
        "~same1: echo new >same1",
    ];
    let changes = traced(&tree, &steps);
    tree.undo(changes.id);
    same(&before, &tree, "undone");
}

/// The file is written to outside of the root.
#[test]
fn file_changed_outside_of_the_root_has_a_preimage() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let out = tree.root.with_file_name("out");
    let (out, file) = (out.to_str().unwrap(), out.join("f"));
    let file = file.to_str().unwrap();
    let steps = [
        format!("+d +{out}: mv d ../out"),
        format!("~{file}: echo x >>../out/f"),
        format!("+{file} +{out}: rm -r ../out"),
    ];
    let changes = traced(&tree, &steps.each_ref().map(String::as_str));
    tree.undo(changes.id);
    same(&before, &tree, "undone");
}

/// Undo removes one of the file's names and cannot restore its attributes by another: the result
/// names the file.
#[test]
fn unrestorable_attributes_are_named() {
    let tree = TestTree::new(TREE);
    let changes = traced(&tree, &["+a2: ln a a2", "@a2: chmod 600 a2"]);
    assert_eq!(listed(&changes), "a mode, a2 created");
    let not_restorable: Vec<_> = changes.not_restorable.iter().map(|it| &*it.path).collect();
    assert_eq!(
        (changes.undo, &not_restorable[..]),
        (Undoable::Part, &["a"][..])
    );
    tree.undo(changes.id);
    assert_eq!(tree.text("a2"), None);
}

/// One call moves a file, and another writes to it. Undoing both restores the former content.
/// Undoing the first alone is refused, because its preimage is a link to the file.
#[test]
fn undo_of_a_move_does_not_restore_later_writes() {
    let moved = &["+a +m: mv a m"];
    let written = &["~m: echo x >>m"];
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let (first, second) = (traced(&tree, moved), traced(&tree, written));
    let alone = tree.store().undo(SESSION, first.id, &["a".into()], false);
    assert!(matches!(alone, Err(ChangesError::Conflict { .. })));
    assert_eq!(tree.text("a"), None);
    tree.undo(second.id);
    tree.undo(first.id);
    same(&before, &tree, "undone");
    // Control: no other call has written to the file.
    let tree = TestTree::new(TREE);
    let first = traced(&tree, moved);
    tree.store()
        .undo(SESSION, first.id, &["a".into()], false)
        .unwrap();
    assert_eq!(tree.text("a").as_deref(), Some("one\n"));
}

/// A file time in the future does not show a later write. A remaining name of the file may have
/// been used for one.
#[test]
fn removed_name_is_restored_unless_its_file_was_written_to() {
    let test_tree = TestTree::new(&format!("{TREE} touch -d 2099-01-01 a"));
    let before = test_tree.files();
    let changes = traced(&test_tree, &["+a +c: rm a c"]);
    test_tree.sh("chmod 600 b");
    test_tree.undo(changes.id);
    assert_eq!(test_tree.text("a").as_deref(), Some("one\n"));
    assert_eq!(test_tree.text("c").as_deref(), Some("two\n"));
    let links = |tree: &Tree| tree[std::ffi::OsStr::new("b")].links;
    assert_eq!(links(&test_tree.files()), links(&before));
    let test_tree = TestTree::new(TREE);
    let changes = traced(&test_tree, &["+c: rm c"]);
    test_tree.sh("echo more >>b");
    let undone = test_tree.store().undo(SESSION, changes.id, &[], false);
    assert!(matches!(undone, Err(ChangesError::Conflict { .. })));
}

/// A file that was moved out of the root stays there; the undo creates another file.
#[test]
fn undo_of_a_move_out_of_the_root_makes_two_files() {
    let inode = |tree: &TestTree, name: &str| {
        let found = std::fs::symlink_metadata(tree.root.join(name)).unwrap();
        std::os::unix::fs::MetadataExt::ino(&found)
    };
    for (steps, undone, kept) in [
        (&["+a: mv a ../out"][..], "a", "../out"),
        (&["+b +c: mv b ../out; rm c"], "b", "../out"),
        // A partial undo restores only the file at the old name.
        (&["+a +m: mv a m"], "a", "m"),
    ] {
        let tree = TestTree::new(TREE);
        let before = tree.files();
        let changes = traced(&tree, steps);
        let paths = ["a".into(), "b".into(), "c".into()];
        let paths = if kept == "m" { &paths[..1] } else { &[] };
        tree.store()
            .undo(SESSION, changes.id, paths, false)
            .unwrap();
        assert_ne!(inode(&tree, undone), inode(&tree, kept), "{steps:?}");
        tree.sh(&format!("echo later >>{kept}"));
        if kept != "m" {
            same(&before, &tree, &format!("{steps:?}"));
        }
    }
    // Negative controls: files without such a name are the same inodes again.
    for script in ["mv a m", "rm a", "mv b m"] {
        let tree = TestTree::new(TREE);
        let name = &script[3..4];
        let was = inode(&tree, name);
        let changes = traced(&tree, &[&*format!("+{name} +m: {script}")]);
        tree.undo(changes.id);
        assert_eq!(inode(&tree, name), was, "{script}");
    }
    // Two moves, the last taken back first.
    let tree = TestTree::new(TREE);
    let was = inode(&tree, "a");
    let first = traced(&tree, &["+a +m: mv a m"]);
    let second = traced(&tree, &["+m: mv m ../out"]);
    tree.undo(second.id);
    assert_ne!(inode(&tree, "m"), was);
    tree.undo(first.id);
    tree.sh("echo later >>../out");
    assert_eq!(tree.text("a").as_deref(), Some("one\n"));
}

fn undo_name(tree: &TestTree, id: ChangesId, name: &str) -> Result<Changes, ChangesError> {
    tree.store().undo(SESSION, id, &[name.into()], false)
}

/// The undo and the redo of one name move the file, which changes the `ctime` of its other name.
#[test]
fn names_of_one_file_are_undone_one_by_one_and_together() {
    let step = &["~b: echo x >>b"];
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let id = traced(&tree, step).id;
    let after = tree.files();
    undo_name(&tree, id, "b").unwrap();
    tree.redo(id);
    same(&after, &tree, "redone");
    tree.undo(id);
    same(&before, &tree, "undone");
    let inode = |name: &str| tree.files()[std::ffi::OsStr::new(name)].inode;
    assert_eq!(inode("b"), inode("c"), "the names are linked again");
    tree.redo(id);
    undo_name(&tree, id, "b").unwrap();
    undo_name(&tree, id, "c").unwrap();
    same(&before, &tree, "undone one by one");
    // The control: another process writes to the other name, or makes a new file of it.
    for script in ["echo theirs >>c", "cp -p c t; mv t c"] {
        let tree = TestTree::new(TREE);
        let id = traced(&tree, step).id;
        undo_name(&tree, id, "b").unwrap();
        tree.redo(id);
        tree.sh(script);
        let refused = tree.store().undo(SESSION, id, &[], false);
        assert!(
            matches!(refused, Err(ChangesError::Conflict { .. })),
            "{script}"
        );
    }
}

#[test]
fn undo_of_one_name_restores_the_attributes_of_all_names() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let changes = traced(&tree, &["@a @b: chmod 600 a b"]);
    assert_eq!(listed(&changes), "a mode, b mode, c mode");
    let id = changes.id;
    assert_eq!(undo_name(&tree, id, "b").unwrap().counts.mode, 2);
    tree.redo(id);
    undo_name(&tree, id, "c").unwrap();
    tree.undo(id);
    same(&before, &tree, "undone");
}

/// A call changes a file with two names, and a later one removes one of them.
#[test]
fn undo_accepts_file_with_another_name_that_was_removed_and_restored() {
    let removals: [fn(&TestTree) -> ChangesId; 2] = [
        |tree| traced(tree, &["+b: rm b"]).id,
        |tree| tree.make("rm b"),
    ];
    for remove in removals {
        let tree = TestTree::new(TREE);
        let before = tree.files();
        let first = traced(&tree, &["~b: echo x >>b"]).id;
        let changed = tree.files();
        let second = remove(&tree);
        tree.undo(second);
        in_order::same(&tree, &changed, "second undone");
        tree.undo(first);
        in_order::same(&tree, &before, "first undone");
        tree.redo(first);
        tree.redo(second);
        let all = ChangesScope::From(first);
        tree.store().undo_group(SESSION, &all, false).unwrap();
        in_order::same(&tree, &before, "both undone");
        // The control: another process writes to the name that was not removed.
        let tree = TestTree::new(TREE);
        let first = traced(&tree, &["~b: echo x >>b"]).id;
        let second = remove(&tree);
        tree.undo(second);
        tree.sh("echo theirs >>c");
        tree.store().undo(SESSION, first, &[], false).unwrap_err();
    }
}

/// A call removes a name of a file, and a later one writes to the file. The undo of the later call
/// restores the former contents by another file.
#[test]
fn removed_name_is_restored_by_a_copy_of_a_restored_name() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let first = traced(&tree, &["+b: rm b"]).id;
    let second = traced(&tree, &["~c: echo x >>c"]).id;
    // The control: nothing has the former contents.
    tree.store().undo(SESSION, first, &[], false).unwrap_err();
    let all = ChangesScope::From(first);
    tree.store().undo_group(SESSION, &all, false).unwrap();
    in_order::same(&tree, &before, "undone");
    tree.redo(first);
    tree.redo(second);
    tree.undo(second);
    tree.undo(first);
    in_order::same(&tree, &before, "undone again");
}

/// A trial removes a name of a file, and a later call writes to the file.
#[test]
fn committed_removal_of_a_name_is_not_undone_with_contents_of_a_later_call() {
    for (later, is_undone) in [("echo 4 >>b", false), ("true", true)] {
        let tree = TestTree::new("mkdir d; echo b >b; ln b d/b");
        let first = tree.make("rm d/b");
        let second = traced(&tree, &[&format!("~b: {later}")]).id;
        if !is_undone {
            tree.undo(second);
        }
        let undone = tree.store().undo(SESSION, first, &[], false);
        assert_eq!(undone.is_ok(), is_undone, "{later}: {undone:?}");
        let restored = tree.text("d/b");
        assert_eq!(restored.as_deref(), is_undone.then_some("b\n"), "{later}");
    }
}
