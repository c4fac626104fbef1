//! Each kind of change, in a trial. The trial touches no file, the commit equals the command, an
//! undo restores the tree, and a redo repeats the change.

use crate::support::{TestTree, Tree, difference, tree, without_inodes};
use agent_bash_core::changes::{Change, ChangesState};
use std::fs;

/// A tree with one of everything.
const TREE: &str = r#"
    echo one >a; echo two >b; printf x >c; mkdir -p d/sub/deep e; echo 1 >d/1; echo 2 >d/sub/2; echo 3 >d/sub/deep/3
    ln -s a link; echo h >h1; ln h1 h2; chmod 600 b; touch -d '2001-02-03 04:05:06.123456789' b d/1 d/sub; mkfifo fifo
    printf '%0100d' 7 >same; echo '#!/bin/sh' >tool; chmod 4755 tool
    python3 - <<'PY'
import os, socket
socket.socket(socket.AF_UNIX).bind("socket")
os.setxattr("b", b"user.note", b"kept\0\xff")
open(b"not \xff utf8", "w").write("n")
open("new\nline", "w").write("n")
open("colon:comma,back\\slash", "w").write("n")
open("l" * 255, "w").write("n")
PY
"#;

/// The commands, and the counts as `created changed deleted renamed mode`.
const CASES: &[(&str, &str, [u64; 5])] = &[
    ("create", "echo new >new", [1, 0, 0, 0, 0]),
    ("append", "echo more >>a", [0, 1, 0, 0, 0]),
    ("truncate", ": >a", [0, 1, 0, 0, 0]),
    (
        "same content rewritten",
        "printf '%0100d' 7 >same",
        [0, 0, 0, 0, 0],
    ),
    (
        "touch only",
        "touch -d '2020-01-01 00:00:00.5' b",
        [0, 0, 0, 0, 0],
    ),
    ("chmod", "chmod 755 b", [0, 0, 0, 0, 1]),
    ("chmod of a directory", "chmod 700 d", [0, 0, 0, 0, 1]),
    (
        "xattr",
        "python3 -c 'import os; os.setxattr(\"c\", \"user.x\", b\"1\")'",
        [0, 0, 0, 0, 1],
    ),
    ("delete", "rm a", [0, 0, 1, 0, 0]),
    ("delete a tree", "rm -rf d", [0, 0, 3, 0, 0]),
    ("directory to file", "rm -r d; echo x >d", [0, 1, 3, 0, 0]),
    (
        "file to directory",
        "rm a; mkdir a; echo y >a/y",
        [1, 1, 0, 0, 0],
    ),
    (
        "recreated, the same",
        "cp -a d x; rm -r d; cp -a x d; rm -r x",
        [0, 0, 0, 0, 0],
    ),
    (
        "recreated, another",
        "rm -r d; mkdir d; echo 9 >d/9; echo 1 >d/1",
        [1, 0, 2, 0, 0],
    ),
    (
        "recreated with a directory below",
        "rm -r d; mkdir -p d/sub; echo 9 >d/sub/9",
        [1, 0, 3, 0, 0],
    ),
    ("link to file", "rm link; echo x >link", [0, 1, 0, 0, 0]),
    ("file to link", "rm a; ln -s b a", [0, 1, 0, 0, 0]),
    ("another target", "ln -sfn b link", [0, 1, 0, 0, 0]),
    ("a new hard link", "ln c c2", [1, 0, 0, 0, 0]),
    (
        "fifo and socket go",
        "rm fifo socket; mkfifo new",
        [1, 0, 2, 0, 0],
    ),
    ("suid", "cp tool other; chmod 6755 other", [1, 0, 0, 0, 0]),
    (
        "no permissions",
        "mkdir m; echo x >m/f; chmod 000 m/f m",
        [1, 0, 0, 0, 0],
    ),
    (
        "a read-only directory",
        "chmod 555 e; mkdir r; echo x >r/f; chmod 555 r",
        [1, 0, 0, 0, 1],
    ),
    (
        "names",
        "printf 1 >$'new\\nline'; printf 2 >$'not \\xff utf8'; printf 3 >'colon:comma,back\\slash'; rm l*l; printf 4 >$(printf 'k%.0s' {1..255})",
        [1, 3, 1, 0, 0],
    ),
    (
        "rename across directories",
        "mv same d/sub/moved",
        [0, 0, 0, 1, 0],
    ),
    ("rename a directory", "mv d e/d", [0, 0, 0, 3, 0]),
    (
        "save by rename",
        "echo saved >.a.tmp; mv .a.tmp a",
        [0, 1, 0, 0, 0],
    ),
    (
        "created and removed",
        "echo x >t; rm t; mkdir t2; rmdir t2",
        [0, 0, 0, 0, 0],
    ),
    ("an empty directory", "mkdir -p new/empty", [1, 0, 0, 0, 0]),
    (
        "nothing",
        "cat a b c d/1 >/dev/null; ls -R >/dev/null",
        [0, 0, 0, 0, 0],
    ),
    (
        "a sparse file",
        "truncate -s 2G sparse; printf x | dd of=sparse bs=1 seek=1G conv=notrunc status=none",
        [1, 0, 0, 0, 0],
    ),
];

