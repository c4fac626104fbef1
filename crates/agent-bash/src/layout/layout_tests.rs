//! Every row of the table of fixed texts (spec 1.5), in each layout.

use super::*;
use crate::profiles;
use crate::refusal::RuleRefusal;
use crate::stage::approve::Denied;
use crate::stage::working_directory::DirectoryError;
use agent_bash_core::{
    ArtifactId, JobId, NotStarted, NoticeKind, Profile, RequestError, Stage, Survivor, TruncatedBy,
};
use std::fmt::Write as _;

fn stream(stream: StreamId, text: &str) -> Printed {
    Printed {
        stream,
        head: text.to_owned(),
        tail: String::new(),
        lines: [text.lines().count() as u64, 0],
        summary: OutputSummary::default(),
        artifact: None,
    }
}

fn merged(text: &str) -> Vec<Printed> {
    vec![stream(StreamId::Merged, text)]
}

fn split(stdout: &str, stderr: &str) -> Vec<Printed> {
    vec![
        stream(StreamId::Stdout, stdout),
        stream(StreamId::Stderr, stderr),
    ]
}

fn artifact(id: u64, stream: StreamId, complete: bool) -> ArtifactRef {
    ArtifactRef {
        id: ArtifactId(id),
        uri: ArtifactId(id).uri(),
        path: format!("/tmp/agent-bash-s/bash-17-{id}.txt"),
        stream,
        bytes: 200_000,
        lines: 8432,
        complete,
    }
}

fn cut(
    stream: StreamId,
    by: TruncatedBy,
    ranges: &[[u64; 2]],
    artifact_id: Option<u64>,
) -> Printed {
    Printed {
        stream,
        head: "first\n".to_owned(),
        tail: "last\n".to_owned(),
        lines: [1, 1],
        summary: OutputSummary {
            total_bytes: 1_572_864,
            total_lines: 8432,
            shown_ranges: ranges.to_vec(),
            truncated: true,
            truncated_by: Some(by),
            ..OutputSummary::default()
        },
        artifact: artifact_id.map(|id| artifact(id, stream, true)),
    }
}

/// The text in the layout of `profile`.
fn text(profile: &Profile, end: End<'_>, printed: &[Printed], notices: &[Notice]) -> String {
    super::write(
        profile.layout,
        &Facts {
            end,
            command: "the command",
            printed,
            notices,
            limits: profile.output,
        },
    )
}

fn ran(profile: &Profile, status: &Status, printed: &[Printed]) -> String {
    text(profile, End::Ran(status), printed, &[])
}

