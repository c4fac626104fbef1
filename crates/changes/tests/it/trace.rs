//! Traces: the records before each change suffice to list the changes and to undo them.

use crate::support::{SESSION, TestTree, Tree, difference, record, traced, without_inodes};
use agent_bash_changes::{ChangesError, RecordOutcome, Recorder, StoreLimits, Touch};
use agent_bash_core::changes::{Changes, ChangesBy, ChangesLevel, ChangesState, Undoable};
use std::fs;

use Touch::{Attributes, Content, Name};

const TREE: &str = r"
    echo one >a; echo two >b; echo x >c; mkdir -p d/sub; echo 1 >d/1; echo 2 >d/sub/2; ln -s a link; chmod 600 b
    echo h >h1; ln h1 h2; touch -d '2001-02-03 04:05:06.123456789' a b d/1 d/sub; mkfifo fifo; printf '%0100d' 7 >same
";

/// The steps, as [`record`] reads them. `true` if the undo restores the same inodes; a
/// written file is restored from a copy.
struct Case {
    name: &'static str,
    steps: &'static [&'static str],
    counts: [u64; 5],
    same_inodes: bool,
}

const CASES: &[Case] = &[
    Case {
        name: "create",
        steps: &["+new: echo new >new"],
        counts: [1, 0, 0, 0, 0],
        same_inodes: true,
    },
    Case {
        name: "append",
        steps: &["~a: echo more >>a"],
        counts: [0, 1, 0, 0, 0],
        same_inodes: false,
    },
    Case {
        name: "same content rewritten",
        steps: &["~same: printf '%0100d' 7 >same"],
        counts: [0, 0, 0, 0, 0],
        same_inodes: true,
    },
    Case {
        name: "chmod, then append",
        steps: &["@b: chmod 644 b", "~b: echo more >>b"],
        counts: [0, 1, 0, 0, 0],
        same_inodes: false,
    },
    Case {
        name: "chmod and touch",
        steps: &["@b @c: chmod 4755 b; touch c"],
        counts: [0, 0, 0, 0, 1],
        same_inodes: true,
    },
    Case {
        name: "delete",
        steps: &["+a +fifo +link: rm a fifo link"],
        counts: [0, 0, 3, 0, 0],
        same_inodes: false,
    },
    Case {
        name: "delete one name of two",
        steps: &["+h1: rm h1"],
        counts: [0, 0, 1, 0, 0],
        same_inodes: true,
    },
    Case {
        name: "delete a tree",
        steps: &[
            "+d/1 +d/sub/2: rm d/1 d/sub/2",
            "@d @d/sub @: rmdir d/sub d",
        ],
        counts: [0, 0, 2, 0, 0],
        same_inodes: false,
    },
    Case {
        name: "rename",
        steps: &["+a +d/a: mv a d/a"],
        counts: [0, 0, 0, 1, 0],
        same_inodes: true,
    },
    Case {
        name: "rename, then append",
        steps: &["+a +moved: mv a moved", "~moved: echo more >>moved"],
        counts: [1, 0, 1, 0, 0],
        same_inodes: false,
    },
    Case {
        name: "rename a directory",
        steps: &["+d +e: mv d e"],
        counts: [0, 0, 0, 2, 0],
        same_inodes: false,
    },
    Case {
        name: "save by rename",
        steps: &["+.t: echo saved >.t", "+.t +a: mv .t a"],
        counts: [0, 1, 0, 0, 0],
        same_inodes: true,
    },
    Case {
        name: "file to directory and back",
        steps: &["+a: rm a", "+a: mkdir a", "+a/x: echo x >a/x"],
        counts: [1, 1, 0, 0, 0],
        same_inodes: true,
    },
    Case {
        name: "created and removed",
        steps: &["+t: echo x >t", "+t: rm t"],
        counts: [0, 0, 0, 0, 0],
        same_inodes: true,
    },
];

/// A moved file is stored under another name.
fn without_links(tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    for file in tree.values_mut() {
        file.links = 0;
    }
    tree
}

fn counts(changes: &Changes) -> [u64; 5] {
    let it = changes.counts;
    [it.created, it.changed, it.deleted, it.renamed, it.mode]
}