/// Ignores the times of directories that a command changes, which differ between two runs.
fn comparable(tree: &Tree) -> Tree {
    let mut tree = without_inodes(tree);
    for file in tree.values_mut() {
        file.mtime = (0, 0);
    }
    tree
}

#[test]
fn commit_equals_the_command_and_undo_restores_the_tree() {
    let is_root = rustix::process::geteuid().is_root();
    for (name, script, counts) in CASES {
        // Only root can read the directory afterwards.
        if *name == "no permissions" && !is_root {
            continue;
        }
        let tree = TestTree::new(TREE);
        let really = TestTree::new(TREE);
        really.sh(script);
        let before = tree.files();

        let held = tree.hold(script);
        let unchanged = difference(&before, &tree.files());
        assert_eq!(unchanged, "", "{name}: held, but changed");
        let got = held.counts;
        let got = [got.created, got.changed, got.deleted, got.renamed, got.mode];
        assert_eq!(&got, counts, "{name}: {:#?}", held.files);

        if counts.iter().all(|count| *count == 0) {
            // There is nothing to decide.
            assert_eq!(held.state, ChangesState::Discarded, "{name}");
            let error = tree.store().commit("test", held.id).unwrap_err();
            assert!(error.to_string().contains("discarded"), "{name}: {error}");
        }
        // A trial that is committed anyway restores the times of files.
        let id = match held.state {
            ChangesState::Discarded => tree.make(script),
            _ => held.id,
        };
        let done = match held.state {
            ChangesState::Discarded => tree.store().show("test", id).unwrap(),
            _ => tree.commit(id),
        };
        assert_eq!(done.state, ChangesState::Done, "{name}");
        assert_eq!(done.counts, held.counts, "{name}: {:#?}", done.files);
        let after = tree.files();
        let want = comparable(&really.files());
        assert_eq!(
            difference(&want, &comparable(&after)),
            "",
            "{name}: committed"
        );

        if difference(&before, &after).is_empty() {
            let error = tree.store().undo("test", id, &[], false);
            let error = error.unwrap_err().to_string();
            assert!(error.contains("nothing to undo"), "{name}: {error}");
            continue;
        }
        let undone = tree.undo(id);
        assert_eq!(difference(&before, &tree.files()), "", "{name}: undone");
        tree.redo(id);
        assert_eq!(difference(&after, &tree.files()), "", "{name}: done again");
        tree.undo(id);
        assert_eq!(
            difference(&before, &tree.files()),
            "",
            "{name}: undone again"
        );
        // The undo is an ordinary change set.
        tree.undo(undone.id);
        assert_eq!(
            difference(&after, &tree.files()),
            "",
            "{name}: the undo undone"
        );
    }
}

