//! A host that was stopped while a command ended in time: the command has ended in time.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

mod support;

use agent_bash_core::{Cancel, Ending, SessionName};
use agent_bash_exec::ShellCache;
use std::time::Duration;
use support::{options, run_with, spec};

/// Nothing of this program goes on for so long: it has one thread, and that is blocked.
const STOPPED: Duration = Duration::from_millis(1500);

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "nothing is to go on")]
async fn who_ended_in_time_has_ended_in_time() {
    for session in [None, Some(SessionName("a".into()))] {
        let cache = ShellCache::new(options());
        // The output makes a task of its own watch the time.
        for script in ["echo ok; sleep 0.4; (exit 4)", "sleep 0.4; exit 4"] {
            let spec = spec(script)
                .session(session.clone())
                .timeout(Duration::from_secs(1));
            let stop = async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                std::thread::sleep(STOPPED);
            };
            let cancel = Cancel::new();
            let (ran, ()) = tokio::join!(run_with(&cache, &spec, &cancel), stop);
            let ending = ran.unwrap().outcome.ending;
            assert_eq!(ending, Ending::Exited { code: 4 }, "{session:?} {script}");
        }
    }
}

/// The control: who goes on has not.
#[tokio::test]
async fn who_goes_on_is_ended() {
    for session in [None, Some(SessionName("a".into()))] {
        let spec = spec("echo ok; sleep 1000")
            .session(session)
            .timeout(Duration::from_millis(500));
        let ran = run_with(&ShellCache::new(options()), &spec, &Cancel::new()).await;
        let ending = ran.unwrap().outcome.ending;
        assert!(matches!(ending, Ending::TimedOut { .. }), "{ending:?}");
    }
}
