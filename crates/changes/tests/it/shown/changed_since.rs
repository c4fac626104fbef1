//! Views of a change set with files that were changed since: the call's own changes, as far as they
//! are known.

use crate::support::{SESSION, TestTree};
use agent_bash_changes::{DiffText, FileDiff, RecordOutcome, Recorder, StoreLimits, Touch};
use agent_bash_core::changes::{ChangesId, ChangesLevel, ChangesState};

impl TestTree {
    /// Records and runs a script that touches `a`.
    fn recorded(&self, touch: Touch, script: &str) -> ChangesId {
        let store = self.store();
        let set = store.begin_trace(SESSION, &self.root, ChangesLevel::Undo);
        let set = set.unwrap();
        let mut recorder = Recorder::open(set.dir()).unwrap();
        recorder.before(&self.root.join("a"), touch).unwrap();
        self.sh(script);
        recorder.finish().unwrap();
        store.finish(set).unwrap().id
    }

    fn diff(&self, id: ChangesId, path: &str) -> FileDiff {
        let diffs = self.store().diff(SESSION, id, &[path.into()]).unwrap();
        assert_eq!(diffs.len(), 1, "{diffs:?}");
        diffs.into_iter().next().unwrap()
    }

    /// Returns the removed and added lines, if they are the call's own changes.
    fn lines(&self, id: ChangesId, path: &str) -> Option<String> {
        let diff = self.diff(id, path);
        let DiffText::Unified(text) = diff.text else {
            return None;
        };
        let own = |line: &&str| line.starts_with(['+', '-']);
        let lines: Vec<&str> = text.lines().skip(2).filter(own).collect();
        (!diff.changed_since).then(|| lines.join(" "))
    }
}

#[test]
fn each_call_shows_only_its_own_changes() {
    let tree = TestTree::new("echo zero >a");
    let calls: Vec<ChangesId> = ["one", "two", "three"]
        .iter()
        .map(|word| tree.recorded(Touch::Content, &format!("echo {word} >a")))
        .collect();
    let removed = tree.recorded(Touch::Name, "rm a");
    for (call, want) in [
        (calls[0], "-zero +one"),
        (calls[1], "-one +two"),
        (calls[2], "-two +three"),
        (removed, "-three"),
    ] {
        assert_eq!(tree.lines(call, "a").as_deref(), Some(want));
    }
    // The calls are undone one after another.
    tree.undo(removed);
    tree.undo(calls[2]);
    for (call, want) in [
        (calls[0], "-zero +one"),
        (calls[1], "-one +two"),
        (calls[2], "-two +three"),
    ] {
        assert_eq!(tree.lines(call, "a").as_deref(), Some(want));
    }
}

#[test]
fn committed_change_set_shows_its_own_changes() {
    let tree = TestTree::new("echo zero >a");
    let first = tree.hold("echo one >a; echo new >b").id;
    tree.commit(first);
    let second = tree.hold("echo two >a; rm b").id;
    tree.commit(second);
    let third = tree.recorded(Touch::Content, "echo three >>a");
    for (call, path, want) in [
        (first, "a", "-zero +one"),
        (first, "b", "+new"),
        (second, "a", "-one +two"),
        (second, "b", "-new"),
        (third, "a", "+three"),
    ] {
        assert_eq!(tree.lines(call, path).as_deref(), Some(want), "{path}");
    }
}

/// Without a preimage, the diff compares with the current file, and says so.
#[test]
fn diff_without_a_preimage_says_so() {
    let tree = TestTree::new("echo zero >a");
    let call = tree.recorded(Touch::Content, "echo one >a");
    assert_eq!(tree.lines(call, "a").as_deref(), Some("-zero +one"));
    tree.sh("echo by hand >>a");
    let diff = tree.diff(call, "a");
    assert!(diff.changed_since);
    assert!(
        matches!(&diff.text, DiffText::Unified(text) if text.contains("+by hand")),
        "{diff:?}"
    );
    tree.sh("rm a");
    let diff = tree.diff(call, "a");
    assert_eq!((diff.changed_since, diff.text), (true, DiffText::Unknown));
    // A later call stored the other process's contents, not this call's.
    tree.sh("echo again >a");
    let later = tree.recorded(Touch::Content, "echo later >a");
    assert!(tree.diff(call, "a").changed_since);
    assert_eq!(tree.lines(later, "a").as_deref(), Some("-again +later"));
}

/// A rename is inferred from the contents at the time of the call.
#[test]
fn change_set_stays_unchanged_after_an_edit() {
    let tree = TestTree::new("echo same >m1; echo gone >f2");
    let trial = tree.hold("rm f2; sed s/s/S/ m1 >m2; rm m1; echo new >n");
    tree.commit(trial.id);
    tree.undo(trial.id);
    tree.sh("sed -i s/s/S/ m1");
    let shown = tree.store().show(SESSION, trial.id).unwrap();
    assert_eq!(shown.counts, trial.counts);
    assert_eq!((shown.counts.renamed, shown.counts.deleted), (0, 2));
}

/// No file can be restored: the error says that, instead of claiming that nothing was to do.
#[test]
fn set_without_preimages_is_not_undone() {
    let tree = TestTree::new("head -c 2M /dev/zero | tr '\\0' x >a; echo one >b");
    let mut limits = StoreLimits::default();
    limits.max_preimage_bytes = 1 << 20;
    let store = tree.store().limits(limits);
    let set = store.begin_trace(SESSION, &tree.root, ChangesLevel::Undo);
    let set = set.unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    let touched = tree.root.join("a");
    let kept = recorder.before(&touched, Touch::Content).unwrap();
    tree.sh("echo more >>a");
    recorder.finish().unwrap();
    let changes = store.finish(set).unwrap();
    if kept != RecordOutcome::WithoutPreimage {
        // This file system clones it.
        return;
    }
    assert_eq!(changes.not_restorable.len(), 1, "{changes:?}");
    let refused = store.undo(SESSION, changes.id, &[], false).unwrap_err();
    assert!(refused.to_string().contains("were not stored"), "{refused}");
    let shown = store.show(SESSION, changes.id).unwrap();
    assert_eq!(shown.state, ChangesState::Done);
}

#[test]
fn time_of_a_decision_survives_undo_and_redo() {
    let decided = |tree: &TestTree, id: ChangesId| {
        let sets = tree.store().list(SESSION).unwrap();
        let set = sets.into_iter().find(|set| set.changes.id == id).unwrap();
        set.decided
    };
    let tree = TestTree::new("echo zero >a");
    let (kept, gone) = (tree.hold("echo one >a").id, tree.hold("echo two >a").id);
    assert_eq!((decided(&tree, kept), decided(&tree, gone)), (None, None));
    tree.store().discard(SESSION, gone).unwrap();
    tree.commit(kept);
    let both = (decided(&tree, kept), decided(&tree, gone));
    assert!(both.0.is_some() && both.1.is_some(), "{both:?}");
    std::thread::sleep(std::time::Duration::from_millis(20));
    tree.undo(kept);
    tree.redo(kept);
    assert_eq!((decided(&tree, kept), decided(&tree, gone)), both);
}
