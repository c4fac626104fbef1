//! Simulates an exhausted quota on a copy-on-write file system, where even existing files cannot be
//! overwritten. A limit on the file size does the same in a separate process.

use crate::crash::kill;
use crate::support::{SESSION, TestTree};
use agent_bash_changes::{ChangesError, Store};
use agent_bash_core::changes::ChangesId;
use agent_bash_core::changes::ChangesState::{self, Discarded, Done, Held};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const STATE: &str = "CHANGES_TEST_NO_ROOM";

fn states(store: &Store) -> Vec<ChangesState> {
    let sets = store.list(SESSION).unwrap();
    sets.iter().map(|set| set.changes.state).collect()
}

/// The process that the test below starts, in which a write beyond the limit is an error instead of
/// a signal. Does nothing by itself.
#[test]
fn without_room() {
    let Some(state) = std::env::var_os(STATE).map(PathBuf::from) else {
        return;
    };
    let root = state.with_file_name("root");
    let store = Store::open_without_recovery(&state).unwrap();
    let mut to_be_held = store.begin_trial(SESSION, &root).unwrap();
    to_be_held.mark().unwrap();
    let abandoned = store.begin_trial(SESSION, &root).unwrap();
    for set in [&to_be_held, &abandoned] {
        fs::write(set.upper().join("new"), "new\n").unwrap();
    }
    setrlimit(
        Resource::Fsize,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    )
    .unwrap();
    let upper = to_be_held.upper();
    let unable = fs::write(upper.join("more"), "more").unwrap_err();
    assert_eq!(unable.kind(), std::io::ErrorKind::FileTooLarge);

    let error = store.hold(to_be_held).unwrap_err();
    assert!(matches!(error, ChangesError::NotHeld { .. }), "{error}");
    assert!(!upper.exists());
    drop((store, abandoned));

    // The next process sees the change sets, and can remove them.
    let store = Store::open(&state).unwrap();
    let all = |second| [Done, second, Held, Discarded, Discarded, Discarded];
    assert_eq!(states(&store), all(Held));
    let discarded = store.discard(SESSION, ChangesId(2)).unwrap();
    assert_eq!(discarded.state, Discarded);
    let committed = store.commit(SESSION, ChangesId(3));
    assert!(
        matches!(committed, Err(ChangesError::Io { .. })),
        "{committed:?}"
    );
    let store = Store::open(&state).unwrap();
    assert_eq!(states(&store), all(Discarded));
}

#[test]
fn sets_are_listed_and_discarded_on_a_full_disk() {
    let tree = TestTree::new("echo one >a; echo two >b");
    let committed = tree.hold("echo new >d");
    tree.commit(committed.id);
    let before = tree.files();
    for _ in 0..2 {
        tree.hold("rm a; echo more >>b; echo new >c");
    }
    // This undo failed before its journal was written.
    assert!(kill(&tree, "undo", 0, None));
    let script = r#"trap "" XFSZ; exec "$0" --exact no_room::without_room --nocapture"#;
    let output = Command::new("bash")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(STATE, &tree.state)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(tree.files(), before);
    // The trial is held, and the disk has room again.
    let store = tree.store();
    assert_eq!(states(&store)[1], Discarded);
    tree.commit(ChangesId(3));
    assert!(!tree.root.join("a").exists());
}