#[test]
fn traced_changes_are_listed_and_undone() {
    taken_back(TestTree::new, true);
}

#[test]
fn traced_changes_are_undone_with_a_store_on_another_device() {
    taken_back(TestTree::far, false);
}

/// A command may have put the link there. The host would write its target.
#[test]
fn undo_with_a_store_on_another_device_follows_no_link_in_the_tree() {
    let tree = TestTree::far("echo one >a; ln -s ../../outside .agent-bash-changes/.gitignore");
    let changes = traced(&tree, &["~a: echo two >a"]);
    tree.undo(changes.id);
    assert_eq!(tree.text("a").as_deref(), Some("one\n"));
    assert!(!tree.root.with_file_name("outside").exists());
}

/// `links`: true if deleted or moved files keep their inodes, because they can be linked.
fn taken_back(new: fn(&str) -> TestTree, links: bool) {
    for case in CASES {
        let name = case.name;
        let test_tree = new(TREE);
        let before = test_tree.files();
        let changes = traced(&test_tree, case.steps);
        assert_eq!(
            counts(&changes),
            case.counts,
            "{name}: {:#?}",
            changes.files
        );
        assert_eq!(
            (changes.by, changes.state, changes.undo, changes.exact),
            (ChangesBy::Trace, ChangesState::Done, Undoable::Whole, true),
            "{name}"
        );
        assert!(changes.files.iter().all(|file| !file.inferred), "{name}");
        let after = without_links(&test_tree.files());
        if difference(&without_links(&before), &after).is_empty() {
            continue;
        }
        let like = |tree: &Tree| {
            if case.same_inodes && links {
                without_links(tree)
            } else {
                without_inodes(tree)
            }
        };
        test_tree.undo(changes.id);
        assert_eq!(
            difference(&like(&before), &like(&test_tree.files())),
            "",
            "{name}: undone"
        );
        test_tree.redo(changes.id);
        let got = without_links(&test_tree.files());
        assert_eq!(difference(&after, &got), "", "{name}: redone");
        test_tree.undo(changes.id);
        assert_eq!(
            difference(&like(&before), &like(&test_tree.files())),
            "",
            "{name}: again"
        );
    }
}

#[test]
fn files_without_preimages_are_named_and_the_rest_is_undone() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let set = tree
        .store()
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let hidden = vec![tree.root.join("d")].into();
    let mut recorder = Recorder::open(set.dir()).unwrap().with_hidden_paths(hidden);
    for (path, touch) in [("a", Content), ("d/1", Content), ("d/sub/2", Name)] {
        recorder.before(&tree.root.join(path), touch).unwrap();
    }
    tree.sh("echo more >>a; echo more >>d/1; rm d/sub/2");
    recorder.finish().unwrap();
    // No contents of hidden files are in the store, on any file system.
    let links = fs::read_dir(set.dir().join("links")).unwrap();
    let links = links.map(|link| fs::read(link.unwrap().path()).unwrap());
    let pack = fs::read(set.dir().join("pack")).unwrap_or_default();
    assert_eq!(links.fold(pack, |all, link| [all, link].concat()), b"one\n");
    let changes = tree.store().finish(set).unwrap();
    assert_eq!(changes.undo, Undoable::Part);
    let not_restorable: Vec<&str> = changes.not_restorable.iter().map(|it| &*it.path).collect();
    assert_eq!(not_restorable, ["d/1", "d/sub/2"]);
    tree.undo(changes.id);
    let path: &std::ffi::OsStr = "a".as_ref();
    assert_eq!(
        without_inodes(&tree.files())[path],
        without_inodes(&before)[path]
    );
    assert_eq!(tree.text("d/1").as_deref(), Some("1\nmore\n"));
}

