//! Every row of docs/contract.md's table of fixed texts, in each layout.

use crate::profiles;
use crate::{ApprovalDenied, CallEnding, CallFacts, DirectoryError, Refusal, RuleRefusal};
use agent_bash_core::{
    ArtifactId, ArtifactRef, JobId, NotStarted, Notice, NoticeKind, OutputSummary, Profile,
    ProfileName, RequestError, Stage, Status, StreamId, Streams, Survivor, TruncatedBy, Truncation,
};
use agent_bash_sink::{CleanPiece, ShownOutput, SinkReport};
use std::fmt::Write as _;

fn piece(text: &str, first: u64) -> CleanPiece {
    let count = text.lines().count() as u64;
    CleanPiece {
        text: text.to_owned(),
        lines: (count > 0).then(|| [first, first + count - 1]),
        ..CleanPiece::default()
    }
}

fn stream(stream: StreamId, text: &str) -> SinkReport {
    SinkReport {
        stream,
        shown: ShownOutput::Whole(piece(text, 1)),
        summary: OutputSummary::default(),
        artifact: None,
        artifact_error: None,
        overwritten: false,
        head_satisfied: None,
        masked_secrets: 0,
    }
}

fn merged(text: &str) -> Vec<SinkReport> {
    vec![stream(StreamId::Merged, text)]
}

fn split(stdout: &str, stderr: &str) -> Vec<SinkReport> {
    vec![
        stream(StreamId::Stdout, stdout),
        stream(StreamId::Stderr, stderr),
    ]
}

fn artifact(id: u64, stream: StreamId, complete: bool) -> ArtifactRef {
    let path = format!("/tmp/agent-bash-s/bash-17-{id}.txt");
    let mut artifact = ArtifactRef::new(ArtifactId(id), path, stream);
    artifact.bytes = if complete { 200_000 } else { 100 << 20 };
    artifact.lines = 8432;
    artifact.complete = complete;
    artifact
}

fn cut(
    profile: &Profile,
    stream: StreamId,
    by: TruncatedBy,
    artifact_id: Option<u64>,
) -> SinkReport {
    let (head, tail) = (piece("first\n", 1), piece("last but one\nlast\n", 8431));
    let shown = match profile.output.truncation {
        Truncation::Tail { .. } => ShownOutput::Tail(tail),
        Truncation::Head { .. } => ShownOutput::Head(head),
        Truncation::Middle { .. } | Truncation::HeadTail { .. } => ShownOutput::Ends { head, tail },
    };
    let mut summary = OutputSummary::default();
    (summary.total_bytes, summary.total_lines) = (1_572_864, 8432);
    summary.shown_ranges = shown.pieces().filter_map(|piece| piece.lines).collect();
    (summary.truncated, summary.truncated_by) = (true, Some(by));
    SinkReport {
        stream,
        summary,
        shown,
        artifact: artifact_id.map(|id| artifact(id, stream, true)),
        artifact_error: None,
        overwritten: false,
        head_satisfied: None,
        masked_secrets: 0,
    }
}

/// Returns the text in the layout of `profile`.
fn text(
    profile: &Profile,
    end: CallEnding<'_>,
    printed: &[SinkReport],
    notices: &[Notice],
) -> String {
    profiles::text(
        profile.name,
        &CallFacts {
            end,
            shell_signal: None,
            command: "the command",
            printed,
            notices,
            limits: profile.output,
        },
    )
}

fn ran(profile: &Profile, status: &Status, printed: &[SinkReport]) -> String {
    text(profile, CallEnding::Ran(status), printed, &[])
}

