//! Files that are changed under another name than they had: moved with their directory, linked, or
//! with several names. The list has all differences, and each of them can be undone and redone.

use crate::support::{SESSION, TestTree, Tree, difference, without_inodes};
use agent_bash_changes::{ChangesError, Recorder, Touch};
use agent_bash_core::changes::{Changes, ChangesLevel, Undoable};

use Touch::{Attributes, Content, Name};

const TREE: &str = r"
    mkdir -p d/s e; echo 1 >d/f; echo 2 >d/g; echo 3 >d/s/h; echo old >e/o; echo one >a; echo two >b; ln b c; mkfifo p
    touch -d 2001-02-03 d d/f d/s e a b; echo same >same1; sleep 0.02; echo same >same2; setfattr -n user.x -v 1 a
";

type Steps = &'static [(&'static [(&'static str, Touch)], &'static str)];

/// The steps of a call, each with the paths recorded before it, and the expected list.
struct Case {
    steps: Steps,
    listed: &'static [(&'static str, &'static str)],
}

const CASES: &[Case] = &[
    // In a directory that was moved.
    Case {
        steps: &[
            (&[("d", Name), ("m", Name)], "mv d m"),
            (&[("m/f", Content)], "echo x >>m/f"),
        ],
        listed: &[
            ("d/f", "deleted"),
            ("m/f", "created"),
            ("m/g", "renamed"),
            ("m/s/h", "renamed"),
        ],
    },
    Case {
        steps: &[
            (&[("d", Name), ("m", Name)], "mv d m"),
            (&[("m/f", Name)], "rm m/f"),
        ],
        listed: &[("d/f", "deleted"), ("m/g", "renamed"), ("m/s/h", "renamed")],
    },
    Case {
        steps: &[
            (&[("d", Name), ("m", Name)], "mv d m"),
            (
                &[("m/f", Attributes), ("m/s", Attributes)],
                "chmod 600 m/f; chmod 700 m/s",
            ),
        ],
        listed: &[
            ("d/f", "deleted"),
            ("m/f", "created"),
            ("m/g", "renamed"),
            ("m/s/h", "renamed"),
        ],
    },
    Case {
        steps: &[
            (&[("d", Name), ("m", Name)], "mv d m"),
            (&[("m/s", Name), ("m/t", Name)], "mv m/s m/t"),
            (&[("m/t/new", Name)], "echo new >m/t/new"),
        ],
        listed: &[
            ("m/f", "renamed"),
            ("m/g", "renamed"),
            ("m/t/h", "renamed"),
            ("m/t/new", "created"),
        ],
    },
    // The directory had only its former entries before the call.
    Case {
        steps: &[
            (&[("d", Name), ("m", Name)], "mv d m"),
            (&[("m", Name), ("d", Name)], "mv m d"),
            (&[("d/f", Content)], "echo x >>d/f"),
        ],
        listed: &[("d/f", "changed")],
    },
    // A directory in the place of another.
    Case {
        steps: &[
            (&[("e/o", Name)], "rm e/o"),
            (&[("d", Name), ("e", Name)], "mv -T d e"),
        ],
        listed: &[
            ("e/f", "renamed"),
            ("e/g", "renamed"),
            ("e/o", "deleted"),
            ("e/s/h", "renamed"),
        ],
    },
    Case {
        steps: &[
            (&[("t", Name)], "mkdir t"),
            (
                &[("t/n", Name), ("t/o", Name)],
                "echo new >t/n; echo new >t/o",
            ),
            (
                &[("e/o", Name), ("", Attributes), ("e", Attributes)],
                "rm -r e",
            ),
            (&[("t", Name), ("e", Name)], "mv t e"),
        ],
        listed: &[("e/n", "created"), ("e/o", "changed")],
    },
    // By a name that is new.
    Case {
        steps: &[
            (&[("a2", Name)], "ln a a2"),
            (&[("a2", Content)], "echo x >>a2"),
        ],
        listed: &[("a", "changed"), ("a2", "created")],
    },
    Case {
        steps: &[
            (&[("a", Name), ("m", Name)], "mv a m"),
            (&[("m", Content)], "echo x >>m"),
        ],
        listed: &[("a", "deleted"), ("m", "created")],
    },
    // Under one of several names, which is then removed.
    Case {
        steps: &[(&[("b", Content)], "echo x >>b"), (&[("b", Name)], "rm b")],
        listed: &[("b", "deleted"), ("c", "changed")],
    },
    Case {
        steps: &[
            (&[("b", Content)], "echo x >>b"),
            (&[("b", Name), ("m", Name)], "mv b m"),
        ],
        listed: &[("b", "deleted"), ("c", "changed"), ("m", "created")],
    },
    Case {
        steps: &[
            (&[("b", Content)], "echo x >>b"),
            (&[("b", Name)], "rm b"),
            (&[("b", Name)], "echo y >b"),
        ],
        listed: &[("b", "changed"), ("c", "changed")],
    },
    Case {
        steps: &[(&[("b", Name)], "rm b"), (&[("c", Content)], "echo x >>c")],
        listed: &[("b", "deleted"), ("c", "changed")],
    },
    Case {
        steps: &[
            (&[("b", Attributes)], "chmod 600 b"),
            (&[("c", Content)], "echo x >>c"),
        ],
        listed: &[("b", "changed"), ("c", "changed")],
    },
    Case {
        steps: &[
            (&[("b", Content)], "echo x >>b"),
            (&[("c", Attributes)], "chmod 600 c"),
        ],
        listed: &[("b", "changed"), ("c", "changed")],
    },
    Case {
        steps: &[
            (&[("c", Attributes)], "chmod 600 c"),
            (&[("b", Attributes)], "chmod 640 b"),
        ],
        listed: &[("b", "mode"), ("c", "mode")],
    },
    Case {
        steps: &[
            (&[("b", Content)], "echo x >>b"),
            (&[("b", Name)], "rm b"),
            (&[("c", Content)], "echo y >>c"),
        ],
        listed: &[("b", "deleted"), ("c", "changed")],
    },
    // The file is moved, and its attributes are changed.
    Case {
        steps: &[
            (&[("a", Name), ("m", Name)], "mv a m"),
            (
                &[("m", Attributes)],
                "chmod 600 m; setfattr -n user.x -v 2 m",
            ),
        ],
        listed: &[("a", "deleted"), ("m", "created")],
    },
    Case {
        steps: &[
            (&[("a", Attributes)], "chmod 600 a; setfattr -x user.x a"),
            (&[("a", Name), ("m", Name)], "mv a m"),
        ],
        listed: &[("a", "deleted"), ("m", "created")],
    },
    Case {
        steps: &[
            (&[("p", Name), ("m", Name)], "mv p m"),
            (&[("m", Attributes)], "chmod 600 m"),
        ],
        listed: &[("m", "created"), ("p", "deleted")],
    },
];

