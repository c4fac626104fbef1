//! Every state of the cards, at three widths, with styles.

use crate::dump::{dump_at_widths, of_rows};
use agent_bash_core::{
    ArtifactId, ArtifactRef, JobId, Notice, NoticeKind, Status, StreamId, Survivor, Timestamp,
    ToolResult, TruncatedBy,
};
use agent_bash_render::{
    BangCard, CardState, FooterLine, OutputLimits, OutputPage, OutputText, RefusalView,
    StoredOutput, Theme, ToolCard,
};
use std::fmt::Write as _;
use std::time::Duration;

fn result(status: Status, text: &str) -> ToolResult {
    let mut result = ToolResult::new(status, text, Timestamp(0));
    result.duration_ms = 1234.5;
    result
}

fn numbered(count: usize) -> String {
    let line = |n| format!("line {n} of the output\n");
    (1..=count).map(line).collect::<Vec<_>>().concat()
}

fn printed(command: &str, output: &str, status: Status) -> ToolCard {
    let mut card = ToolCard::new(command);
    card.timeout = Some(Duration::from_secs(300));
    card.output.push(output.as_bytes());
    card.finish(&result(status, output), None);
    card
}

/// All states by name.
#[expect(clippy::too_many_lines, reason = "a table")]
fn tool_cards() -> Vec<(&'static str, ToolCard, bool)> {
    let ok = Status::Exited { code: 0 };
    let done = |command: &str, output: &str| printed(command, output, Status::Exited { code: 0 });
    let mut running = ToolCard::new("cargo test --workspace");
    running.timeout = Some(Duration::from_secs(900));
    running.elapsed = Duration::from_millis(3200);
    running
        .output
        .push(b"\x1b[1;32m   Compiling\x1b[0m agent-bash v0.1.0\r\n\x1b[1;32m    Finished\x1b[0m");
    let mut waiting = ToolCard::new("python3");
    waiting.state = CardState::WaitingForInput;
    waiting.elapsed = Duration::from_secs(70);
    waiting.output.push(b">>> ");
    let mut unanswered = ToolCard::new("curl localhost");
    unanswered.state = CardState::WaitingForAnswer;
    unanswered.timeout = Some(Duration::from_secs(8));
    unanswered.host_lines = vec![FooterLine::Notice("outside of the sandbox".to_owned())];
    let mut elsewhere = done("make all", "done\n");
    elsewhere.directory = Some("crates/core".to_owned());

    let mut truncated = done("seq 5000", &numbered(200));
    let mut of_truncated = result(ok.clone(), "");
    of_truncated.output.total_bytes = 98765;
    of_truncated.output.total_lines = 5000;
    of_truncated.output.shown_lines = 2000;
    of_truncated.output.shown_bytes = 51_200;
    of_truncated.output.truncated = true;
    of_truncated.output.truncated_by = Some(TruncatedBy::Bytes);
    let artifact = ArtifactRef::new(ArtifactId(3), "/state/3", StreamId::Merged);
    of_truncated.artifacts = vec![artifact];
    truncated.finish(&of_truncated, None);
    let mut paged = done("seq 5000", "");
    paged.finish(&of_truncated, None);
    paged.page = Some(OutputPage {
        text: OutputText::of(OutputLimits::CARD, "401\n402\n403\n"),
        first_line: 401,
        total_lines: 5000,
    });

    // `tail` selected its part, so nothing is missing. A failed command names the file with all of
    // its output.
    let mut of_tail = result(ok.clone(), "4999\n5000\n");
    of_tail.output.total_bytes = 23_893;
    of_tail.output.truncated = true;
    of_tail.output.truncated_by = Some(TruncatedBy::HeadTail);
    let mut tail = done("seq 5000 | tail -2", &numbered(200));
    tail.finish(&of_tail, None);
    let failed = Status::Exited { code: 2 };
    let mut of_failed = of_tail.clone();
    of_failed.status = failed.clone();
    "4999\n5000\n\n[Showing lines 4999-5000 of 5000. Full: artifact://3]"
        .clone_into(&mut of_failed.text);
    of_failed.artifacts.clone_from(&of_truncated.artifacts);
    let mut failed_tail = printed("(seq 5000; exit 2) | tail -2", &numbered(200), failed);
    failed_tail.finish(&of_failed, None);

    let noise = b"\xff\x01\xc3\x28\n\xfe";
    let mark = "[Binary output: 34.8KB, not shown]";
    let mut binary_live = ToolCard::new("cat /bin/true");
    binary_live.output.push(noise);
    binary_live.output.show_instead(Some(mark));
    let mut binary = ToolCard::new("cat /bin/true");
    binary.output.push(noise);
    let text = format!("{mark}\n\n[Full: artifact://3]");
    let mut of_binary = result(ok.clone(), &text);
    of_binary.output = of_truncated.output.clone();
    of_binary.output.binary = true;
    of_binary.artifacts.clone_from(&of_truncated.artifacts);
    binary.finish(&of_binary, None);

    let mut survivors = done("npm run dev & sleep 1", "ready\n");
    let mut of_survivors = result(ok, "");
    let mut survivor = Survivor::new(4711, "node server.js\n\u{1b}[31m--port 3000", true);
    survivor.job = Some(JobId("2".to_owned()));
    of_survivors.survivors = vec![survivor];
    of_survivors.notices = vec![Notice::from(NoticeKind::TimeoutClamped {
        asked_ms: 7_200_000,
        used_ms: 3_600_000,
    })];
    survivors.finish(&of_survivors, None);

    let mut blocked = ToolCard::new("cat README.md");
    let mut of_blocked = result(
        Status::Blocked {
            rule: "read".to_owned(),
            suggested_tool: Some("read".to_owned()),
        },
        "Blocked: use the read tool\n\nOriginal command: cat README.md",
    );
    of_blocked.suggested_tool = Some("read".to_owned());
    let refused = RefusalView {
        marked: vec![("cat README.md".to_owned(), "^^^^^^^^^^^^^".to_owned())],
        alternative: Some("read the file with the tool that shows line numbers".to_owned()),
        ..RefusalView::new("use the read tool")
    };
    blocked.finish(&of_blocked, Some(refused));

    let mut background = ToolCard::new("npm run dev");
    let status = Status::MovedToBackground {
        job: JobId("3".to_owned()),
        pid: 99,
        pgid: 99,
        output: "/state/jobs/3/output".to_owned(),
    };
    let text = "Started in the background as job 3 (pid 99). Output: /state/jobs/3/output";
    background.finish(&result(status, text), None);
    let reason = || "no such shell: /bin/none".to_owned();
    let mut not_started = ToolCard::new("true");
    let of_not_started = result(Status::NotStarted { reason: reason() }, &reason());
    not_started.finish(&of_not_started, None);

    let signaled = Status::Signaled {
        signal: "SIGKILL".to_owned(),
        number: 9,
    };
    vec![
        ("running", running, false),
        ("waiting", waiting, false),
        ("asked", unanswered, false),
        ("succeeded", elsewhere, false),
        ("silent", done("true", ""), false),
        ("collapsed", done("seq 100", &numbered(100)), false),
        ("expanded", done("seq 15", &numbered(15)), true),
        ("paged", paged, true),
        ("binary_live", binary_live, false),
        ("binary", binary, true),
        ("part_asked_for", tail, false),
        ("part_of_failed", failed_tail, false),
        ("truncated", truncated, false),
        (
            "failed",
            printed(
                "make",
                "\x1b[31merror\x1b[0m: no rule\n",
                Status::Exited { code: 2 },
            ),
            false,
        ),
        ("signaled", printed("./crash", "", signaled), false),
        (
            "timed_out",
            printed("sleep 999", "one\n", Status::TimedOut { after_ms: 300_000 }),
            false,
        ),
        (
            "cancelled",
            printed("sleep 999", "one\n", Status::Cancelled),
            false,
        ),
        ("lost", printed("x", "", Status::lost(reason())), false),
        ("survivors", survivors, false),
        ("blocked", blocked, false),
        ("background", background, false),
        ("not_started", not_started, false),
        (
            "many_lines",
            done(
                "for i in 1 2 3; do\n\techo $i\n  date\ndone\necho one\necho two\necho end",
                "1\n",
            ),
            false,
        ),
        (
            "many_lines_expanded",
            done(
                "for i in 1 2 3; do\n\techo $i\n  date\ndone\necho end",
                "1\n",
            ),
            true,
        ),
        (
            "wide",
            done(
                "echo 你好",
                "你好你好你好你好你好你好你好你好你好你好你好你好\ne\u{301}👩‍👩‍👧 tab\tend\n",
            ),
            false,
        ),
    ]
}

