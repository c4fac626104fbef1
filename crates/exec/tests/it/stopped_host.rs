//! If the host was stopped while a command ended within its limit, the command has not timed out.

use crate::support::{options, run_with, spec};
use agent_bash_core::{Cancel, ScriptEnding, SessionName};
use agent_bash_exec::ShellCache;
use std::time::Duration;

/// The time for which the only thread of this program is blocked.
const STOPPED: Duration = Duration::from_millis(2500);

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "nothing is to go on")]
async fn command_that_ended_in_time_is_not_timed_out() {
    for session in [None, Some(SessionName("a".into()))] {
        let cache = ShellCache::new(options());
        // Output makes a separate task watch the time.
        for script in ["echo ok; sleep 0.4; (exit 4)", "sleep 0.4; exit 4"] {
            let spec = spec(script)
                .session(session.clone())
                .timeout(Duration::from_secs(2));
            let stop = async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                std::thread::sleep(STOPPED);
            };
            let cancel = Cancel::new();
            let (ran, ()) = tokio::join!(run_with(&cache, &spec, &cancel), stop);
            let ending = ran.unwrap().outcome.ending;
            assert_eq!(
                ending,
                ScriptEnding::Exited { code: 4 },
                "{session:?} {script}"
            );
        }
    }
}

/// Control: a command that continues does time out.
#[tokio::test]
async fn running_command_is_ended_at_its_limit() {
    for session in [None, Some(SessionName("a".into()))] {
        let spec = spec("echo ok; sleep 1000")
            .session(session)
            .timeout(Duration::from_millis(500));
        let ran = run_with(&ShellCache::new(options()), &spec, &Cancel::new()).await;
        let ending = ran.unwrap().outcome.ending;
        assert!(
            matches!(ending, ScriptEnding::TimedOut { .. }),
            "{ending:?}"
        );
    }
}
