//! Commands on a terminal that are watched: what they change is recorded, and all else is as it is otherwise. What a record
//! is good for is tested where it is kept.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{Attended, attend, is_installed, run, spec};
use agent_bash_changes::{ChangeSet, Store};
use agent_bash_core::changes::{Changes, ChangesLevel, Traced};
use agent_bash_core::{Ending, RunSpec};
use agent_bash_pty::Key;
use agent_bash_test_kit::test_workspace::{TIERS, TestWorkspace};
use std::fs;
use tempfile::TempDir;

/// A workspace, and the store of what is changed in it.
struct Watched {
    place: TestWorkspace,
    _state: TempDir,
    store: Store,
}

impl Watched {
    fn new() -> Self {
        let place = TestWorkspace::new();
        let state = tempfile::tempdir().unwrap();
        let store = Store::open(&state.path().join("state")).unwrap();
        fs::write(place.workspace.join("file"), "before\n").unwrap();
        Self {
            place,
            _state: state,
            store,
        }
    }

    /// The script as it is, and in each box, each with a set of its own.
    fn each(&self, script: &str) -> Vec<(RunSpec, ChangeSet)> {
        let plain = spec(script).cwd(self.place.workspace.clone());
        let boxed = TIERS.map(|tier| self.place.in_sandbox(plain.clone(), tier));
        let with_a_set = |spec: RunSpec| {
            let root = &self.place.workspace;
            let set = self.store.begin_trace("s", root, ChangesLevel::Undo);
            let set = set.unwrap();
            (spec.trace(Some(set.dir().to_owned())), set)
        };
        [plain].into_iter().chain(boxed).map(with_a_set).collect()
    }

    fn file(&self) -> String {
        fs::read_to_string(self.place.workspace.join("file")).unwrap()
    }

    /// What was recorded, which is then taken back.
    fn taken_back(&self, set: ChangeSet) -> Changes {
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
async fn what_changes_is_recorded() {
    let watched = Watched::new();
    for (spec, set) in watched.each("echo more >>file; rm -f gone; echo new >new") {
        let ran = run(&spec).await.unwrap();
        assert_eq!(ran.outcome.traced, Some(Traced::complete()), "{ran:?}");
        let counts = watched.taken_back(set).counts;
        assert_eq!((counts.changed, counts.created, counts.total()), (1, 1, 2));
    }
    // Nothing is where nothing is to be recorded.
    let (spec, set) = watched.each("echo more >>file").swap_remove(0);
    let ran = run(&spec.trace(None)).await.unwrap();
    assert_eq!(ran.outcome.traced, None);
    assert_eq!(watched.store.finish(set).unwrap().counts.total(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_edits_can_be_taken_back() {
    if !is_installed("vim") {
        return;
    }
    let watched = Watched::new();
    for (spec, set) in watched.each("vim -u NONE file") {
        let attended = attend(&spec).await;
        edits(&attended).await;
        let outcome = attended.outcome().await;
        assert_eq!(outcome.ending, Ending::Exited { code: 0 });
        assert_eq!(outcome.traced, Some(Traced::complete()));
        assert_eq!(watched.file(), "before\ntyped\n");
        assert_eq!(watched.taken_back(set).counts.total(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_stopped_and_continued() {
    let watched = Watched::new();
    for (spec, set) in watched.each("PS1='> ' bash --norc -i") {
        let attended = attend(&spec).await;
        attended.shows(">").await;
        // What is typed before the program has the terminal is not a line to it.
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
        assert_eq!(outcome.ending, Ending::Exited { code: 3 });
        assert_eq!(outcome.traced, Some(Traced::complete()));
        assert_eq!(watched.file(), "before\nfirst\nsecond\n");
        assert_eq!(watched.taken_back(set).counts.changed, 1);
    }
}
