//! Files that are open already when a call begins that is recorded.

use crate::support::{cache, run_with, spec};
use crate::test_workspace::TestWorkspace;
use agent_bash_core::changes::{ChangesLevel, TraceState};
use agent_bash_core::{Cancel, SessionName};
use std::fs;

/// A file that a session's shell opened in one call can be written in the next. While the shell
/// has no file open, its calls are recorded only once they are about to change one.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_persistent_shell_has_open_is_kept_before_its_next_call() {
    let (place, cache, cancel) = (TestWorkspace::with(&[("a", "a\n")]), cache(), Cancel::new());
    let store = place.store();
    let mut calls = Vec::new();
    let scripts = [
        ("exec 3>>a; echo one >&3", 1),
        ("echo two >&3", 1),
        // The number of descriptors stays the same from here on.
        ("exec 3</dev/null", 0),
        ("true", 0),
        ("true", 0),
        ("exec 3>>a; echo three >&3", 1),
        ("echo four >&3", 1),
        ("exec 3>&-", 0),
        ("true", 0),
        ("bash -c 'echo five >>a'", 1),
        ("true", 0),
        ("echo six >>a & wait; true", 1),
    ];
    for (script, changed) in scripts {
        let set = store.begin_trace("s", &place.root, ChangesLevel::Undo);
        let set = set.unwrap();
        let traced = Some(set.dir().to_owned());
        let spec = spec(script).cwd(place.root.clone()).trace(traced);
        let spec = spec.session(SessionName("a".into())).enter_cwd(false);
        let ran = run_with(&cache, &spec, &cancel).await.unwrap();
        assert_eq!(ran.outcome.traced, Some(TraceState::complete()), "{ran:?}");
        let call = store.finish(set).unwrap();
        assert_eq!(call.counts.changed, changed, "{script}");
        calls.push(call);
    }
    for call in calls.iter().filter(|call| call.counts.changed == 1).rev() {
        store.undo("s", call.id, &[], false).unwrap();
    }
    assert_eq!(fs::read_to_string(place.root.join("a")).unwrap(), "a\n");
}