fn bang_cards() -> Vec<(&'static str, BangCard, bool)> {
    let card = |command: &str, excluded, output: &str, state| {
        let mut card = BangCard::new(command, excluded);
        card.output.push(output.as_bytes());
        card.state = state;
        card.elapsed = Duration::from_millis(1234);
        card
    };
    let signaled = || {
        let signal = "SIGKILL".to_owned();
        CardState::Ended(Status::Signaled { signal, number: 9 })
    };
    let exited = |code| CardState::Ended(Status::Exited { code });
    let ok = || exited(0);
    let reason = || "no shell".to_owned();
    let mut truncated = card("seq 9999", false, &numbered(30), ok());
    truncated.stored = Some(StoredOutput {
        uri: Some("artifact://7".to_owned()),
        first: None,
        shown: [51_200, 100_000],
    });
    let mut hidden = card("seq 9999", true, &numbered(3), ok());
    hidden.stored.clone_from(&truncated.stored);
    let mut binary = card("cat x", false, "\u{1}\u{fffd}", ok());
    binary
        .output
        .show_instead(Some("[Binary output: 4.9KB, not shown]"));
    binary.stored.clone_from(&truncated.stored);
    let mut reset = card("kill -9 $$", false, "", signaled());
    let text = "The session's shell was reset: it was killed".to_owned();
    reset.footer = vec![FooterLine::Notice(text)];
    vec![
        ("bang_binary", binary, true),
        ("bang_reset", reset, false),
        (
            "bang_running",
            card("make", false, "\x1b[36mone\x1b[0m\ntwo", CardState::Running),
            false,
        ),
        (
            "bang_done",
            card("ls", false, "a.txt\nb.txt\n", ok()),
            false,
        ),
        (
            "bang_excluded",
            card("ls", true, "a.txt\nb.txt\n", ok()),
            false,
        ),
        (
            "bang_collapsed",
            card("seq 30", false, &numbered(30), ok()),
            false,
        ),
        (
            "bang_expanded",
            card("seq 30", false, &numbered(30), ok()),
            true,
        ),
        (
            "bang_long_line",
            card("x", false, &"y".repeat(5000), ok()),
            false,
        ),
        ("bang_failed", card("false", false, "", exited(1)), false),
        (
            "bang_unknown",
            card("x", false, "", CardState::Ended(Status::lost(reason()))),
            false,
        ),
        (
            "bang_cancelled",
            card(
                "sleep 9",
                false,
                "so far\n",
                CardState::Ended(Status::Cancelled),
            ),
            false,
        ),
        (
            "bang_error",
            card(
                "x",
                false,
                "",
                CardState::Ended(Status::NotStarted { reason: reason() }),
            ),
            false,
        ),
        ("bang_truncated", truncated, false),
        ("bang_truncated_hidden", hidden, false),
    ]
}