/// The overlay copies a changed file: its other names keep the old content. An undo restores one
/// file.
#[test]
fn undo_restores_hard_links_that_the_overlay_split() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let held = tree.hold("echo more >>h1");
    tree.commit(held.id);
    assert_eq!(tree.text("h1").as_deref(), Some("h\nmore\n"));
    assert_eq!(tree.text("h2").as_deref(), Some("h\n"));
    tree.undo(held.id);
    assert_eq!(difference(&before, &tree.files()), "");
}

/// For a user other than root, unreadable directories must be made accessible first.
#[test]
fn directories_without_owner_permissions_are_committed() {
    let tree = TestTree::new("mkdir r; echo 1 >r/1; chmod 555 r");
    let before = tree.files();
    let held = tree.hold(
        "chmod 755 r; echo 2 >r/2; echo 3 >>r/1; chmod 555 r; mkdir n; echo x >n/x; chmod 500 n",
    );
    // Showing the trial again changes nothing.
    assert_eq!(tree.store().show("test", held.id).unwrap(), held);
    tree.commit(held.id);
    let got = tree.files();
    let mode = |path: &str| got[path.as_ref() as &std::ffi::OsStr].mode & 0o7777;
    assert_eq!((mode("r"), mode("n")), (0o555, 0o500));
    assert_eq!(tree.text("r/2").as_deref(), Some("2\n"));
    tree.undo(held.id);
    assert_eq!(difference(&before, &tree.files()), "");
    tree.sh("chmod 755 r");
}

#[test]
fn store_on_another_file_system_gives_equal_results() {
    use std::os::unix::fs::MetadataExt;
    let test_tree = TestTree::far(TREE);
    let device = |path: &std::path::Path| fs::metadata(path).unwrap().dev();
    let before = test_tree.files();
    let script = "echo 2 >>a; rm b; mkdir n; mkfifo n/f; ln -s x n/l; echo 5 >n/1; ln n/1 n/2; chmod 4751 n/1; \
        truncate -s 3G n/sparse; echo end >>n/sparse; python3 -c 'import os; os.setxattr(\"n/2\", b\"user.x\", b\"y\")'; mv d e; rm h1; touch -d 2001-01-01 n";
    let held = test_tree.hold(script);
    assert_ne!(device(&test_tree.state), device(&test_tree.root));
    assert_eq!(difference(&before, &test_tree.files()), "");
    test_tree.commit(held.id);
    let after = test_tree.files();
    let really = TestTree::new(&format!("{TREE} {script}"));
    let printed = |tree: &Tree| -> Vec<_> {
        let all = tree.iter().filter(|(path, _)| !path.is_empty());
        let of = |file: &crate::support::File| {
            let is_dir = file.mode & 0o170_000 == 0o040_000;
            let links = if is_dir { 0 } else { file.links };
            (
                file.mode,
                file.digest,
                file.size,
                links,
                file.target.clone(),
                file.attributes.clone(),
            )
        };
        all.map(|(path, file)| (path.clone(), of(file))).collect()
    };
    let names: Vec<_> = printed(&after)
        .into_iter()
        .filter(|(path, _)| path != "h2")
        .collect();
    let want: Vec<_> = printed(&really.files())
        .into_iter()
        .filter(|(path, _)| path != "h2")
        .collect();
    assert_eq!(names, want);
    let blocks = fs::metadata(test_tree.root.join("n/sparse"))
        .unwrap()
        .blocks();
    assert!(blocks < 100, "holes were written: {blocks}");
    assert!(test_tree.store().diff("test", held.id, &[]).is_ok());
    test_tree.undo(held.id);
    assert_eq!(difference(&before, &test_tree.files()), "");
    test_tree.redo(held.id);
    assert_eq!(difference(&after, &test_tree.files()), "");
    // A change of another process is detected by the tree's clock.
    let held = test_tree.hold("echo mine >a");
    test_tree.sh("echo theirs >a");
    test_tree.store().commit("test", held.id).unwrap_err();
    assert_eq!(test_tree.text("a").as_deref(), Some("theirs\n"));
}