/// Returns the texts of all cases in one document, so that a reader can compare the snapshot with
/// the profile's table.
fn document(profile: &Profile, cases: &[(&str, CallEnding<'_>, Vec<SinkReport>)]) -> String {
    let mut document = String::new();
    for (name, end, printed) in cases {
        let text = text(profile, *end, printed, &[]);
        let shown = text.replace('\n', "\n| ");
        let _ = writeln!(document, "=== {name}\n| {shown}");
    }
    document
}

const EXIT_0: Status = Status::Exited { code: 0 };
const EXIT_3: Status = Status::Exited { code: 3 };

#[test]
fn each_layout_writes_every_ending() {
    use CallEnding::{Ran, Refused};
    let killed = Status::Signaled {
        signal: "SIGKILL".into(),
        number: 9,
    };
    let timed_out = Status::TimedOut { after_ms: 30_000 };
    let slow = Status::TimedOut { after_ms: 900_000 };
    let odd = Status::TimedOut { after_ms: 1500 };
    let lost = Status::lost("the supervisor is gone");
    let background = Status::MovedToBackground {
        job: JobId("3".into()),
        pid: 41,
        pgid: 42,
        output: "/state/jobs/3/output".into(),
    };
    let rule = Refusal::Rule(RuleRefusal {
        rule: "no_force_push".into(),
        message: "permission denied: git push --force is not allowed".into(),
        reason: None,
        suggested_tool: None,
        explanation: Box::default(),
    });
    let denied = Refusal::Denied(ApprovalDenied {
        reason: "the user said no".into(),
    });
    let missing = Refusal::Directory(DirectoryError::Missing("/nowhere".into()));
    let a_file = Refusal::Directory(DirectoryError::NotADirectory("/etc/passwd".into()));
    let closed = Refusal::Directory(DirectoryError::Unreadable {
        path: "/closed".into(),
        reason: "Permission denied (os error 13)".into(),
    });
    let no_shell = Refusal::NotStarted(NotStarted::new("no such shell: /bin/nosh"));
    let no_command = Refusal::Request(RequestError::MissingCommand);
    let unknown = Refusal::Request(RequestError::UnknownField {
        field: "timout".into(),
        nearest: Some("timeout"),
    });
    let off = Refusal::NotOffered("there are no jobs here");
    let called_off = Refusal::Cancelled;

    for profile in profiles::ALL {
        let out = |text: &str| match profile.streams {
            Streams::Merged => merged(text),
            Streams::Split => split(text, ""),
        };
        let cases = [
            ("success", Ran(&EXIT_0), out("hi\n")),
            ("success, no newline at the end", Ran(&EXIT_0), out("hi")),
            ("success, nothing printed", Ran(&EXIT_0), out("")),
            ("exit 3", Ran(&EXIT_3), out("hi\n")),
            ("exit 3, no newline at the end", Ran(&EXIT_3), out("hi")),
            ("exit 3, nothing printed", Ran(&EXIT_3), out("")),
            ("signal", Ran(&killed), out("hi\n")),
            ("timeout", Ran(&timed_out), out("partial\n")),
            ("timeout, slow", Ran(&slow), out("partial\n")),
            ("timeout, 1.5 s", Ran(&odd), out("")),
            ("cancelled", Ran(&Status::Cancelled), out("partial\n")),
            (
                "cancelled, nothing printed",
                Ran(&Status::Cancelled),
                out(""),
            ),
            ("lost", Ran(&lost), out("hi\n")),
            ("background", Ran(&background), out("")),
            ("blocked by a rule", Refused(&rule), vec![]),
            ("denied by the host", Refused(&denied), vec![]),
            ("cwd missing", Refused(&missing), vec![]),
            ("cwd is a file", Refused(&a_file), vec![]),
            ("cwd not accessible", Refused(&closed), vec![]),
            ("no shell", Refused(&no_shell), vec![]),
            ("no command", Refused(&no_command), vec![]),
            ("unknown field", Refused(&unknown), vec![]),
            ("not offered", Refused(&off), vec![]),
            ("cancelled before the start", Refused(&called_off), vec![]),
            ("both streams", Ran(&EXIT_0), split("out\n", "err\n")),
            (
                "both streams, no newlines",
                Ran(&EXIT_3),
                split("out", "err"),
            ),
            ("stderr only", Ran(&EXIT_3), split("", "err\n")),
        ];
        insta::assert_snapshot!(
            format!("table_{}", profile.name.as_str()),
            document(profile, &cases)
        );
    }
}

#[test]
fn each_layout_writes_every_truncation() {
    use TruncatedBy::{Bytes, HeadTail, LineLength, Lines};
    let timed_out = Status::TimedOut { after_ms: 30_000 };
    for profile in profiles::ALL {
        let first = match profile.streams {
            Streams::Merged => StreamId::Merged,
            Streams::Split => StreamId::Stdout,
        };
        let one = |by, id| vec![cut(profile, first, by, id)];
        let binary = |id| {
            let mut report = cut(profile, first, Bytes, id);
            report.shown = ShownOutput::Binary;
            report.summary.binary = true;
            report.summary.total_bytes = 12_595;
            vec![report]
        };
        let mut capped = one(Lines, None);
        capped[0].artifact = Some(artifact(5, first, false));
        let mut inside = one(Bytes, Some(3));
        inside[0].shown = ShownOutput::Ends {
            head: CleanPiece {
                missing_after: 7,
                ..piece("a long li", 1)
            },
            tail: CleanPiece {
                missing_before: 12,
                ..piece("ne\n", 8432)
            },
        };
        let both = vec![
            cut(profile, StreamId::Stdout, Bytes, Some(3)),
            cut(profile, StreamId::Stderr, Bytes, Some(4)),
        ];
        let cases = [
            ("bytes", CallEnding::Ran(&EXIT_0), one(Bytes, Some(3))),
            (
                "bytes, no artifact",
                CallEnding::Ran(&EXIT_0),
                one(Bytes, None),
            ),
            (
                "bytes, exit 3",
                CallEnding::Ran(&EXIT_3),
                one(Bytes, Some(3)),
            ),
            (
                "bytes, timeout",
                CallEnding::Ran(&timed_out),
                one(Bytes, Some(3)),
            ),
            ("both streams", CallEnding::Ran(&EXIT_0), both),
            ("inside a line", CallEnding::Ran(&EXIT_0), inside),
            ("lines, capped file", CallEnding::Ran(&EXIT_0), capped),
            (
                "head or tail",
                CallEnding::Ran(&EXIT_0),
                one(HeadTail, Some(3)),
            ),
            (
                "long lines",
                CallEnding::Ran(&EXIT_0),
                one(LineLength, Some(3)),
            ),
            ("binary", CallEnding::Ran(&EXIT_0), binary(Some(3))),
            (
                "binary, no artifact",
                CallEnding::Ran(&EXIT_3),
                binary(None),
            ),
        ];
        insta::assert_snapshot!(
            format!("cut_{}", profile.name.as_str()),
            document(profile, &cases)
        );
    }
}

#[test]
fn standard_shows_notices_that_other_layouts_keep_in_the_data() {
    let survivor = Survivor::new(12, "sleep 300", true);
    let notices: Vec<Notice> = [
        NoticeKind::Survivors {
            survivors: vec![survivor],
        },
        NoticeKind::FieldRenamed {
            name: "cmd".into(),
            used: "command".into(),
        },
        NoticeKind::TimeoutClamped {
            asked_ms: 7_200_000,
            used_ms: 3_600_000,
        },
        NoticeKind::FailedStage {
            stage: 1,
            code: 2,
            stages: vec![Stage::from(2), Stage::from(0)],
        },
    ]
    .map(Notice::from)
    .into();
    let printed = [cut(
        &profiles::STANDARD,
        StreamId::Merged,
        TruncatedBy::Bytes,
        Some(3),
    )];
    let shown = text(
        &profiles::STANDARD,
        CallEnding::Ran(&EXIT_3),
        &printed,
        &notices,
    );
    insta::assert_snapshot!("standard_notices", shown);
    // Survivors are named in all of them.
    let others = [&profiles::MODES, &profiles::PAGED, &profiles::WORKSPACE];
    let alive = "[Still running: pid 12, holds the output: sleep 300]\n";
    for profile in others {
        let mut shown = text(profile, CallEnding::Ran(&EXIT_3), &printed, &notices);
        if profile.name == ProfileName::Modes {
            shown.push('\n');
        }
        let (before, after) = shown.split_once(alive).unwrap_or_default();
        assert_eq!(
            format!("{before}{after}").trim_end(),
            ran(profile, &EXIT_3, &printed),
            "{:?}",
            profile.name
        );
    }
}

#[test]
fn each_layout_reports_a_failed_artifact() {
    let reason = "less than 512 MB are free in /x".to_owned();
    let notices = [NoticeKind::ArtifactFailed { reason }.into()];
    for profile in profiles::ALL {
        let printed = [cut(profile, StreamId::Merged, TruncatedBy::Bytes, None)];
        let shown = text(profile, CallEnding::Ran(&EXIT_3), &printed, &notices);
        let expected_text = "[The full output was not kept: less than 512 MB are free in /x]";
        assert!(
            shown.lines().any(|line| line == expected_text),
            "{:?}: {shown}",
            profile.name
        );
    }
}

#[test]
fn requested_head_and_tail_get_no_notice() {
    let lifted = Notice::from(NoticeKind::Lifted {
        filter: "head -5".into(),
    });
    let ended = Notice::from(NoticeKind::HeadSatisfied { lines: 5 });
    let standard = &profiles::STANDARD;
    let show = |kept, status: &Status, notices: &[Notice]| {
        let stream = cut(standard, StreamId::Stdout, TruncatedBy::HeadTail, kept);
        let printed = [SinkReport {
            head_satisfied: Some(5),
            ..stream
        }];
        text(standard, CallEnding::Ran(status), &printed, notices)
    };
    let notes = |text: &str| text.lines().filter(|line| line.starts_with('[')).count();
    let ok = Status::Exited { code: 0 };
    assert_eq!(notes(&show(None, &ok, &[])), 0);
    assert_eq!(notes(&show(None, &ok, &[lifted.clone(), ended.clone()])), 0);
    // A caller that passed `head` as an argument did not write `| head`.
    let by_argument = show(None, &ok, std::slice::from_ref(&ended));
    assert!(by_argument.contains("ended after its first 5 lines"));
    // Controls: a failed command keeps all of its output and says so; and the number of lines that
    // a stopped producer printed means nothing, so it is not shown.
    let failed = show(Some(3), &EXIT_3, std::slice::from_ref(&lifted));
    assert!(failed.contains(" of 8432. Full: artifact://3]"), "{failed}");
    let cut_off = show(Some(3), &EXIT_3, &[lifted, ended]);
    assert!(
        cut_off.contains("[Showing lines 8431-8432. Full: artifact://3]"),
        "{cut_off}"
    );
}

#[test]
fn workspace_truncates_joined_streams_at_a_character_boundary() {
    let limit = 100 * 1024;
    let marker = "\n[Output truncated at 100KB]\n[Exit code: 0]";
    for (stdout, stderr) in [
        ("x".repeat(60 * 1024), "é".repeat(30 * 1024)),
        ("é".repeat(limit / 2), "y".to_owned()),
        (String::new(), "z".repeat(limit + 1)),
    ] {
        let text = ran(&profiles::WORKSPACE, &EXIT_0, &split(&stdout, &stderr));
        let shown = text.strip_suffix(marker).expect("the marker and the code");
        assert!(
            (limit - 1..=limit).contains(&shown.len()),
            "{}",
            shown.len()
        );
    }
    let fits = ran(
        &profiles::WORKSPACE,
        &EXIT_0,
        &split(&"x".repeat(limit - 2), "y"),
    );
    assert!(!fits.contains("truncated"), "exactly the limit is not cut");
}

#[test]
fn clean_removes_control_sequences() {
    assert_eq!(
        crate::clean(b"\x1b[31mred\x1b[0m\n10%\r100%\n"),
        "red\n100%\n"
    );
}