fn assert_shown(name: &str, rows: impl Fn(u16) -> Vec<ratatui::text::Line<'static>>) {
    let all = dump_at_widths(|width| of_rows(&rows(width), width));
    insta::assert_snapshot!(name, all);
}

#[test]
fn tool_card_is_drawn_as_in_its_snapshots() {
    let theme = Theme::dark();
    for (name, card, expanded) in tool_cards() {
        assert_shown(name, |width| {
            card.rows(width, expanded, 0, usize::MAX, &theme)
        });
    }
}

#[test]
fn bang_card_is_drawn_as_in_its_snapshots() {
    let theme = Theme::dark();
    for (name, card, expanded) in bang_cards() {
        assert_shown(name, |width| {
            card.rows(width, expanded, 0, usize::MAX, &theme)
        });
    }
}

/// The column at which the durations of all cards end: the rail, 11 columns of an outcome, and 7 of
/// a duration.
const DURATIONS_END: usize = 2 + 11 + 7;

#[test]
fn durations_are_aligned_on_all_cards() {
    let theme = Theme::plain();
    let tools = tool_cards()
        .into_iter()
        .map(|(name, card, expanded)| (name, card.rows(80, expanded, 0, usize::MAX, &theme)));
    let bangs = bang_cards().into_iter().map(|(name, card, expanded)| {
        let mut rows = card.rows(80, expanded, 0, usize::MAX, &theme);
        // The rule below the card.
        rows.pop();
        (name, rows)
    });
    let mut shown = 0;
    for (name, rows) in tools.chain(bangs) {
        let foot: Vec<char> = rows.last().unwrap().to_string().chars().collect();
        // Nothing ran.
        if [
            "asked", "blocked", "background", "not_started", "bang_error",
        ]
        .contains(&name)
        {
            continue;
        }
        let before = foot[..DURATIONS_END].iter().collect::<String>();
        assert!(before.ends_with('s'), "{name}: {before:?}");
        assert!(
            matches!(foot.get(DURATIONS_END), None | Some(' ')),
            "{name}: {foot:?}"
        );
        shown += 1;
    }
    assert!(shown > 25, "{shown}");
}