/// A file with several names is written to by one of them: all names change, and an undo restores
/// one file.
#[test]
fn file_with_several_names_is_restored_under_each() {
    for step in [
        "~h1: echo more >>h1",
        "~h1 ~h3: echo more >>h1; echo x >h3",
        "~h1 +h3: echo more >>h1; rm h3",
    ] {
        let test_tree = TestTree::new(&format!("{TREE} ln h1 h3; ln h1 d/sub/h4"));
        let before = test_tree.files();
        let changes = traced(&test_tree, &[step]);
        let counts = changes.counts;
        assert_eq!(counts.changed + counts.deleted, 4, "{step}: {changes:#?}");
        assert_eq!(changes.undo, Undoable::Whole);
        let after = test_tree.files();
        test_tree.undo(changes.id);
        let (want, got) = (without_inodes(&before), without_inodes(&test_tree.files()));
        assert_eq!(difference(&want, &got), "", "{step}");
        let inode = |tree: &Tree, path: &str| tree[std::ffi::OsStr::new(path)].inode;
        let files = test_tree.files();
        for name in ["h2", "h3", "d/sub/h4"] {
            assert_eq!(inode(&files, name), inode(&files, "h1"), "{step}: {name}");
        }
        test_tree.redo(changes.id);
        let (want, got) = (without_links(&after), without_links(&test_tree.files()));
        assert_eq!(difference(&want, &got), "", "{step}");
    }
}

#[test]
fn file_size_and_set_size_are_limited() {
    let tree = TestTree::new("truncate -s 3M large; truncate -s 1M one; truncate -s 1M two");
    let mut limits = StoreLimits::default();
    limits.max_preimage_bytes = 2 << 20;
    limits.max_set_bytes = 3 << 19;
    let store = tree.store().limits(limits);
    let set = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    let mut before = |name: &str| recorder.before(&tree.root.join(name), Content);
    // A file system that clones keeps them at no cost.
    let large = before("large").unwrap();
    if large == RecordOutcome::Stored {
        return;
    }
    assert_eq!(large, RecordOutcome::WithoutPreimage);
    assert_eq!(before("one").unwrap(), RecordOutcome::Stored);
    let error = before("two").unwrap_err();
    assert!(
        matches!(error, ChangesError::PreimageLimit { limit: 1 }),
        "{error}"
    );
}

#[test]
fn changes_outside_of_the_root_are_counted() {
    let tree = TestTree::new(TREE);
    tree.sh("ln -s /tmp out");
    let set = tree
        .store()
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| outside.path().join(name);
    fs::create_dir_all(at("d/e")).unwrap();
    for name in ["old", "same", "gone"] {
        fs::write(at(name), "as it was\n").unwrap();
    }
    // A file written twice, a temporary file, and a file that a sandbox refuses.
    let touched = [
        "old", "old", "same", "gone", "new", "temporary", "refused", "d/e/f",
    ];
    for name in touched {
        let kept = recorder.before(&at(name), Name).unwrap();
        assert_eq!(kept, RecordOutcome::Outside);
    }
    // Stored records are not changes of a call.
    let kept = tree.state.join("journal/x");
    assert_eq!(
        recorder.before(&kept, Name).unwrap(),
        RecordOutcome::Outside
    );
    // Not through a link, either.
    let through = tree.root.join("out/z-of-a-test");
    assert_eq!(
        recorder.before(&through, Name).unwrap(),
        RecordOutcome::Outside
    );
    for name in ["old", "new", "temporary", "d/e/f"] {
        fs::write(at(name), "other\n").unwrap();
    }
    fs::remove_file(at("gone")).unwrap();
    fs::remove_file(at("temporary")).unwrap();
    recorder.finish().unwrap();
    let changes = tree.store().finish(set).unwrap();
    // In directories, distinguished by three levels.
    assert_eq!(changes.outside.len(), 1, "{changes:?}");
    assert_eq!(changes.outside.values().sum::<u64>(), 4, "{changes:?}");
}

#[test]
fn level_list_stores_no_contents() {
    let tree = TestTree::new(TREE);
    let steps = &["~a +b: echo more >>a; rm b"];
    let set = record(&tree, steps, ChangesLevel::List);
    assert!(!set.dir().join("pack").exists());
    let changes = tree.store().finish(set).unwrap();
    assert_eq!(counts(&changes), [0, 1, 1, 0, 0]);
    assert_eq!(
        (changes.state, changes.undo),
        (ChangesState::Listed, Undoable::No)
    );
    let error = tree
        .store()
        .undo(SESSION, changes.id, &[], false)
        .unwrap_err()
        .to_string();
    assert!(error.contains("only their names were recorded"), "{error}");
}