#[test]
fn discard_removes_all_files() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let held = tree.hold("rm -rf d; echo x >a; mkdir m; chmod 000 m");
    let set = tree.state.join("changes/test").join(held.id.to_string());
    assert!(set.join("upper/a").exists());
    let gone = tree.store().discard("test", held.id).unwrap();
    assert_eq!(gone.state, ChangesState::Discarded);
    assert!(!set.join("upper").exists() && !set.join("work").exists());
    assert_eq!(difference(&before, &tree.files()), "");
    let error = tree.store().commit("test", held.id).unwrap_err();
    assert!(error.to_string().contains("they were discarded"), "{error}");
}

#[test]
fn concurrent_change_is_a_conflict_and_nothing_is_committed() {
    for (script, theirs, path) in [
        ("echo mine >>a", "echo theirs >>a", "a"),
        ("rm a", "echo theirs >>a", "a"),
        ("echo mine >new", "echo theirs >new", "new"),
        ("rm -r d", "echo theirs >d/sub/new", "d/sub"),
        ("rm -r d", "echo theirs >>d/sub/2", "d/sub/2"),
        ("echo mine >>a", "rm a", "a"),
        ("chmod 755 b", "chmod 640 b", "b"),
        ("echo mine >d/9", "mv d d.old", "d"),
        ("echo mine >>d/1", "mv d d.old; ln -s /etc d", "d"),
        ("echo mine >d/9", "mv d d.old; ln -s /etc d", "d"),
    ] {
        let tree = TestTree::new(TREE);
        let held = tree.hold(&format!("{script}; echo other >>b"));
        tree.sh(theirs);
        let before = tree.files();
        let error = tree.store().commit("test", held.id).unwrap_err();
        let agent_bash_changes::ChangesError::Conflict { conflicts, .. } = &error else {
            panic!("{script}, {theirs}: {error}");
        };
        let named: Vec<_> = conflicts.iter().map(|name| name.path.as_str()).collect();
        assert!(named.contains(&path), "{script}, {theirs}: {named:?}");
        assert_eq!(difference(&before, &tree.files()), "", "{script}, {theirs}");
        // The trial is still held, and can be shown.
        let state = tree.store().show("test", held.id).unwrap().state;
        assert_eq!(state, ChangesState::Held, "{script}");
    }
}

#[test]
fn unrelated_concurrent_change_is_no_conflict() {
    let tree = TestTree::new(TREE);
    let held = tree.hold("echo mine >>a; echo mine >d/9; rm d/1");
    tree.sh("echo theirs >>c; echo theirs >d/8; touch d/sub/2");
    let theirs = tree.files();
    tree.commit(held.id);
    assert_eq!(tree.text("d/8").as_deref(), Some("theirs\n"));
    assert_eq!(tree.text("d/9").as_deref(), Some("mine\n"));
    tree.undo(held.id);
    let mut got = tree.files();
    // The time of the directory is that of the other process, or later.
    let time = theirs.get("d".as_ref() as &std::ffi::OsStr).unwrap().mtime;
    let directory = got.get_mut("d".as_ref() as &std::ffi::OsStr).unwrap();
    assert!(directory.mtime >= time);
    directory.mtime = time;
    assert_eq!(difference(&theirs, &got), "");
}