fn texts(card: &ToolCard, expanded: bool) -> Vec<String> {
    let rows = card.rows(100, expanded, 0, usize::MAX, &Theme::plain());
    rows.iter().map(ToString::to_string).collect()
}

/// `seq 1 3000000 | head -n 100000`: the live output continues after the last line that `head` lets
/// through, and the part before is cut by size.
#[test]
fn rows_that_a_filter_would_have_dropped_are_not_shown() {
    let mut rows = String::new();
    for n in 91_479..=100_000 {
        let _ = writeln!(rows, "{n}");
    }
    let text = format!(
        "{rows}\n[Showing lines 91479-100000 of 262218 (50.0KB limit). Full: artifact://3]"
    );
    let mut ended = result(Status::Exited { code: 0 }, &text);
    ended.output.total_bytes = 1_700_000;
    ended.output.total_lines = 262_218;
    ended.output.shown_lines = 8522;
    ended.output.shown_bytes = 51_132;
    ended.output.shown_ranges = vec![[91_479, 100_000]];
    ended.output.truncated = true;
    ended.output.truncated_by = Some(TruncatedBy::Bytes);
    let filter = "head -n 100000".to_owned();
    let lifted = NoticeKind::Lifted { filter };
    // The user typed the `head` that ends the command.
    let satisfied = NoticeKind::HeadSatisfied { lines: 100_000 };
    ended.notices = vec![Notice::from(lifted), Notice::from(satisfied)];
    let artifact = ArtifactRef::new(ArtifactId(3), "/state/3", StreamId::Stdout);
    ended.artifacts = vec![artifact];
    let mut card = ToolCard::new("seq 1 3000000 | head -n 100000");
    card.output.push(b"262217\n262218\n26");
    card.collapsed_rows = 2;
    card.finish(&ended, None);
    assert!(card.plain().ends_with("\n100000\n"));
    assert_eq!(
        texts(&card, false)[1..],
        [
            "│ … 99998 rows above · ctrl+o expands the last 8522",
            "│ 99999",
            "│ 100000",
            "│ [the model saw 49.9 KB · ctrl+f shows all that `head -n 100000` was given: artifact://3]",
            "╰ exit 0        1.2s",
        ]
    );
    assert_eq!(
        texts(&card, true)[1],
        "│ … (91478 earlier lines are not stored)"
    );
    let mut long = ToolCard::new("x");
    long.output.push("y".repeat(40_000).as_bytes());
    let shown = texts(&long, false);
    assert!(shown[1].contains("rows above · ctrl+o expands the last "));
    // An artifact has a maximum size.
    ended.artifacts[0].complete = false;
    ended.artifacts[0].bytes = 100 << 20;
    for (notices, want) in [
        (
            ended.notices.clone(),
            "│ [the model saw 49.9 KB · ctrl+f shows the first 100 MB of what `head -n 100000` was given:",
        ),
        (
            Vec::new(),
            "│ [the model saw 49.9 KB of 1.6 MB · ctrl+f shows the first 100 MB: artifact://3]",
        ),
    ] {
        ended.notices = notices;
        card.finish(&ended, None);
        let shown = texts(&card, false);
        assert!(shown.iter().any(|row| row == want), "{shown:#?}");
    }
}

