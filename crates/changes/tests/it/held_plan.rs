//! A held trial shows the changes that its command made, even if other processes change the files
//! afterwards.

use crate::support::{SESSION, TestTree};
use agent_bash_changes::{DiffText, FileDiff, Recorder, Touch};
use agent_bash_core::changes::{Changes, ChangesId, ChangesLevel, ChangesState};
use std::fs;
use std::path::PathBuf;

/// Returns a change set and its diffs, without conflicts.
fn shown(tree: &TestTree, id: ChangesId) -> (Changes, Vec<FileDiff>) {
    let mut set = tree.store().show(SESSION, id).unwrap();
    set.conflicts.clear();
    let mut diffs = tree.store().diff(SESSION, id, &[]).unwrap();
    for diff in &mut diffs {
        diff.blocks_commit = false;
    }
    (set, diffs)
}

fn blocking_paths(tree: &TestTree, id: ChangesId) -> Vec<String> {
    let set = tree.store().show(SESSION, id).unwrap();
    set.conflicts.into_iter().map(|name| name.path).collect()
}

fn set_of(tree: &TestTree, id: ChangesId) -> PathBuf {
    let sets = tree.state.join("changes").join(SESSION);
    sets.join(id.to_string())
}

/// Removes the held plan of a trial, as in the first version, which wrote none.
fn without_held_plan(tree: &TestTree, id: ChangesId) {
    let set = set_of(tree, id);
    fs::remove_file(set.join("plan")).unwrap();
}

#[test]
fn held_plan_is_unaffected_by_later_changes() {
    for (tree, script, later, blocking) in [
        // With the line of the other process, the trial would seem to have removed it.
        (
            "printf 'one\\ntwo\\n' >n",
            "sed -i s/one/ONE/ n",
            "echo five >>n",
            &["n"][..],
        ),
        (
            "mkdir -p dd/e; echo 1 >dd/a; echo 2 >dd/e/x",
            "rm -rf dd",
            "echo new >dd/e/b",
            &["dd/e", "dd/e/b"],
        ),
        (
            "mkdir g; echo 1 >g/a; echo 2 >g/b",
            "rm -r g",
            "echo two >g/b",
            &["g/b"],
        ),
        ("echo 1 >a", "rm a", "rm a; echo other >a", &["a"]),
        ("echo '#!/bin/sh' >t", "chmod +x t", "echo more >>t", &["t"]),
        ("echo long enough >a", "mv a b", "echo x >>a", &["a"]),
        ("echo 1 >a; ln -s a l", "ln -sfn b l", "ln -sfn c l", &["l"]),
        ("mkdir d", "echo 1 >d/new", "echo 2 >d/new", &["d/new"]),
        // A file that the trial only opened is not changed.
        (
            "echo 1 >a; echo 2 >b",
            "echo 2 >>a; : >>b",
            "echo 3 >>b",
            &[],
        ),
        ("echo 1 >a; echo 2 >b", "echo 2 >>a; : >>b", "rm b", &[]),
        (
            "echo 1 >a; mkdir d; echo 2 >d/b",
            "echo 2 >>a; : >>d/b",
            "rm -r d",
            &[],
        ),
    ] {
        let test_tree = TestTree::new(tree);
        let held = test_tree.hold(script);
        let before = shown(&test_tree, held.id);
        assert_eq!(
            (&held, held.state),
            (&before.0, ChangesState::Held),
            "{script}"
        );
        let is_known = |diff: &FileDiff| diff.text != DiffText::Unknown && !diff.changed_since;
        assert!(before.1.iter().all(is_known), "{script}: {:#?}", before.1);
        test_tree.sh(later);
        assert_eq!(shown(&test_tree, held.id), before, "{script}, then {later}");
        assert_eq!(
            blocking_paths(&test_tree, held.id),
            blocking,
            "{script}, then {later}"
        );
        let marked = test_tree.store().diff(SESSION, held.id, &[]).unwrap();
        let marked = marked.iter().filter(|diff| diff.blocks_commit);
        assert!(marked.count() <= blocking.len(), "{script}");
        let committed = test_tree.store().commit(SESSION, held.id);
        assert_eq!(
            committed.is_err(),
            !blocking.is_empty(),
            "{script}: {committed:?}"
        );
        if blocking.is_empty() {
            assert_eq!(test_tree.text("a").as_deref(), Some("1\n2\n"), "{script}");
            let theirs = test_tree.text("b");
            assert_ne!(theirs.as_deref(), Some("2\n"), "{script}: it is theirs");
            continue;
        }
        let (gone, held) = (test_tree.store().discard(SESSION, held.id).unwrap(), held);
        assert_eq!(gone.state, ChangesState::Discarded);
        assert_eq!(
            (gone.counts, gone.files),
            (held.counts, held.files),
            "{script}"
        );
    }
}

