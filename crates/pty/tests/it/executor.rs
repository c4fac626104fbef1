//! The executor as used by a pipeline, and the handle as used by a host.

use crate::support::{Collect, executor, spec};
use agent_bash_core::{Cancel, Executor, ScriptEnding, SessionName};
use agent_bash_pty::{InputRefused, PtySession};
use std::sync::{Arc, Mutex};

#[tokio::test(flavor = "multi_thread")]
async fn callback_receives_each_session() {
    let sessions: Arc<Mutex<Vec<PtySession>>> = Arc::default();
    let executor = {
        let sessions = Arc::clone(&sessions);
        executor().on_start(move |session| sessions.lock().unwrap().push(session))
    };
    for script in ["echo one", "echo two; exit 2"] {
        let mut collect = Collect::default();
        let outcome = executor
            .run(&spec(script), &mut collect, &Cancel::new())
            .await
            .unwrap();
        let mut session = sessions.lock().unwrap().last().unwrap().clone();
        // Reported before the outcome is returned, and once.
        let end = session.status().ended.unwrap();
        assert_eq!(end.result, Ok(outcome));
        assert!(!end.killed);
        assert!(session.changed().await.ended.is_some());
        assert_eq!(session.text().join("\r\n") + "\r\n", collect.text());
        assert!(Arc::ptr_eq(&session.screen(), &session.screen()));
        assert_eq!(session.send_bytes(b"x"), Err(InputRefused::Ended));
        session.kill();
    }
    assert_eq!(sessions.lock().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn call_without_a_callback_is_the_same() {
    let mut collect = Collect::default();
    let executor = executor();
    let running = spec("echo out; echo err >&2; exit 7");
    let outcome = executor
        .run(&running, &mut collect, &Cancel::new())
        .await
        .unwrap();
    assert_eq!(outcome.ending, ScriptEnding::Exited { code: 7 });
    assert_eq!(collect.text(), "out\r\nerr\r\n");
    let mut named = spec("echo ran");
    named.session = Some(SessionName("a".into()));
    let refused = executor
        .run(&named, &mut collect, &Cancel::new())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("has no terminal"), "{refused}");
}