#[test]
fn long_command_has_three_rows_and_all_on_an_expanded_card() {
    let command = "for file in *.rs; do rustfmt --check \"$file\" || echo \"not formatted: $file\"; done; cargo test --workspace --all-features";
    let rows = |card: &ToolCard, expanded| -> Vec<String> {
        let rows = card.rows(40, expanded, 0, usize::MAX, &Theme::dark());
        let rows = rows.iter().map(ToString::to_string);
        rows.take_while(|row| !row.starts_with('╰')).collect()
    };
    let card = ToolCard::new(command);
    let shown = rows(&card, false);
    assert_eq!(shown.len(), 3, "{shown:#?}");
    assert!(
        shown[0].ends_with(" $ for file in *.rs; do rustfmt --check"),
        "{shown:#?}"
    );
    let expanded = rows(&card, true);
    assert_eq!(shown[..2], expanded[..2], "{expanded:#?}");
    assert!(
        shown[2].ends_with('…') && expanded.len() > 3,
        "{expanded:#?}"
    );
    assert!(
        expanded.last().unwrap().ends_with("--all-features"),
        "{expanded:#?}"
    );
    // Each of several lines has one row, as far as there are enough rows.
    let card = ToolCard::new(format!("{command}\nls\npwd\n"));
    let shown = rows(&card, false);
    assert!(shown[0].ends_with('…'), "{shown:#?}");
    assert_eq!(shown[1..], ["│   ls", "│   pwd"]);
}

#[test]
fn failed_producer_is_reported_once() {
    let text = "99\n100\n\n[Showing lines 99-100 of 100. Full: artifact://3]\n\nCommand exited with code 1";
    let mut ended = result(Status::Exited { code: 1 }, text);
    ended.output.total_lines = 100;
    ended.output.truncated = true;
    ended.output.truncated_by = Some(TruncatedBy::HeadTail);
    let filter = "tail -2".to_owned();
    ended.notices = vec![Notice::from(NoticeKind::Lifted { filter })];
    let artifact = ArtifactRef::new(ArtifactId(3), "/state/3", StreamId::Stdout);
    ended.artifacts = vec![artifact];
    let mut card = ToolCard::new("(seq 100; exit 1) | tail -2");
    card.output.push(numbered(100).as_bytes());
    card.finish(&ended, None);
    assert_eq!(
        texts(&card, false)[1..],
        [
            "│ 99",
            "│ 100",
            "│ → ctrl+f shows all that `tail -2` was given",
            "╰ exit 1        1.2s",
        ]
    );
}

#[test]
fn states_differ_without_colour() {
    let theme = Theme::plain();
    let mut shown: Vec<(String, &str)> = Vec::new();
    for (name, card, expanded) in tool_cards() {
        let rows = card.rows(80, expanded, 0, usize::MAX, &theme);
        assert!(
            rows.iter()
                .flat_map(|row| &row.spans)
                .all(|span| span.style.fg.is_none()),
            "{name}"
        );
        let text = rows
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        if let Some((_, other)) = shown.iter().find(|(shown, _)| *shown == text) {
            panic!("{name} looks like {other}:\n{text}");
        }
        shown.push((text, name));
    }
}

#[test]
fn window_of_a_card_is_a_part_of_it() {
    let theme = Theme::dark();
    let tools = tool_cards();
    for (name, card, _) in &tools {
        for expanded in [false, true] {
            let all = card.rows(40, expanded, 0, usize::MAX, &theme);
            assert_eq!(all.len(), card.height(40, expanded, &theme), "{name}");
            for skip in 0..=all.len() {
                let most = 7.min(all.len() - skip);
                let part = card.rows(40, expanded, skip, 7, &theme);
                assert_eq!(part, all[skip..skip + most], "{name} from {skip}");
            }
        }
    }
}

#[test]
fn card_from_the_top_shows_its_first_rows() {
    let mut card = ToolCard::new("git log");
    card.from_top = true;
    let show = |card: &mut ToolCard, lines: usize| -> Vec<String> {
        card.output = OutputText::of(OutputLimits::CARD, &numbered(lines));
        let rows = card.rows(60, false, 0, 100, &Theme::plain());
        rows.iter().map(ToString::to_string).collect()
    };
    let rows = show(&mut card, 40);
    let first = numbered(1);
    assert!(rows[1].ends_with(first.trim_end()), "{rows:?}");
    let hint = "│ … 30 rows below · ctrl+o expands all 40";
    assert_eq!(rows[11], hint, "{rows:?}");
    // Few rows are shown rather than counted.
    let rows = show(&mut card, 12);
    assert!(!rows.concat().contains("below"), "{rows:?}");
    assert_eq!(card.height(60, false, &Theme::plain()), rows.len());
}
