//! Readable cases: input and expected output.

use super::fixtures::{MemoryStore, end, meta, run, whole};
use agent_bash_core::{
    ArtifactEnd, ConsumerFlow, Direction, OutputConsumer, OutputLimits, Status, StreamId, Streams,
    TruncatedBy, Truncation,
};
use agent_bash_sink::{
    CallOptions, CallOutput, CallReport, CarriageReturn, CleanPiece, OutputSink, ShownOutput,
    SinkOptions, SinkReport,
};
use std::num::NonZeroU64;
use std::sync::Arc;

const TAIL_20: Truncation = Truncation::Tail { bytes: 20 };

fn report(bytes: &[u8], limit: impl FnOnce(&mut SinkOptions)) -> SinkReport {
    let mut options = whole(CarriageReturn::Overwrite);
    limit(&mut options);
    run(options, bytes.chunks(3)).0
}

fn with_policy(bytes: &str, policy: Truncation) -> SinkReport {
    report(bytes.as_bytes(), |options| {
        options.limits.truncation = policy;
    })
}

fn texts(report: &SinkReport) -> Vec<&str> {
    report
        .shown
        .pieces()
        .map(|piece| piece.text.as_str())
        .collect()
}

fn lines(n: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(n)
}

#[test]
fn cleaning() {
    for (raw, want) in [
        (&b"plain\ttext\n"[..], "plain\ttext\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"a\r\r\nb", "a\nb"),
        (b"10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        (b"50%\r", "50%"),
        (b"50%\r\x1b[K\n", "50%\n"),
        (b"abc\rX\n", "X\n"),
        (b"\x1b[1;31mred\x1b[0m\n", "red\n"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP1;2|dcs\x1b\\text", "text"),
        (b"\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\text", "text"),
        (b"\x1b(Btext\x1b=\x1b7", "text"),
        (b"\x1b[3\n1mtext", "\ntext"),
        (b"\x1b[1?2mtext", "text"),
        ("\u{9b}31mtext".as_bytes(), "31mtext"),
        // An unterminated OSC: only its line is lost.
        (b"\x1b]0;title\nnext\n", "\nnext\n"),
        (b"\x1b_half\nnext", "\nnext"),
        (b"\x1b\x7f]0;title\nnext\n", "\nnext\n"),
        // An unterminated DCS behaves alike.
        (
            b"a\n\x1bP\none\nerror: important\n",
            "a\n\none\nerror: important\n",
        ),
        (b"a\x07bc\x0bd\x7fe", "abcde"),
        // Overstriking: bold and underlined, as `man` prints it.
        (b"N\x08NA\x08AM\x08ME\x08E _\x08x\n", "NAME x\n"),
        ("é\u{8}é".as_bytes(), "é"),
        (b"|\x08/\x08-\x08\\\x08 \x08done\n", "done\n"),
        // Cells that are not overwritten stay.
        (b"abc\x08\x08X\n", "aXc\n"),
        (b"abc\x08\x08\n", "abc\n"),
        (b"abc\x08\x08\x1b[K\n", "a\n"),
        (b"ab\x08\x08\x08\x08xyz", "xyz"),
        (b"ab\nc\x08\x08d", "ab\nd"),
        // How npm and vitest redraw a line.
        (
            b"\x1b[1G\x1b[0K|\x1b[1G\x1b[0K/\x1b[1G\x1b[0Kadded 3 packages\n",
            "added 3 packages\n",
        ),
        (b"RUN 1\x1b[2K\x1b[GRUN 2\n", "RUN 2\n"),
        (b"col\x1b[2Gx\n", "cxl\n"),
        // NULs as separators, and too many of them.
        (b"a\0b\0\0c\n", "a␀b␀␀c\n"),
        (
            b"0123456789abcdef\0\0\0\0\0\0\0\0\0\0\0\0z",
            "0123456789abcdef␀␀␀␀␀␀␀␀…z",
        ),
        // CR line ends, as on an old Mac.
        (b"one\rtwo\rthree\r", "one\ntwo\nthree"),
        // Joiners are spelling in these and hide something in the last.
        (
            "می\u{200c}خواهم 👨\u{200d}👩\u{200d}👧 \u{200d} pay\u{200d}pal".as_bytes(),
            "می\u{200c}خواهم 👨\u{200d}👩\u{200d}👧 <U+200D> pay<U+200D>pal",
        ),
        // A variation selector is spelling, too, once after the character that it changes.
        (
            "1\u{fe0f}\u{20e3} 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}\u{fe0f} a\u{fe0f}".as_bytes(),
            "1\u{fe0f}\u{20e3} 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}<U+FE0F> a<U+FE0F>",
        ),
        (b"a\xffb\xe4\xb8c", "a\u{fffd}b\u{fffd}c"),
        (b"caf\xc3\xa9 \xf0\x9f\x99\x82", "café 🙂"),
        ("a\u{202e}b\u{200b}c".as_bytes(), "a<U+202E>b<U+200B>c"),
        (b"half \xe4\xb8", "half \u{fffd}"),
        (b"half \x1b[3", "half "),
    ] {
        assert_eq!(texts(&report(raw, |_| ())), [want], "{raw:?}");
    }
}

#[test]
fn lone_carriage_return_ends_the_line_in_terminal_mode() {
    let terminal = |bytes| {
        report(bytes, |options| {
            options.carriage_return = CarriageReturn::Newline;
        })
    };
    for (raw, want) in [
        (&b"a\rb\r\nc\r\r\nd\r"[..], "a\nb\nc\nd\n"),
        (b"\r\x1b[0m\nx", "\nx"),
    ] {
        assert_eq!(texts(&terminal(raw)), [want], "{raw:?}");
    }
}

#[test]
fn unterminated_control_string_ends_at_its_limit() {
    let mut raw = b"\x1bP".to_vec();
    raw.resize((1 << 20) + 2, b'q');
    raw.extend(b"shown\n");
    assert_eq!(
        texts(&run(whole(CarriageReturn::Overwrite), raw.chunks(5000)).0),
        ["shown\n"]
    );
}

#[test]
fn binary_output_is_replaced_by_a_note() {
    let filler = b"x".repeat(8191);
    let nul_at = |at: usize| {
        let mut bytes = filler.clone();
        bytes.insert(at, 0);
        bytes
    };
    let noise: Vec<u8> = (0..999_u32)
        .map(|n| ((n * n * 31) >> 3) as u8 | 1)
        .collect();
    for (raw, binary) in [
        // NULs as separators are text; only long runs are binary.
        (nul_at(0), false),
        (b"./a\0./b\0".to_vec(), false),
        (b"a\0b\0c\0d\0".to_vec(), false),
        (vec![0; 100], true),
        ([vec![0; 100], filler.clone()].concat(), false),
        (b"\x01\0\0\0\x02\0\0\0".repeat(20), true),
        (b"\xff\xfe\xfd".to_vec(), true),
        (b"caf\xe9".to_vec(), false),
        (b"\xe9\n".to_vec(), false),
        (b"a\xe9".repeat(63), false),
        (b"a\xe9".repeat(64), true),
        (b"ab\xe9".repeat(64), false),
        (noise, true),
        (b"\x1b[31m\x1b[0m".to_vec(), false),
        (b"".to_vec(), false),
    ] {
        let (report, kept) = run(whole(CarriageReturn::Overwrite), raw.chunks(100));
        assert_eq!(report.summary.binary, binary, "{raw:?}");
        assert_eq!(matches!(report.shown, ShownOutput::Binary), binary);
        if binary {
            assert_eq!(kept, [raw]);
            assert_eq!(report.summary.dropped_bytes, report.summary.total_bytes);
            assert_eq!(report.summary.shown_bytes, 0);
        }
    }
}

#[test]
fn tail_begins_at_a_line_start() {
    let cut = with_policy("first\nseconds\nthird\nfourth\n", TAIL_20);
    assert_eq!(texts(&cut), ["third\nfourth\n"]);
    assert_eq!(cut.summary.shown_ranges, [[3, 4]]);
    assert_eq!(cut.summary.dropped_bytes, 14);
    assert_eq!(
        (cut.summary.truncated_by, cut.summary.direction),
        (Some(TruncatedBy::Bytes), Direction::Tail)
    );
    // Exactly on the boundary.
    assert_eq!(
        texts(&with_policy("1\n3456789\n123456789\n", TAIL_20)),
        ["1\n3456789\n123456789\n"]
    );
    assert_eq!(
        texts(&with_policy("x\n3456789\n0123456789\n", TAIL_20)),
        ["3456789\n0123456789\n"]
    );
}

#[test]
fn dropped_output_is_counted_in_raw_bytes() {
    let head = |bytes| Truncation::Head {
        bytes,
        whole_lines: false,
    };
    let tail = |bytes| Truncation::Tail { bytes };
    for (raw, policy, shown, dropped) in [
        // A stand-in is longer than the bytes it replaces,
        ("a\u{202e}bcdef", head(9), "a<U+202E>", 5),
        ("a\u{202e}bcdef", head(10), "a<U+202E>b", 4),
        ("a\u{202e}\x1b[0mbc", head(9), "a<U+202E>", 6),
        // and text is shorter than with its colours, which belong to the text after them.
        ("\x1b[31mab\x1b[0mcd", head(2), "ab", 6),
        ("\x1b[31mab\x1b[0mcd", tail(2), "cd", 7),
        ("\x1b[31mab\x1b[0m\r\ncd\n", tail(3), "cd\n", 13),
        ("ab\n\x1b[31mcd\n", tail(3), "cd\n", 3),
        ("10%\r20%\nab\n", tail(3), "ab\n", 8),
        ("ab\n10%\r20%\n", tail(4), "20%\n", 3),
    ] {
        let cut = with_policy(raw, policy);
        assert_eq!(texts(&cut), [shown], "{raw:?} {policy:?}");
        assert_eq!(cut.summary.dropped_bytes, dropped, "{raw:?} {policy:?}");
    }
}

#[test]
fn line_longer_than_the_window_is_cut_and_marked() {
    let cut = with_policy("short\n0123456789012345678901234567890\n", TAIL_20);
    let piece = cut.shown.pieces().next().unwrap();
    assert_eq!(piece.marked(), "[12 bytes omitted] …2345678901234567890\n");
    assert_eq!(piece.lines, Some([2, 2]));
    let both = Truncation::HeadTail {
        max_bytes: 20,
        max_lines: 9,
        head_lines: 3,
        tail_lines: 3,
    };
    let cut = with_policy("0123456789012345678901234567890", both);
    let marked: Vec<String> = cut.shown.pieces().map(CleanPiece::marked).collect();
    assert_eq!(
        marked,
        [
            "0123456789… [11 bytes omitted]",
            "[11 bytes omitted] …1234567890"
        ]
    );
    assert_eq!(cut.summary.shown_ranges, [[1, 1]]);
    assert_eq!((cut.summary.shown_lines, cut.summary.dropped_lines), (1, 0));
}

#[test]
fn middle_is_omitted_only_beyond_the_maximum() {
    let policy = Truncation::Middle { max: 10, ends: 4 };
    assert_eq!(texts(&with_policy("0123456789", policy)), ["0123456789"]);
    assert_eq!(texts(&with_policy("0123456789a", policy)), ["0123", "789a"]);
    assert_eq!(texts(&with_policy("ab中中中中", policy)), ["ab", "中"]);
}

#[test]
fn head_and_tail_are_whole_lines_without_overlap() {
    let policy = Truncation::HeadTail {
        max_bytes: 1000,
        max_lines: 6,
        head_lines: 2,
        tail_lines: 2,
    };
    assert_eq!(
        texts(&with_policy("1\n2\n3\n4\n5\n6", policy)),
        ["1\n2\n3\n4\n5\n6"]
    );
    let cut = with_policy("1\n2\n3\n4\n5\n6\n7", policy);
    assert_eq!(texts(&cut), ["1\n2\n", "6\n7"]);
    assert_eq!(cut.summary.shown_ranges, [[1, 2], [6, 7]]);
    assert_eq!(cut.summary.truncated_by, Some(TruncatedBy::Lines));
    let policy = Truncation::HeadTail {
        max_bytes: 12,
        max_lines: 99,
        head_lines: 9,
        tail_lines: 9,
    };
    let cut = with_policy("1aa\n2bb\n3cc\n4dd\n5ee\n", policy);
    assert_eq!(texts(&cut), ["1aa\n", "5ee\n"]);
    assert_eq!(cut.summary.truncated_by, Some(TruncatedBy::Bytes));
}

#[test]
fn carriage_return_removes_no_earlier_line() {
    // The overwritten text is longer than the window and lost; the text before it is not.
    let raw = format!("first\nsecond\n{}\rlast\n", "x".repeat(500));
    assert_eq!(
        texts(&with_policy(&raw, TAIL_20)),
        ["first\nsecond\nlast\n"]
    );
}

#[test]
fn overwriting_is_reported_if_only_blanks_were_kept() {
    let nothing = Truncation::Middle { max: 0, ends: 0 };
    let raw = format!("{} \r{}\n", "x".repeat(40), "y".repeat(20));
    assert!(with_policy(&raw, nothing).overwritten);
    let blank = format!("{}\r{}\n", " ".repeat(40), "y".repeat(20));
    assert!(!with_policy(&blank, nothing).overwritten);
    // The only visible character was removed before, and replacing an underscore loses nothing.
    let taken = format!("_\x08 {}\r{}\n", " ".repeat(40), "y".repeat(20));
    assert!(!with_policy(&taken, TAIL_20).overwritten);
}

#[test]
fn long_lines_are_clamped() {
    let clamped = |raw: &str| {
        report(raw.as_bytes(), |options| {
            options.limits.max_line_chars = Some(4);
        })
    };
    for (raw, want) in [
        ("abcd\n", "abcd\n"),
        ("abcde\n", "abcd… [1 characters omitted]\n"),
        ("äöüß\n", "äöüß\n"),
        ("äöüßxyz", "äöüß… [3 characters omitted]"),
        (
            "ab\nabcdefgh\ncd\n",
            "ab\nabcd… [4 characters omitted]\ncd\n",
        ),
        ("abcdefgh\rxy\n", "xy\n"),
        ("abc\u{202e}de\n", "abc… [3 characters omitted]\n"),
    ] {
        let report = clamped(raw);
        assert_eq!(texts(&report), [want], "{raw:?}");
        let cut = want.contains('…');
        assert_eq!(
            report.summary.truncated_by,
            cut.then_some(TruncatedBy::LineLength)
        );
        assert_eq!(report.artifact.is_some(), cut || raw.contains('\r'));
        let omitted: u64 = match raw {
            "abc\u{202e}de\n" => 5,
            _ => raw.trim_end().rsplit('\n').next().map_or(0, |_| {
                want.split("… [")
                    .nth(1)
                    .map_or(0, |n| n[..1].parse().unwrap())
            }),
        };
        assert_eq!(report.summary.dropped_bytes, omitted, "{raw:?}");
    }
}

#[test]
fn head_stops_the_producer_and_counts_the_rest() {
    let mut options = whole(CarriageReturn::Overwrite);
    options.head = lines(2);
    let mut sink = OutputSink::new(options, None, meta());
    assert_eq!(sink.push(b"1\n2"), ConsumerFlow::Continue);
    assert_eq!(sink.push(b"\n"), ConsumerFlow::Stop);
    assert_eq!(sink.push(b"3\n4"), ConsumerFlow::Stop);
    let report = sink.finish(&end());
    assert_eq!(texts(&report), ["1\n2\n"]);
    assert_eq!(
        (report.summary.total_lines, report.summary.dropped_bytes),
        (4, 3)
    );
    assert_eq!(
        (report.summary.truncated_by, report.summary.direction),
        (Some(TruncatedBy::HeadTail), Direction::Head)
    );
    assert_eq!(report.head_satisfied, Some(2));
    // Nothing was cut, so there is no note.
    let whole = self::report(b"1\n2\n", |options| options.head = lines(2));
    assert_eq!(
        (whole.head_satisfied, whole.summary.truncated),
        (None, false)
    );
}

#[test]
fn head_comes_before_tail() {
    let cut = report(b"1\n2\n3\n4\n5\n", |options| {
        options.head = lines(4);
        options.tail = lines(2);
    });
    assert_eq!(texts(&cut), ["3\n4\n"]);
    assert_eq!(cut.summary.shown_ranges, [[3, 4]]);
    assert_eq!(cut.summary.dropped_bytes, 6);
}

#[test]
fn tail_longer_than_the_policy_keeps_its_end() {
    for policy in [
        Truncation::Middle { max: 20, ends: 4 },
        Truncation::Head {
            bytes: 20,
            whole_lines: false,
        },
        TAIL_20,
        Truncation::HeadTail {
            max_bytes: 20,
            max_lines: 9,
            head_lines: 1,
            tail_lines: 1,
        },
    ] {
        let cut = report(b"first\nseconds\nthird\nfourth\n", |options| {
            options.limits.truncation = policy;
            options.tail = lines(3);
        });
        assert_eq!(texts(&cut), ["third\nfourth\n"], "{policy:?}");
        assert_eq!(cut.summary.truncated_by, Some(TruncatedBy::Bytes));
    }
}

fn call(options: CallOptions, chunks: &[(StreamId, &str)]) -> CallReport {
    call_that(options, chunks, &end())
}

fn call_that(options: CallOptions, chunks: &[(StreamId, &str)], end: &ArtifactEnd) -> CallReport {
    let mut output = CallOutput::new(options, Some(Arc::new(MemoryStore::default())), meta());
    for (stream, text) in chunks {
        output.chunk(*stream, text.as_bytes());
    }
    output.finish(end)
}

const SPLIT: CallOptions = CallOptions {
    streams: Streams::Split,
    limits: OutputLimits {
        truncation: TAIL_20,
        max_line_chars: None,
    },
    head: None,
    tail: None,
    carriage_return: CarriageReturn::Overwrite,
    share_window: false,
};

#[test]
fn streams_are_merged_or_separate() {
    let chunks = [
        (StreamId::Stdout, "out\n"),
        (StreamId::Stderr, "err\n"),
        (StreamId::Stdout, "out\n"),
    ];
    let split = call(SPLIT, &chunks);
    let shown: Vec<_> = split.reports().flat_map(texts).collect();
    assert_eq!(shown, ["out\nout\n", "err\n"]);
    assert_eq!(split.summary().shown_ranges, [[1, 2], [3, 3]]);
    assert_eq!(split.summary().total_lines, 3);
    let merged = call(
        CallOptions {
            streams: Streams::Merged,
            ..SPLIT
        },
        &chunks,
    );
    assert_eq!(texts(&merged.first), ["out\nerr\nout\n"]);
    assert_eq!(
        (merged.first.stream, merged.stderr.is_none()),
        (StreamId::Merged, true)
    );
    assert!(call(SPLIT, &[]).is_empty());
}

#[test]
fn line_limits_apply_to_stdout_only() {
    let options = CallOptions {
        head: lines(1),
        ..SPLIT
    };
    let chunks = [(StreamId::Stderr, "a\nb\n"), (StreamId::Stdout, "1\n2\n")];
    // If the command succeeded, lines that `head` and `tail` omit are not needed. If it failed,
    // they may contain the reason.
    for (code, kept) in [(0, 0), (3, 1)] {
        let end = ArtifactEnd {
            status: Status::Exited { code },
            ..end()
        };
        let report = call_that(options, &chunks, &end);
        let shown: Vec<_> = report.reports().flat_map(texts).collect();
        assert_eq!(shown, ["1\n", "a\nb\n"]);
        assert_eq!(report.artifacts().len(), kept, "{code}");
    }
}

#[test]
fn shared_window_limits_both_streams() {
    let chunks = [
        (StreamId::Stdout, "0123456789\n"),
        (StreamId::Stderr, "abcdefghij\n"),
    ];
    for (truncation, stdout, stderr) in [
        (
            Truncation::Head {
                bytes: 20,
                whole_lines: false,
            },
            "0123456789\n",
            "abcdefgh",
        ),
        (
            Truncation::Head {
                bytes: 11,
                whole_lines: false,
            },
            "0123456789\n",
            "",
        ),
        (
            Truncation::Head {
                bytes: 30,
                whole_lines: false,
            },
            "0123456789\n",
            "abcdefghij\n",
        ),
        (Truncation::Tail { bytes: 20 }, "3456789\n", "abcdefghij\n"),
    ] {
        let limits = OutputLimits {
            truncation,
            max_line_chars: None,
        };
        let report = call(
            CallOptions {
                limits,
                share_window: true,
                ..SPLIT
            },
            &chunks,
        );
        let shown: Vec<_> = report.reports().flat_map(texts).collect();
        assert_eq!(shown, [stdout, stderr], "{truncation:?}");
        let cut = stdout.len() + stderr.len() < 22;
        assert_eq!(report.summary().truncated, cut);
        assert_eq!(
            report.artifacts().len(),
            usize::from(cut),
            "what is cut for the other's sake is kept too"
        );
    }
}