#[test]
fn conflicting_file_is_marked_in_the_diff() {
    let tree = TestTree::new("echo 1 >a; echo 2 >b");
    let held = tree.hold("echo x >>a; echo x >>b");
    tree.sh("echo y >>b");
    let diffs = tree.store().diff(SESSION, held.id, &[]).unwrap();
    let marked: Vec<_> = diffs
        .iter()
        .map(|diff| (&diff.file.name.path[..], diff.blocks_commit))
        .collect();
    assert_eq!(marked, [("a", false), ("b", true)]);
}

/// Older versions wrote no held plan: their trials are compared with the current files.
#[test]
fn trial_without_held_plan_is_compared_and_can_be_decided() {
    let tree = TestTree::new("printf 'one\\n' >a; echo 2 >b");
    let held = tree.hold("echo two >>a");
    let other = tree.hold("echo x >>b");
    for id in [held.id, other.id] {
        without_held_plan(&tree, id);
    }
    let diff = |id| match &tree.store().diff(SESSION, id, &[]).unwrap()[0].text {
        DiffText::Unified(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    assert!(diff(held.id).ends_with(" one\n+two\n"));
    assert_eq!(tree.store().show(SESSION, held.id).unwrap(), held);
    tree.sh("echo mine >>b");
    assert!(diff(other.id).contains("-mine"), "{}", diff(other.id));
    assert_eq!(blocking_paths(&tree, other.id), ["b"]);
    tree.commit(held.id);
    assert_eq!(tree.text("a").as_deref(), Some("one\ntwo\n"));
    tree.store().discard(SESSION, other.id).unwrap();
}

/// Files of the tree are not touched: a link to one could be written to by other processes.
#[test]
fn held_plan_stores_preimages_as_copies() {
    use std::os::unix::fs::MetadataExt;
    let tree = TestTree::new("echo 1 >a; echo 2 >b");
    let times = |name: &str| {
        let file = fs::metadata(tree.root.join(name)).unwrap();
        (file.ctime_nsec(), file.nlink())
    };
    let before = (times("a"), times("b"));
    let held = tree.hold("rm a; echo x >>b");
    assert_eq!((times("a"), times("b")), before);
    let set = set_of(&tree, held.id);
    assert!(set.join("idx").exists());
    // After a commit the files are in the set's slots; a discarded trial needs no preimages.
    tree.commit(held.id);
    assert!(!set.join("idx").exists() && !set.join("pack").exists() && !set.join("links").exists());
    let held = tree.hold("rm b");
    tree.store().discard(SESSION, held.id).unwrap();
    let set = set.with_file_name(held.id.to_string());
    assert!(!set.join("idx").exists() && !set.join("pack").exists());
}

/// A file that is too large to be copied is unknown, unless it still exists unchanged.
#[test]
fn missing_preimage_gives_no_diff() {
    let many =
        "for i in $(seq 1 17); do head -c 4100000 /dev/zero | tr '\\0' 'x' >$i; echo $i >>$i; done";
    let tree = TestTree::new(&format!(
        "{many}; head -c 5000000 /dev/zero | tr '\\0' 'x' >large; echo s >small"
    ));
    let held = tree.hold("for i in *; do echo more >>$i; done");
    let texts = || -> Vec<(String, &'static str)> {
        let diffs = tree.store().diff(SESSION, held.id, &[]).unwrap();
        let texts = diffs.into_iter().map(|diff| {
            let kind = match diff.text {
                DiffText::Unified(text) if text.contains("else") => "wrong",
                DiffText::Unified(_) => "text",
                DiffText::TooLarge => "too large",
                DiffText::Unknown => "unknown",
                _ => "other",
            };
            (diff.file.name.path, kind)
        });
        texts.collect()
    };
    let kinds =
        |texts: &[(String, &str)], kind: &str| texts.iter().filter(|(_, it)| *it == kind).count();
    let held_texts = texts();
    let (text, too_large) = (kinds(&held_texts, "text"), kinds(&held_texts, "too large"));
    assert_eq!((text, too_large), (18, 1), "{held_texts:?}");
    tree.sh("for i in *; do echo else >>$i; done");
    // At most 64 MiB of the 70 MB are copied, unless the file system clones.
    let is_cloned = !set_of(&tree, held.id).join("pack").exists();
    let texts = texts();
    let unknown = usize::from(!is_cloned);
    assert_eq!(kinds(&texts, "unknown"), unknown, "{texts:?}");
    assert_eq!((kinds(&texts, "too large"), kinds(&texts, "wrong")), (1, 0));
}

/// A preimage of a later call has the contents.
#[test]
fn missing_preimage_is_found_in_a_later_change_set() {
    let tree = TestTree::new("echo 1 >a");
    let held = tree.hold("echo x >>a");
    let set = set_of(&tree, held.id);
    fs::remove_file(set.join("idx")).unwrap();
    let before = tree.store().diff(SESSION, held.id, &[]).unwrap();
    let store = tree.store();
    let trace = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(trace.dir()).unwrap();
    recorder
        .before(&tree.root.join("a"), Touch::Content)
        .unwrap();
    tree.sh("echo 5 >>a");
    recorder.finish().unwrap();
    store.finish(trace).unwrap();
    let after = tree.store().diff(SESSION, held.id, &[]).unwrap();
    assert_eq!(after[0].text, before[0].text);
    assert!(matches!(&after[0].text, DiffText::Unified(text) if text.ends_with(" 1\n+x\n")));
}

/// `touch`, `: >>file`, the same content again.
#[test]
fn trial_without_changed_files_is_not_held() {
    for script in ["ls", ": >>a; touch -c b", "echo 1 >a", "echo t >t; rm t"] {
        let tree = TestTree::new("echo 1 >a; echo 2 >b");
        let ended = tree.hold(script);
        assert_eq!(ended.state, ChangesState::Discarded, "{script}");
        assert_eq!(ended.counts.total(), 0, "{script}");
        tree.sh("echo later >>a; echo later >>b");
        let listed = tree.store().show(SESSION, ended.id).unwrap();
        assert_eq!(
            (listed.state, listed.counts.total()),
            (ChangesState::Discarded, 0)
        );
        let set = set_of(&tree, ended.id);
        assert!(!set.join("upper").exists(), "{script}");
    }
}

/// A recorded call.
fn call(tree: &TestTree, command: &str, path: &str) -> ChangesId {
    let store = tree.store();
    let set = store
        .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
        .unwrap();
    let set = set.with_command(command.to_owned());
    let mut recorder = Recorder::open(set.dir()).unwrap();
    recorder.before(&tree.root.join(path), Touch::Name).unwrap();
    tree.sh(command);
    recorder.finish().unwrap();
    store.finish(set).unwrap().id
}

#[test]
fn changed_by_names_the_last_call_that_changed_the_file() {
    let tree = TestTree::new("echo 1 >a; echo 2 >b; mkdir d");
    let held = tree.hold("echo x >>a; rm b; echo n >d/new");
    let by = |path: &str| {
        let files = [agent_bash_core::changes::FileName::new(path)];
        let found = tree.store().changed_by(SESSION, held.id, &files).unwrap();
        found
            .into_iter()
            .next()
            .flatten()
            .map(|it| (it.id, it.command, it.undoes))
    };
    assert_eq!(by("a"), None);
    let first = call(&tree, "echo 3 >>a", "a");
    let is_it = |id, command: &str| Some((id, Some(command.to_owned()), None));
    assert_eq!(by("a"), is_it(first, "echo 3 >>a"));
    let second = call(&tree, "rm b", "b");
    assert_eq!(by("b"), is_it(second, "rm b"));
    let third = call(&tree, "echo o >d/new", "d/new");
    assert_eq!(by("d/new"), is_it(third, "echo o >d/new"));
    // The last call that changed the file is named.
    let last = call(&tree, "echo 4 >>a", "a");
    assert_eq!(by("a"), is_it(last, "echo 4 >>a"));
    let undone = tree.undo(last).id;
    assert_eq!(by("a"), Some((undone, None, Some(last))));
    // A process outside the recorded calls.
    tree.sh("echo outside >>a; echo outside >b");
    assert_eq!((by("a"), by("b")), (None, None));
}

/// `git status`, which a prompt runs as well, rewrites the index with the same entries.
#[test]
fn changed_by_names_the_call_that_wrote_the_index_after_git_status() {
    const GIT: &str = "git() { GIT_CONFIG_GLOBAL=/dev/null command git -c user.name=n -c user.email=e@example.org \"$@\"; }; ";
    const INDEX: &str = ".git/index";
    let tree = TestTree::new(&format!(
        "{GIT} git init -q .; echo 1 >a; echo 2 >b; git add a; git commit -qm one"
    ));
    let held = tree.hold(&format!("{GIT} git add b"));
    let by = || {
        let files = [agent_bash_core::changes::FileName::new(INDEX)];
        let found = tree.store().changed_by(SESSION, held.id, &files).unwrap();
        found.into_iter().next().flatten().map(|it| it.id)
    };
    let look = |year: u32| {
        let was = fs::read(tree.root.join(INDEX)).unwrap();
        tree.sh(&format!(
            "{GIT} touch -d {year}-01-01 a; git status >/dev/null"
        ));
        assert_ne!(was, fs::read(tree.root.join(INDEX)).unwrap(), "{year}");
    };
    look(2001);
    assert_eq!(by(), None);
    let added = call(&tree, &format!("{GIT} echo c >c; git add c"), INDEX);
    assert_eq!(by(), Some(added));
    look(2002);
    assert_eq!(by(), Some(added));
    let undone = tree.undo(added).id;
    look(2003);
    assert_eq!(by(), Some(undone));
    let again = tree.store().redo(SESSION, added).unwrap().id;
    look(2004);
    assert_eq!(by(), Some(again));
    // A process outside the recorded calls.
    tree.sh(&format!("{GIT} echo d >d; git add d"));
    assert_eq!(by(), None);
}

/// The command of an ordinary call is stored if the call changed a file. A later call that reuses
/// the set does not get it.
#[test]
fn change_set_has_only_its_own_command() {
    let tree = TestTree::new("echo 1 >a");
    let store = tree.store();
    for (command, kept) in [("true", None), ("echo 2 >>a", Some("echo 2 >>a"))] {
        let set = store
            .begin_trace(SESSION, &tree.root, ChangesLevel::Undo)
            .unwrap();
        let set = set.with_command(command.to_owned());
        let mut recorder = Recorder::open(set.dir()).unwrap();
        recorder
            .before(&tree.root.join("a"), Touch::Content)
            .unwrap();
        tree.sh(command);
        recorder.finish().unwrap();
        let id = store.finish(set).unwrap().id;
        let shown = store.show(SESSION, id).unwrap();
        assert_eq!(shown.command.as_deref(), kept);
    }
}