#[test]
fn undo_refuses_conflicts_and_partial_undo_skips_them() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let held = tree.hold("echo mine >>a; echo mine >>b; rm c; mkdir n; echo x >n/x; echo y >n/y");
    tree.commit(held.id);
    tree.sh("echo editor >>b; echo editor >n/z");
    let committed = tree.files();
    let error = tree.store().undo("test", held.id, &[], false).unwrap_err();
    let agent_bash_changes::ChangesError::Conflict { conflicts, .. } = &error else {
        panic!("{error}");
    };
    let named: Vec<_> = conflicts.iter().map(|name| name.path.as_str()).collect();
    assert_eq!(named, ["b", "n/z"]);
    assert_eq!(difference(&committed, &tree.files()), "");

    let undone = tree.store().undo("test", held.id, &[], true).unwrap();
    let left: Vec<_> = undone
        .conflicts
        .iter()
        .map(|name| name.path.as_str())
        .collect();
    assert_eq!(left, ["b", "n/z"]);
    let got = tree.files();
    for path in ["a", "c"] {
        let path: &std::ffi::OsStr = path.as_ref();
        assert_eq!(got.get(path), before.get(path), "{path:?}");
    }
    assert!(tree.text("b").unwrap().ends_with("mine\neditor\n"));
    assert_eq!(tree.text("n/z").as_deref(), Some("editor\n"));
    assert_eq!(tree.text("n/x"), None);
    // The undone changes can be redone.
    tree.redo(held.id);
    assert_eq!(tree.text("n/x").as_deref(), Some("x\n"));
    assert!(tree.text("a").unwrap().ends_with("mine\n"));
}

#[test]
fn selected_paths_are_undone_alone() {
    let tree = TestTree::new(TREE);
    let before = tree.files();
    let held = tree.hold("echo mine >>a; rm -r d; echo new >new");
    tree.commit(held.id);
    let undo = |path: &str| tree.store().undo("test", held.id, &[path.into()], false);
    undo("d/sub").unwrap();
    assert_eq!(tree.text("d/sub/deep/3").as_deref(), Some("3\n"));
    assert_eq!(tree.text("d/1"), None);
    undo("a").unwrap();
    let error = undo("link").unwrap_err().to_string();
    assert!(error.contains("did nothing to `link`"), "{error}");
    tree.undo(held.id);
    let mut got = tree.files();
    for path in ["", "d"] {
        let path: &std::ffi::OsStr = path.as_ref();
        got.get_mut(path).unwrap().mtime = before[path].mtime;
    }
    assert_eq!(difference(&before, &got), "");
}

#[test]
fn first_committed_trial_makes_others_conflict() {
    let tree = TestTree::new(TREE);
    let first = tree.hold("echo 1 >>a");
    let second = tree.hold("echo 2 >>a");
    let third = tree.hold("echo 3 >>c");
    tree.commit(second.id);
    tree.store().commit("test", first.id).unwrap_err();
    tree.commit(third.id);
    assert_eq!(tree.text("a").as_deref(), Some("one\n2\n"));
}

#[test]
fn commit_of_three_files_in_a_large_tree() {
    let tree =
        TestTree::new("mkdir d; cd d; seq 100000 | xargs touch; echo x >1; echo y >2; echo z >3");
    let held = tree.hold("cd d; echo 1 >1; rm 2; echo 4 >0; ls >/dev/null");
    let counts = held.counts;
    assert_eq!((counts.created, counts.changed, counts.deleted), (1, 1, 1));
    tree.commit(held.id);
    assert_eq!(fs::read_dir(tree.root.join("d")).unwrap().count(), 100_000);
    tree.undo(held.id);
    assert_eq!(tree.text("d/2").as_deref(), Some("y\n"));
}

#[test]
fn git_commit_in_a_trial_is_committed_and_undone() {
    const GIT: &str = "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null; git() { command git -c user.name=n -c user.email=e@example.org -c gc.auto=0 \"$@\"; }";
    let tree = TestTree::new(&format!(
        "{GIT}; git init -q .; echo 1 >a; git add a; git commit -qm first"
    ));
    let before = tree.files();
    let held = tree.hold(&format!(
        "{GIT}; echo 2 >>a; echo 3 >b; git add .; git commit -qm second"
    ));
    assert_eq!(difference(&before, &tree.files()), "");
    tree.commit(held.id);
    tree.sh(&format!(
        "{GIT}; git fsck --strict; test \"$(git log --format=%s | head -1)\" = second; test -z \"$(git status --porcelain)\""
    ));
    // The status rewrote the index with the same entries, which is not a conflict.
    let undone = tree.undo(held.id);
    assert!(undone.conflicts.is_empty());
    tree.sh(&format!(
        "{GIT}; git fsck --strict; test \"$(git log --format=%s)\" = first; test -z \"$(git status --porcelain)\""
    ));
    let renamed = held
        .files
        .iter()
        .filter(|file| file.change == Change::Renamed)
        .count();
    assert_eq!(renamed, 0, "{:#?}", held.files);
}