#[test]
fn trace_of_a_dead_host_is_interrupted_and_can_be_undone() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let set = tree
        .store()
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    recorder.before(&tree.root.join("a"), Content).unwrap();
    tree.sh("echo more >>a");
    let id = set.id();
    drop((recorder, set));
    // A test beside this one may be starting a process, which has the lock as well until it
    // executes its program.
    let mut changes = tree.store().show(SESSION, id).unwrap();
    for _ in 0..1000 {
        if changes.state == ChangesState::Interrupted {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
        changes = tree.store().show(SESSION, id).unwrap();
    }
    assert_eq!(
        (changes.state, changes.exact),
        (ChangesState::Interrupted, false)
    );
    tree.undo(id);
    let (want, got) = (without_inodes(&before), without_inodes(&tree.files()));
    assert_eq!(difference(&want, &got), "");
}

#[test]
fn git_status_after_a_call_is_no_conflict() {
    const GIT: &str = "git() { GIT_CONFIG_GLOBAL=/dev/null command git -c user.name=n -c user.email=e@example.org \"$@\"; }; ";
    let tree = TestTree::new(&format!(
        "{GIT} git init -q .; echo 1 >a; git add a; git commit -qm one"
    ));
    // git refreshes the index, since the file has another time.
    let status = format!("{GIT} touch -d 2001-01-01 a; git status >/dev/null");
    let set = tree
        .store()
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    for (path, touch) in [
        ("a", Attributes),
        (".git/index.lock", Name),
        (".git/index", Name),
    ] {
        recorder.before(&tree.root.join(path), touch).unwrap();
    }
    let was = fs::read(tree.root.join(".git/index")).unwrap();
    tree.sh(&status);
    assert_ne!(was, fs::read(tree.root.join(".git/index")).unwrap());
    recorder.finish().unwrap();
    let changes = tree.store().finish(set).unwrap();
    assert_eq!(changes.counts.total(), 0, "{:#?}", changes.files);
}

/// Files in a directory that the call made unreadable are inaccessible for a user other than root:
/// they are named, and the rest is listed and undone.
#[test]
fn unreadable_directory_is_undone_by_root_and_named_for_others() {
    let test_tree = TestTree::new(TREE);
    let before = test_tree.files();
    let steps = &[
        "~d/1: echo more >>d/1",
        "+a: rm a",
        "+new +new/x: mkdir new; echo x >new/x",
        "~b @b: echo owt >b; chmod 000 b",
        "@d @new: chmod 000 d new",
    ];
    let set = record(&test_tree, steps, ChangesLevel::Undo);
    let done = test_tree.store().finish(set);
    if rustix::process::geteuid().is_root() {
        test_tree
            .store()
            .undo(SESSION, done.unwrap().id, &[], false)
            .unwrap();
        let inodes = |tree: &Tree| without_links(&without_inodes(tree));
        assert_eq!(
            difference(&inodes(&before), &inodes(&test_tree.files())),
            ""
        );
    } else {
        let done = done.unwrap();
        let shown = test_tree.store().show(SESSION, done.id).unwrap();
        for changes in [&done, &shown] {
            assert_eq!((changes.exact, changes.undo), (false, Undoable::Part));
            let names = changes.not_restorable.iter().map(|name| &*name.path);
            assert_eq!(names.collect::<Vec<_>>(), ["d/1", "new", "new/x"]);
            let files = changes.files.iter();
            let listed: Vec<_> = files
                .map(|file| (&*file.name.path, file.change.word()))
                .collect();
            assert_eq!(
                listed,
                [
                    ("a", "deleted"),
                    ("b", "changed"),
                    ("d", "mode"),
                    ("new", "created")
                ]
            );
        }
        test_tree
            .store()
            .undo(SESSION, done.id, &[], false)
            .unwrap();
        test_tree.sh("chmod 755 new; test \"$(cat d/1)\" = $'1\\nmore'; test \"$(cat new/x)\" = x");
        let texts = ["a", "b"].map(|name| test_tree.text(name));
        assert_eq!(texts, [Some("one\n".into()), Some("two\n".into())]);
    }
}