pub(crate) fn traced(tree: &TestTree, steps: &[(&[(&str, Touch)], &str)]) -> Changes {
    let store = tree.store();
    let set = store.begin_trace(SESSION, &tree.root, ChangesLevel::Undo);
    let set = set.unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    for (touched, script) in steps {
        for (path, touch) in *touched {
            recorder.before(&tree.root.join(path), *touch).unwrap();
        }
        tree.sh(script);
    }
    recorder.finish().unwrap();
    store.finish(set).unwrap()
}

fn listed(changes: &Changes) -> Vec<(String, &'static str)> {
    let files = changes.files.iter();
    let mut files: Vec<_> = files
        .map(|file| (file.name.path.clone(), file.change.word()))
        .collect();
    files.sort();
    files
}

fn same(want: &Tree, tree: &TestTree, when: &str) {
    let difference = difference(&without_inodes(want), &without_inodes(&tree.files()));
    assert_eq!(difference, "", "{when}");
}

fn there_and_back(new: fn(&str) -> TestTree) {
    for case in CASES {
        let scripts: Vec<&str> = case.steps.iter().map(|(_, script)| *script).collect();
        let name = scripts.join("; ");
        let tree = new(TREE);
        let before = tree.files();
        let changes = traced(&tree, case.steps);
        let want: Vec<_> = case
            .listed
            .iter()
            .map(|it| (it.0.to_owned(), it.1))
            .collect();
        assert_eq!(listed(&changes), want, "{name}");
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
    let changes = traced(
        &tree,
        &[
            (&[("a", Name), ("m", Name)], "mv a m"),
            (&[("m", Content)], "echo x >>m"),
        ],
    );
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
    let steps: Steps = &[
        (
            &[("same1", Name), ("t", Name), ("same2", Name)],
            "mv same1 t; mv same2 same1; mv t same2",
        ),
        (&[("same1", Content)], "echo new >same1"),
    ];
    let changes = traced(&tree, steps);
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
    let touched: [&[(&str, Touch)]; 3] = [
        &[("d", Name), (out, Name)],
        &[(file, Content)],
        &[(file, Name), (out, Name)],
    ];
    let steps = [
        (touched[0], "mv d ../out"),
        (touched[1], "echo x >>../out/f"),
        (touched[2], "rm -r ../out"),
    ];
    let changes = traced(&tree, &steps);
    tree.undo(changes.id);
    same(&before, &tree, "undone");
}

/// Undo removes one of the file's names and cannot restore its attributes by another: the result
/// names the file.
#[test]
fn unrestorable_attributes_are_named() {
    let tree = TestTree::new(TREE);
    let changes = traced(
        &tree,
        &[
            (&[("a2", Name)], "ln a a2"),
            (&[("a2", Attributes)], "chmod 600 a2"),
        ],
    );
    assert_eq!(
        listed(&changes),
        [("a".to_owned(), "mode"), ("a2".to_owned(), "created")]
    );
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
    let moved: Steps = &[(&[("a", Name), ("m", Name)], "mv a m")];
    let written: Steps = &[(&[("m", Content)], "echo x >>m")];
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
    let changes = traced(&test_tree, &[(&[("a", Name), ("c", Name)], "rm a c")]);
    test_tree.sh("chmod 600 b");
    test_tree.undo(changes.id);
    assert_eq!(test_tree.text("a").as_deref(), Some("one\n"));
    assert_eq!(test_tree.text("c").as_deref(), Some("two\n"));
    let links = |tree: &Tree| tree[std::ffi::OsStr::new("b")].links;
    assert_eq!(links(&test_tree.files()), links(&before));
    let test_tree = TestTree::new(TREE);
    let changes = traced(&test_tree, &[(&[("c", Name)], "rm c")]);
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
        (&[(&[("a", Name)][..], "mv a ../out")][..], "a", "../out"),
        (
            &[(&[("b", Name), ("c", Name)][..], "mv b ../out; rm c")],
            "b",
            "../out",
        ),
        // A partial undo restores only the file at the old name.
        (&[(&[("a", Name), ("m", Name)], "mv a m")], "a", "m"),
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
        let changes = traced(&tree, &[(&[(name, Name), ("m", Name)], script)]);
        tree.undo(changes.id);
        assert_eq!(inode(&tree, name), was, "{script}");
    }
    // Two moves, the last taken back first.
    let tree = TestTree::new(TREE);
    let was = inode(&tree, "a");
    let first = traced(&tree, &[(&[("a", Name), ("m", Name)], "mv a m")]);
    let second = traced(&tree, &[(&[("m", Name)], "mv m ../out")]);
    tree.undo(second.id);
    assert_ne!(inode(&tree, "m"), was);
    tree.undo(first.id);
    tree.sh("echo later >>../out");
    assert_eq!(tree.text("a").as_deref(), Some("one\n"));
}
