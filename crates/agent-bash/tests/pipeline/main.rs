//! The pipeline with a scripted executor: what is refused before anything is started, what the
//! executor is asked for, and how its outcome is reported.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod background;
mod changes;
mod checked_elsewhere;
mod compared;
mod limits;
mod masks;
mod offers;
mod panics;
mod reading;
mod recorded;
mod refusals;
mod sandbox;
mod scripted;
mod terminal;
mod too_much;

use agent_bash::core::{
    Cancel, ConsumerFlow, NotStarted, Notice, NoticeKind, OutputConsumer, ScriptEnding, Stage,
    Status, StdinSource, StreamId, Streams, Survivor, TruncatedBy,
};
use agent_bash::sink::{LiveKind, LiveOptions, LiveUpdate, LiveUpdates};
use agent_bash::{CallOptions, profiles};
use scripted::{Memory, Scripted, Stopped, builder, outcome, tool};
use serde_json::json;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn executor_gets_every_decision() {
    let executor = Scripted::exits(0, b"");
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    let tool = builder(&profiles::STANDARD, &executor, dir.path()).build();
    let call = json!({"command": " a | b\n", "cwd": "sub", "timeout": 90, "env": {"A": "1", "PATH": null}});
    let options = CallOptions {
        stdin: StdinSource::Inherit,
        ..CallOptions::default()
    };
    let result = tool.execute_with(call, options, &Cancel::new()).await;
    assert_eq!(result.status, Status::Exited { code: 0 });
    let spec = executor.last();
    assert_eq!(spec.cwd, dir.path().join("sub"));
    assert_eq!(result.cwd, spec.cwd.to_str().unwrap());
    assert_eq!(spec.timeout, Some(Duration::from_secs(90)));
    assert_eq!(spec.grace, Duration::from_secs(2));
    assert_eq!(spec.streams, Streams::Merged);
    assert_eq!(spec.stdin, StdinSource::Inherit);
    assert!(spec.shell.is_bash);
    assert_eq!(spec.env.get("A"), Some(OsStr::new("1")));
    assert_eq!(spec.env.get("PATH"), None);
    assert_eq!(spec.env.get("GH_TOKEN"), None, "secrets stay behind");
    assert_eq!(spec.env.get("TERM"), Some(OsStr::new("dumb")));
}

#[tokio::test]
async fn head_and_tail_use_separate_streams() {
    for (profile, call, want) in [
        (&profiles::STANDARD, json!("x"), Streams::Merged),
        (
            &profiles::STANDARD,
            json!({"command": "x", "head": 1}),
            Streams::Split,
        ),
        (
            &profiles::STANDARD,
            json!({"command": "x", "tail": 1}),
            Streams::Split,
        ),
        (&profiles::MODES, json!("x"), Streams::Merged),
        (&profiles::PAGED, json!("x"), Streams::Split),
        (&profiles::WORKSPACE, json!("x"), Streams::Split),
    ] {
        let executor = Scripted::exits(0, b"");
        tool(profile, &executor)
            .execute(call.clone(), &Cancel::new())
            .await;
        assert_eq!(executor.last().streams, want, "{:?} {call}", profile.name);
    }
}

#[tokio::test]
async fn every_ending_becomes_its_status() {
    let killed = ScriptEnding::Signaled {
        signal: "SIGKILL".into(),
        number: 9,
    };
    let lost = ScriptEnding::Lost { reason: "x".into() };
    let after = Duration::from_secs(30);
    for (ending, want, text) in [
        (
            ScriptEnding::Exited { code: 0 },
            json!({"kind": "exited", "code": 0}),
            "hi\n",
        ),
        (
            ScriptEnding::Exited { code: 3 },
            json!({"kind": "exited", "code": 3}),
            "hi\n\nCommand exited with code 3",
        ),
        (
            killed,
            json!({"kind": "signaled", "signal": "SIGKILL", "number": 9}),
            "hi\n\nCommand terminated by SIGKILL",
        ),
        (
            ScriptEnding::TimedOut { after },
            json!({"kind": "timed_out", "after_ms": 30_000}),
            "[Command timed out after 30 seconds]\nhi\n",
        ),
        (
            ScriptEnding::Cancelled,
            json!({"kind": "cancelled"}),
            "[Command cancelled]\nhi\n",
        ),
        (
            lost,
            json!({"kind": "lost", "reason": "x"}),
            "hi\n\nCommand failed: missing exit status",
        ),
    ] {
        let chunks = vec![(StreamId::Merged, b"hi\n".to_vec())];
        let executor = Scripted::new(chunks, Ok(outcome(ending)));
        let result = tool(&profiles::STANDARD, &executor)
            .execute(json!("x"), &Cancel::new())
            .await;
        assert_eq!(serde_json::to_value(&result.status).unwrap(), want);
        assert_eq!(result.text, text);
        assert_eq!(result.is_error, result.status.is_error());
        assert!((result.duration_ms - 12.3).abs() < 1e-9);
        assert_eq!(
            (result.output.total_bytes, result.output.total_lines),
            (3, 1)
        );
    }
}