/// All cases of one profile as one document, so that a snapshot can be read beside the table.
fn document(profile: &Profile, cases: &[(&str, End<'_>, Vec<Printed>)]) -> String {
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
fn every_row_of_the_table() {
    let killed = Status::Signaled {
        signal: "SIGKILL".into(),
        number: 9,
    };
    let timed_out = Status::TimedOut { after_ms: 30_000 };
    let slow = Status::TimedOut { after_ms: 900_000 };
    let odd = Status::TimedOut { after_ms: 1500 };
    let lost = Status::Lost {
        reason: "the supervisor is gone".into(),
    };
    let background = Status::MovedToBackground {
        job: JobId("3".into()),
        pid: 41,
        pgid: 42,
        output: "/state/jobs/3/output".into(),
    };
    let rule = Refusal::Rule(RuleRefusal {
        rule: "no_force_push".into(),
        message: "permission denied: git push --force is not allowed".into(),
        suggested_tool: None,
    });
    let denied = Refusal::Denied(Denied {
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
            agent_bash_core::Streams::Merged => merged(text),
            agent_bash_core::Streams::Split => split(text, ""),
        };
        let cases = [
            ("success", End::Ran(&EXIT_0), out("hi\n")),
            (
                "success, no newline at the end",
                End::Ran(&EXIT_0),
                out("hi"),
            ),
            ("success, nothing printed", End::Ran(&EXIT_0), out("")),
            ("exit 3", End::Ran(&EXIT_3), out("hi\n")),
            (
                "exit 3, no newline at the end",
                End::Ran(&EXIT_3),
                out("hi"),
            ),
            ("exit 3, nothing printed", End::Ran(&EXIT_3), out("")),
            ("signal", End::Ran(&killed), out("hi\n")),
            ("timeout", End::Ran(&timed_out), out("partial\n")),
            ("timeout, slow", End::Ran(&slow), out("partial\n")),
            ("timeout, 1.5 s", End::Ran(&odd), out("")),
            ("cancelled", End::Ran(&Status::Cancelled), out("partial\n")),
            (
                "cancelled, nothing printed",
                End::Ran(&Status::Cancelled),
                out(""),
            ),
            ("lost", End::Ran(&lost), out("hi\n")),
            ("background", End::Ran(&background), out("")),
            ("blocked by a rule", End::Refused(&rule), vec![]),
            ("denied by the host", End::Refused(&denied), vec![]),
            ("cwd missing", End::Refused(&missing), vec![]),
            ("cwd is a file", End::Refused(&a_file), vec![]),
            ("cwd not accessible", End::Refused(&closed), vec![]),
            ("no shell", End::Refused(&no_shell), vec![]),
            ("no command", End::Refused(&no_command), vec![]),
            ("unknown field", End::Refused(&unknown), vec![]),
            ("not offered", End::Refused(&off), vec![]),
            (
                "cancelled before the start",
                End::Refused(&called_off),
                vec![],
            ),
            ("both streams", End::Ran(&EXIT_0), split("out\n", "err\n")),
            (
                "both streams, no newlines",
                End::Ran(&EXIT_3),
                split("out", "err"),
            ),
            ("stderr only", End::Ran(&EXIT_3), split("", "err\n")),
        ];
        insta::assert_snapshot!(
            format!("table_{}", profile.name.as_str()),
            document(profile, &cases)
        );
    }
}

#[test]
fn every_way_of_being_cut() {
    use TruncatedBy::{Bytes, HeadTail, LineLength, Lines};
    let binary = |artifact_id: Option<u64>| Printed {
        head: String::new(),
        tail: String::new(),
        summary: OutputSummary {
            total_bytes: 12_595,
            truncated: true,
            binary: true,
            ..OutputSummary::default()
        },
        ..cut(StreamId::Merged, Bytes, &[], artifact_id)
    };
    let capped = Printed {
        artifact: Some(artifact(5, StreamId::Stdout, false)),
        ..cut(StreamId::Stdout, Lines, &[[1, 1], [8432, 8432]], None)
    };
    let timed_out = Status::TimedOut { after_ms: 30_000 };
    for profile in profiles::ALL {
        let first = match profile.streams {
            agent_bash_core::Streams::Merged => StreamId::Merged,
            agent_bash_core::Streams::Split => StreamId::Stdout,
        };
        let ranges = [[8400, 8432]];
        let cases = [
            (
                "bytes",
                End::Ran(&EXIT_0),
                vec![cut(first, Bytes, &ranges, Some(3))],
            ),
            (
                "bytes, no artifact",
                End::Ran(&EXIT_0),
                vec![cut(first, Bytes, &ranges, None)],
            ),
            (
                "bytes, exit 3",
                End::Ran(&EXIT_3),
                vec![cut(first, Bytes, &ranges, Some(3))],
            ),
            (
                "bytes, timeout",
                End::Ran(&timed_out),
                vec![cut(first, Bytes, &ranges, Some(3))],
            ),
            (
                "both streams",
                End::Ran(&EXIT_0),
                vec![
                    cut(StreamId::Stdout, Bytes, &ranges, Some(3)),
                    cut(StreamId::Stderr, Bytes, &ranges, Some(4)),
                ],
            ),
            (
                "lines, capped file",
                End::Ran(&EXIT_0),
                vec![capped.clone()],
            ),
            (
                "head or tail",
                End::Ran(&EXIT_0),
                vec![cut(first, HeadTail, &[[1, 2]], Some(3))],
            ),
            (
                "long lines",
                End::Ran(&EXIT_0),
                vec![cut(first, LineLength, &[[1, 2]], Some(3))],
            ),
            ("binary", End::Ran(&EXIT_0), vec![binary(Some(3))]),
            ("binary, no artifact", End::Ran(&EXIT_3), vec![binary(None)]),
        ];
        insta::assert_snapshot!(
            format!("cut_{}", profile.name.as_str()),
            document(profile, &cases)
        );
    }
}

#[test]
fn standard_shows_notices_that_change_what_a_model_believes_and_the_others_keep_them_in_the_data() {
    let survivor = Survivor {
        pid: 12,
        command: "sleep 300".into(),
        holds_output: true,
        job: None,
    };
    let notices: Vec<Notice> = [
        NoticeKind::Survivors {
            survivors: vec![survivor],
        },
        NoticeKind::FieldRenamed {
            given: "cmd".into(),
            used: "command".into(),
        },
        NoticeKind::TimeoutClamped {
            asked_ms: 7_200_000,
            used_ms: 3_600_000,
        },
        NoticeKind::FailedStage {
            stage: 1,
            code: 2,
            stages: vec![Stage { code: 2 }, Stage { code: 0 }],
        },
    ]
    .map(Notice::from)
    .into();
    let printed = [cut(
        StreamId::Merged,
        TruncatedBy::Bytes,
        &[[8400, 8432]],
        Some(3),
    )];
    let shown = text(&profiles::STANDARD, End::Ran(&EXIT_3), &printed, &notices);
    insta::assert_snapshot!("standard_notices", shown);
    for profile in [&profiles::MODES, &profiles::PAGED, &profiles::WORKSPACE] {
        assert_eq!(
            text(profile, End::Ran(&EXIT_3), &printed, &notices),
            ran(profile, &EXIT_3, &printed),
            "{:?}",
            profile.name
        );
    }
}

#[test]
fn workspace_cuts_the_two_streams_joined_and_never_inside_a_character() {
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