/// A `git status` of another process rewrites the index while a trial holds another one.
#[test]
fn git_add_conflicts_with_a_held_trial_and_git_status_does_not() {
    const GIT: &str = "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null; git() { command git -c user.name=n -c user.email=e@example.org -c gc.auto=0 \"$@\"; }";
    for (meanwhile, conflicts) in [
        ("touch -d 2001-01-01 a; git status >/dev/null", false),
        ("echo 4 >d; git add d", true),
    ] {
        let tree = TestTree::new(&format!(
            "{GIT}; git init -q .; echo 1 >a; git add a; git commit -qm first"
        ));
        let held = tree.hold(&format!(
            "{GIT}; echo 3 >b; git add b; git commit -qm second"
        ));
        let index = || fs::read(tree.root.join(".git/index")).unwrap();
        let was = index();
        tree.sh(&format!("{GIT}; {meanwhile}"));
        assert_ne!(was, index(), "{meanwhile}");
        let committed = tree.store().commit("test", held.id);
        assert_eq!(committed.is_err(), conflicts, "{meanwhile}: {committed:?}");
        if !conflicts {
            tree.sh(&format!(
                "{GIT}; git fsck --strict; test -z \"$(git status --porcelain)\"; test \"$(git ls-files | tr '\\n' ' ')\" = 'a b '"
            ));
        }
    }
}

#[test]
fn change_set_is_unreadable_for_other_users() {
    use std::os::unix::fs::MetadataExt;
    let test_tree = TestTree::new(TREE);
    let held = test_tree.hold("echo x >a");
    test_tree.commit(held.id);
    let set = test_tree
        .state
        .join("changes/test")
        .join(held.id.to_string());
    for (path, file) in tree(&set) {
        // A created file keeps its permissions, within a private directory.
        let first = std::path::Path::new(&path)
            .iter()
            .next()
            .unwrap_or_default();
        if !["upper", "slots", "work"].iter().any(|own| first == *own) {
            assert_eq!(file.mode & 0o077, 0, "{path:?}");
        }
    }
    assert_eq!(fs::metadata(&set).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn root_around_or_inside_the_store_is_refused() {
    let tree = TestTree::new("");
    let store = tree.store();
    let above = tree.root.parent().unwrap();
    for root in [above, &tree.state.join("changes")] {
        let error = store.begin_trial("s", root).unwrap_err().to_string();
        assert!(error.contains("contains the other"), "{error}");
    }
    for name in ["", "..", "a/b", ".x"] {
        let error = store.begin_trial(name, &tree.root).unwrap_err().to_string();
        assert!(error.contains("cannot name a session"), "{error}");
    }
}

/// The results are the same for a user other than root.
#[test]
fn results_are_equal_for_an_unprivileged_user() {
    use std::os::unix::fs::PermissionsExt;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (program, work) = (dir.path().join("it"), dir.path().join("work"));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::create_dir(&work).unwrap();
    for (path, mode) in [(dir.path(), 0o755), (&program, 0o755), (&work, 0o777)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args([
            "trial::a_commit", "trial::directories", "trial::what_is_discarded", "trace::",
            "scan::",
        ])
        .env("TMPDIR", &work)
        .env("HOME", &work)
        .current_dir(&work)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    assert!(stdout.contains("test trial::directories"), "{stdout}");
}