#[tokio::test]
async fn long_output_is_stored_and_linked_on_every_ending() {
    let output: Vec<u8> = (1..=20_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    for ending in [
        ScriptEnding::Exited { code: 0 },
        ScriptEnding::Exited { code: 3 },
        ScriptEnding::Cancelled,
        ScriptEnding::TimedOut {
            after: Duration::from_secs(1),
        },
    ] {
        let chunks = vec![(StreamId::Merged, output.clone())];
        let executor = Scripted::new(chunks, Ok(outcome(ending.clone())));
        let store = Arc::new(Memory::default());
        let tool = builder(&profiles::STANDARD, &executor, Path::new("/"))
            .artifacts(store.clone())
            .build();
        let result = tool.execute(json!("x"), &Cancel::new()).await;
        let first = result.output.shown_ranges[0][0];
        let notice = format!(
            "\n\n[Showing lines {first}-20000 of 20000 (50.0KB limit). Full: artifact://0]"
        );
        assert!(result.text.contains(&notice), "{ending:?}: {}", result.text);
        assert_eq!(
            store.files.lock().unwrap().as_slice(),
            std::slice::from_ref(&output)
        );
        assert_eq!(result.artifacts.len(), 1);
        assert_eq!(result.output.truncated_by, Some(TruncatedBy::Bytes));
    }
}

#[tokio::test]
async fn failing_artifact_store_does_not_stop_the_call() {
    let executor = Scripted::exits(0, &b"line\n".repeat(20_000));
    let store = Memory {
        full: true,
        ..Memory::default()
    };
    let tool = builder(&profiles::STANDARD, &executor, Path::new("/"))
        .artifacts(Arc::new(store))
        .build();
    let result = tool.execute(json!("x"), &Cancel::new()).await;
    assert_eq!(result.status, Status::Exited { code: 0 });
    assert!(result.artifacts.is_empty());
    assert!(!result.text.contains("artifact://"), "{}", result.text);
    assert!(
        result
            .text
            .ends_with("(50.0KB limit)]\n[The full output was not kept: No space left on device]"),
        "{}",
        &result.text[result.text.len() - 200..]
    );
}

#[tokio::test]
async fn sigpipe_after_head_is_a_success() {
    let broken_pipe = ScriptEnding::Signaled {
        signal: "SIGPIPE".into(),
        number: 13,
    };
    for (ending, closed_early, want) in [
        (broken_pipe.clone(), true, Status::Exited { code: 0 }),
        (
            ScriptEnding::Exited { code: 141 },
            true,
            Status::Exited { code: 0 },
        ),
        (
            ScriptEnding::Exited { code: 2 },
            true,
            Status::Exited { code: 2 },
        ),
        // No pipe of theirs was closed, so the status is unchanged.
        (
            ScriptEnding::Exited { code: 141 },
            false,
            Status::Exited { code: 141 },
        ),
        (
            broken_pipe,
            false,
            Status::Signaled {
                signal: "SIGPIPE".into(),
                number: 13,
            },
        ),
    ] {
        let mut ended = outcome(ending);
        ended.closed_early = closed_early;

        let chunks = vec![(StreamId::Stdout, b"y\n".repeat(9))];
        let executor = Scripted::new(chunks, Ok(ended));
        let result = tool(&profiles::STANDARD, &executor)
            .execute(json!({"command": "yes", "head": 2}), &Cancel::new())
            .await;
        assert_eq!(result.status, want);
        assert!(result.text.starts_with("y\ny\n"));
        let satisfied =
            |notice: &Notice| matches!(notice.kind, NoticeKind::HeadSatisfied { lines: 2 });
        assert_eq!(result.notices.iter().any(satisfied), closed_early);
    }
}

#[tokio::test]
async fn notices_of_the_executor_are_in_the_result() {
    let survivor = Survivor::new(12, "sleep 300", true);
    let named = NoticeKind::Survivors {
        survivors: vec![survivor.clone()],
    };
    for notices in [vec![], vec![Notice::from(named)]] {
        let mut ended = outcome(ScriptEnding::Exited { code: 0 });
        ended.survivors = vec![survivor.clone()];
        ended.stages = Some(vec![Stage::from(1), Stage::from(0)]);
        ended.notices = notices;

        let executor = Scripted::new(vec![], Ok(ended));
        let result = tool(&profiles::STANDARD, &executor)
            .execute(json!("x"), &Cancel::new())
            .await;
        assert_eq!(result.survivors, std::slice::from_ref(&survivor));
        assert_eq!(result.notices.len(), 1, "named once");
        assert_eq!(
            result.text,
            "(no output)\n\n[Still running: pid 12, holds the output: sleep 300]"
        );
        assert_eq!(result.stages.len(), 2);
    }
    let mut one = outcome(ScriptEnding::Exited { code: 0 });
    one.stages = Some(vec![Stage::from(0)]);

    let executor = Scripted::new(vec![], Ok(one));
    let result = tool(&profiles::STANDARD, &executor)
        .execute(json!("x"), &Cancel::new())
        .await;
    assert!(result.stages.is_empty(), "one stage is the status itself");
}

#[tokio::test]
async fn missing_configuration_of_the_shell_is_in_the_text() {
    let mut ended = outcome(ScriptEnding::Exited { code: 0 });
    let reason = "it is slow".to_owned();
    ended.notices = vec![NoticeKind::SnapshotSkipped { reason }.into()];
    let executor = Scripted::new(vec![], Ok(ended));
    let result = tool(&profiles::STANDARD, &executor)
        .execute(json!("x"), &Cancel::new())
        .await;
    let want = "[The shell's configuration was not loaded: it is slow]";
    assert!(result.text.ends_with(want), "{}", result.text);
}

/// A persistent shell has its own directory, whatever became of the tool's.
#[tokio::test]
async fn result_of_a_session_call_has_the_shells_directory() {
    let mut ended = outcome(ScriptEnding::Exited { code: 0 });
    ended.initial_cwd = Some("/elsewhere".into());

    let executor = Scripted::new(vec![], Ok(ended));
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    let tool = builder(&profiles::STANDARD, &executor, &gone)
        .sessions(true)
        .build();
    let result = tool
        .execute(json!({"command": "x", "session": "s"}), &Cancel::new())
        .await;
    assert_eq!((&*result.cwd, executor.runs()), ("/elsewhere", 1));
    for call in [
        json!("x"),
        json!({"command": "x", "session": "s", "cwd": "."}),
    ] {
        let result = tool.execute(call, &Cancel::new()).await;
        assert_eq!(*result.cwd, *gone.to_string_lossy());
        assert!(result.text.contains("does not exist"), "{}", result.text);
    }
    assert_eq!(executor.runs(), 1);
}

#[tokio::test]
async fn clamped_timeout_gets_a_notice() {
    let executor = Scripted::exits(0, b"hi\n");
    let result = tool(&profiles::STANDARD, &executor)
        .execute(json!({"command": "x", "timeout": "2h"}), &Cancel::new())
        .await;
    assert_eq!(executor.last().timeout, Some(Duration::from_secs(3600)));
    assert_eq!(
        result.text,
        "hi\n\n[A timeout of 120m was asked for, 60m was used]"
    );
}

/// Records the output, and may ask to stop.
#[derive(Default)]
struct Watcher {
    bytes: Vec<u8>,
    enough: usize,
}

impl OutputConsumer for Watcher {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= self.enough {
            ConsumerFlow::Stop
        } else {
            ConsumerFlow::Continue
        }
    }
}

