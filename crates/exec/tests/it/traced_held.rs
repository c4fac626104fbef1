//! Files that are open already when a call begins that is recorded.

use crate::support::{cache, run_with, spec};
use crate::test_workspace::TestWorkspace;
use agent_bash_core::changes::{ChangesLevel, TraceState};
use agent_bash_core::{Cancel, SessionName};
use std::fs;

/// A file that a session's shell opened in one call can be written in the next.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_persistent_shell_has_open_is_kept_before_its_next_call() {
    let (place, cache, cancel) = (TestWorkspace::with(&[("a", "a\n")]), cache(), Cancel::new());
    let store = place.store();
    let mut calls = Vec::new();
    for script in ["exec 3>>a; echo one >&3", "echo two >&3", "true"] {
        let set = store.begin_trace("s", &place.root, ChangesLevel::Undo);
        let set = set.unwrap();
        let traced = Some(set.dir().to_owned());
        let spec = spec(script).cwd(place.root.clone()).trace(traced);
        let spec = spec.session(SessionName("a".into())).enter_cwd(false);
        let ran = run_with(&cache, &spec, &cancel).await.unwrap();
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
        calls.push(store.finish(set).unwrap());
    }
    let changed: Vec<u64> = calls.iter().map(|it| it.counts.changed).collect();
    assert_eq!(changed, [1, 1, 0]);
    for (call, want) in [(&calls[1], "a\none\n"), (&calls[0], "a\n")] {
        store.undo("s", call.id, &[], false).unwrap();
        assert_eq!(fs::read_to_string(place.root.join("a")).unwrap(), want);
    }
}
