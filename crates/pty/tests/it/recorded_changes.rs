//! Commands on a terminal with recorded changes: the changes are recorded, and everything else
//! behaves as without recording. The change sets are tested in their own crate.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{Attended, attend, is_installed, run, spec};
use agent_bash_changes::{ChangeSet, Store};
use agent_bash_core::changes::{Changes, ChangesLevel, TraceState};
use agent_bash_core::{RunSpec, ScriptEnding};
use agent_bash_pty::Key;
use agent_bash_test_kit::test_workspace::{TIERS, TestWorkspace};
use std::fs;
use tempfile::TempDir;

/// A workspace, and the store of its change sets.
struct RecordedWorkspace {
    test_workspace: TestWorkspace,
    _state: TempDir,
    store: Store,
}

impl RecordedWorkspace {
    fn new() -> Self {
        let test_workspace = TestWorkspace::new();
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(&state.path().join("state")).unwrap();
        fs::write(test_workspace.workspace.join("file"), "before\n").unwrap();
        Self {
            test_workspace,
            _state: state,
            store,
        }
    }

    /// The script without a sandbox and in each kind of sandbox, each with a change set of its own.
    fn each(&self, script: &str) -> Vec<(RunSpec, ChangeSet)> {
        let plain = spec(script).cwd(self.test_workspace.workspace.clone());
        let sandboxed = TIERS.map(|tier| self.test_workspace.in_sandbox(plain.clone(), tier));
        let with_a_set = |spec: RunSpec| {
            let root = &self.test_workspace.workspace;
            let set = self.store.begin_trace("s", root, ChangesLevel::Undo);
            let set = set.unwrap();
            (spec.trace(Some(set.dir().to_owned())), set)
        };
        [plain]
            .into_iter()
            .chain(sandboxed)
            .map(with_a_set)
            .collect()
    }

    fn file(&self) -> String {
        fs::read_to_string(self.test_workspace.workspace.join("file")).unwrap()
    }

    /// The recorded changes, which are then undone.
    fn undone(&self, set: ChangeSet) -> Changes {
        let changes = self.store.finish(set).unwrap();
        self.store.undo("s", changes.id, &[], false).unwrap();
        assert_eq!(self.file(), "before\n");
        changes
    }
}

async fn edits(attended: &Attended) {
    attended.shows("before").await;
    attended.types("otyped");
    attended.presses(Key::Escape);
    attended.shows("typed").await;
    attended.enters(":wq");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_recorded() {
    let watched = RecordedWorkspace::new();
    for (spec, set) in watched.each("echo more >>file; rm -f gone; echo new >new") {
        let ran = run(&spec).await.unwrap();
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
        let counts = watched.undone(set).counts;
        assert_eq!((counts.changed, counts.created, counts.total()), (1, 1, 2));
    }
    // A spec without recording gets none.
    let (spec, set) = watched.each("echo more >>file").swap_remove(0);
    let ran = run(&spec.trace(None)).await.unwrap();
    assert_eq!(ran.outcome.traced, None);
    assert_eq!(watched.store.finish(set).unwrap().counts.total(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_by_an_editor_can_be_undone() {
    if !is_installed("vim") {
        return;
    }
    let watched = RecordedWorkspace::new();
    for (spec, set) in watched.each("vim -u NONE file") {
        let attended = attend(&spec).await;
        edits(&attended).await;
        let outcome = attended.outcome().await;
        assert_eq!(outcome.ending, ScriptEnding::Exited { code: 0 });
        assert_eq!(outcome.traced, Some(TraceState::complete()));
        assert_eq!(watched.file(), "before\ntyped\n");
        assert_eq!(watched.undone(set).counts.total(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_stopped_and_continued() {
    let watched = RecordedWorkspace::new();
    for (spec, set) in watched.each("PS1='> ' bash --norc -i") {
        let attended = attend(&spec).await;
        attended.shows(">").await;
        // Input typed before the program has the terminal is not a line to it.
        attended.enters("echo 'it' 'runs'; tee -a file");
        attended.shows("\nit runs").await;
        attended.enters("first");
        attended.shows("first\nfirst").await;
        attended.control('z');
        attended.shows("Stopped").await;
        attended.enters("fg");
        attended.shows("fg\ntee").await;
        attended.enters("second");
        attended.shows("second\nsecond").await;
        attended.control('d');
        attended.shows("second\n>").await;
        attended.enters("exit 3");
        let outcome = attended.outcome().await;
        assert_eq!(outcome.ending, ScriptEnding::Exited { code: 3 });
        assert_eq!(outcome.traced, Some(TraceState::complete()));
        assert_eq!(watched.file(), "before\nfirst\nsecond\n");
        assert_eq!(watched.undone(set).counts.changed, 1);
    }
}