#[tokio::test]
async fn live_consumer_gets_raw_output_and_cannot_stop_the_command() {
    let chunks: Vec<_> = (0..9)
        .map(|n| (StreamId::Merged, format!("\x1b[1m{n}\n").into_bytes()))
        .collect();
    for (enough, lines) in [(usize::MAX, 9), (6, 1)] {
        let executor = Scripted::new(
            chunks.clone(),
            Ok(outcome(ScriptEnding::Exited { code: 0 })),
        );
        let mut watcher = Watcher {
            enough,
            ..Watcher::default()
        };
        let options = CallOptions {
            live: Some(&mut watcher),
            ..CallOptions::default()
        };
        let result = tool(&profiles::STANDARD, &executor)
            .execute_with(json!("x"), options, &Cancel::new())
            .await;
        assert_eq!(result.text, "0\n1\n2\n3\n4\n5\n6\n7\n8\n");
        assert_eq!(
            watcher.bytes,
            chunks[..lines]
                .iter()
                .flat_map(|(_, b)| b.clone())
                .collect::<Vec<_>>()
        );
    }
}

#[tokio::test]
async fn call_that_was_not_started_has_the_reason() {
    let executor = Scripted::new(vec![], Err(NotStarted::new("no processes left")));
    let result = tool(&profiles::STANDARD, &executor)
        .execute(json!("x"), &Cancel::new())
        .await;
    assert_eq!(
        result.status,
        Status::NotStarted {
            reason: "no processes left".into()
        }
    );
    assert_eq!(result.text, "no processes left");
}

#[tokio::test]
async fn live_feed_has_the_output_and_its_end() {
    let chunks: Vec<_> = (0..9)
        .map(|n| (StreamId::Merged, format!("{n}\n").into_bytes()))
        .collect();
    let executor = Scripted::new(chunks, Ok(outcome(ScriptEnding::Exited { code: 0 })));
    let tool = tool(&profiles::STANDARD, &executor);
    let options = LiveOptions::new(LiveKind::Snapshot, 1000);
    for call in [json!("x"), json!("git push --force")] {
        let live = LiveUpdates::new(options);
        let ran = tool
            .execute_watched(call, &live, &Cancel::new())
            .await
            .status
            == Status::Exited { code: 0 };
        let snapshot = LiveUpdate::Snapshot {
            text: "0\n1\n2\n3\n4\n5\n6\n7\n8\n".into(),
            total_bytes: 18,
        };
        assert_eq!(live.next(&Stopped).await, ran.then_some(snapshot));
        assert_eq!(
            live.next(&Stopped).await,
            None,
            "it has its end, whatever became of the call"
        );
    }
}
