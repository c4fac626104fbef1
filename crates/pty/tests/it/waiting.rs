//! Detects commands that wait for user input, and distinguishes similar states.

use crate::support::{attend, attend_with, is_installed, options, run, spec};
use agent_bash_core::{NoticeKind, ScriptEnding};
use agent_bash_pty::{PtyExecutor, PtyOptions, WaitingFor};
use agent_bash_test_kit::driven_clock::{DrivenClock, LIMIT};
use std::sync::Arc;
use std::time::Duration;

/// Returns the input that a command is reported to wait for. If no input is expected, observes the
/// command for three polling intervals.
async fn waits(script: &str, expected: bool) -> Option<&'static str> {
    const LOOKS: Duration = Duration::from_secs(6);
    let attended = attend(&spec(script)).await;
    attended.shows("ready").await;
    let reported = attended.until("it waits", |_, status| status.waiting.is_some());
    if expected {
        reported.await;
    } else {
        let _ = tokio::time::timeout(LOOKS, reported).await;
    }
    let waiting = attended.session.status().waiting;
    attended.session.kill();
    attended.outcome().await;
    waiting.map(WaitingFor::as_str)
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_is_distinguished_from_working() {
    let cases = [
        ("echo ready; read -r x", Some("line")),
        ("echo ready; cat", Some("line")),
        ("echo ready; cat < /dev/tty", Some("line")),
        ("echo ready; cat | sort", Some("line")),
        ("echo ready; read -rs x", Some("secret")),
        ("echo ready; stty -echo; cat", Some("secret")),
        ("echo ready; read -e x", Some("raw")),
        ("echo ready; read -rn1 x", Some("raw")),
        (
            "printf '\\033[?1049hready'; read -rn1 x",
            Some("full_screen"),
        ),
        ("echo ready | less", Some("full_screen")),
        ("echo ready; sleep 1000", None),
        ("echo ready; tail -f /dev/null", None),
        ("echo ready; while :; do :; done", None),
        ("echo ready; stty -echo; sleep 1000", None),
        ("echo ready; stty raw; sleep 1000", None),
        ("echo ready; cat < <(sleep 1000)", None),
    ];
    let cases = cases
        .into_iter()
        .filter(|(script, _)| !script.contains("less") || is_installed("less"));
    let running: Vec<_> = cases
        .map(|(script, wanted)| {
            (
                script,
                wanted,
                tokio::spawn(waits(script, wanted.is_some())),
            )
        })
        .collect();
    for (script, wanted, found) in running {
        assert_eq!(found.await.unwrap(), wanted, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn result_of_a_timeout_names_the_awaited_input() {
    let clock = Arc::new(DrivenClock::new());
    let executor = PtyExecutor::new(PtyOptions {
        clock: clock.clone(),
        ..options()
    });
    let asking = spec("read -r -p 'name? ' name").timeout(LIMIT);
    let attended = attend_with(&executor, &asking).await;
    let reported = attended.until("it waits", |_, status| status.waiting.is_some());
    reported.await;
    clock.pass();
    let outcome = attended.outcome().await;
    assert!(
        matches!(outcome.ending, ScriptEnding::TimedOut { .. }),
        "{outcome:?}"
    );
    let waited = NoticeKind::WaitingForInput {
        state: WaitingFor::Line,
    };
    assert!(
        outcome.notices.iter().any(|notice| notice.kind == waited),
        "{outcome:?}"
    );
    let mut working = spec("sleep 1000");
    working.timeout = Some(Duration::from_secs(4));
    assert_eq!(run(&working).await.unwrap().outcome.notices, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn input_ends_the_waiting() {
    let attended = attend(&spec("read -r a; read -rs b; echo \"got $a$b\"")).await;
    let waits_for = async |name: &str| {
        attended
            .until(name, |_, status| {
                status.waiting.map(WaitingFor::as_str) == Some(name)
            })
            .await;
    };
    waits_for("line").await;
    attended.enters("1");
    waits_for("secret").await;
    attended.enters("2");
    assert_eq!(
        attended.outcome().await.ending,
        ScriptEnding::Exited { code: 0 }
    );
    assert!(attended.collect.text().ends_with("got 12\r\n"));
}
