//! Compares edited lines with a terminal. The text for a model, the text on a card and the text
//! written to a terminal must equal what a terminal shows for the printed bytes.

use super::fixtures::{run, split, whole};
use super::properties::config;
use agent_bash_render::{OutputLimits, OutputText};
use agent_bash_sink::{CarriageReturn, TerminalText};
use proptest::prelude::*;
use std::num::NonZeroU16;

/// The terminal's width: larger than all lines of these tests.
const COLUMNS: NonZeroU16 = NonZeroU16::new(1000).unwrap();
const ROWS: NonZeroU16 = NonZeroU16::new(2).unwrap();

/// Generates a line with edits. Text directly after a CR is excluded, because it replaces the line.
/// Erasures after a CR are also excluded, because they keep the line (`50%\r ESC[K`).
fn edited_line() -> impl Strategy<Value = Vec<u8>> {
    let number = || prop_oneof![2 => "", 1 => "0", 5 => "[1-9]", 2 => "[12][0-9]"];
    let columns = move |last: char| number().prop_map(move |number| format!("\x1b[{number}{last}"));
    let moving = || prop_oneof![columns('C'), columns('@'), columns('P'), columns('X')];
    let piece = prop_oneof![
        6 => "[a-zé ]{1,12}",
        3 => moving(),
        2 => columns('D'),
        1 => "[2-9]|[12][0-9]".prop_map(|column| format!("\x1b[{column}G")),
        2 => "\x08{1,12}",
        1 => Just("\x1b[K".to_owned()),
        2 => moving().prop_map(|edit| format!("\r{edit}")),
        1 => Just("\x1b[1;31m".to_owned()),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().into_bytes())
}

fn on_terminal(bytes: &[u8]) -> String {
    let mut parser = vt100::Parser::new(ROWS, COLUMNS, 0);
    parser.process(bytes);
    let rows: Vec<String> = parser.screen().rows(0, COLUMNS.get()).collect();
    assert_eq!(rows[1], "", "all is on one line");
    rows[0].trim_end().to_owned()
}

/// Returns the text that the AI model gets.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let report = run(whole(CarriageReturn::Overwrite), chunks).0;
    let texts: Vec<&str> = report
        .shown
        .pieces()
        .map(|piece| piece.text.as_str())
        .collect();
    texts.concat().trim_end().to_owned()
}

/// Returns the text that a card shows.
fn on_card<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut clean = TerminalText::coloured();
    let mut card = OutputText::new(OutputLimits::CARD);
    for chunk in chunks {
        card.push(&clean.push(chunk));
    }
    card.push(&clean.finish());
    card.plain().trim_end().to_owned()
}

/// Returns the text that replaces terminal output.
fn cleaned<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut clean = TerminalText::default();
    let mut written: Vec<u8> = chunks.into_iter().flat_map(|c| clean.push(c)).collect();
    written.extend(clean.finish());
    written
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn edited_line_equals_the_terminals_line(
        line in edited_line(),
        cuts in prop::collection::vec(any::<usize>(), 0..9),
    ) {
        let want = on_terminal(&line);
        for chunks in [split(&line, &cuts), line.chunks(1).collect()] {
            prop_assert_eq!(&read(chunks.clone()), &want);
            prop_assert_eq!(&on_card(chunks.clone()), &want);
            prop_assert_eq!(&on_terminal(&cleaned(chunks)), &want);
        }
        let mut raw = OutputText::new(OutputLimits::CARD);
        raw.push(&line);
        prop_assert_eq!(raw.plain().trim_end().to_owned(), want);
    }
}

/// Output of readline and other programs, and the resulting text.
const CASES: &[(&[u8], &str)] = &[
    // Python: `abc` recalled, Ctrl+A, `print("`, Ctrl+E, `")`.
    (
        b">>> abc\x08\x08\x08prinabc\x08\x08\x08t(\"abc\x08\x08\x08\x1b[C\x1b[C\x1b[C\")\n",
        ">>> print(\"abc\")\n",
    ),
    // A long line recalled, Ctrl+U, and typed anew.
    (
        b">>> import wordy.core as m\r\x1b[C\x1b[C\x1b[C\x1b[C\x1b[Kinput()\n",
        ">>> input()\n",
    ),
    (b"$ echo \x1b[1@abc\n", "$ echo abc\n"),
    (b"$ ehco\x08\x08\x08\x1b[1P\x1b[C\x1b[1@h\n", "$ echo\n"),
    (b"$ ac\x08\x1b[1@b\n", "$ abc\n"),
    (b"$ abbc\x08\x08\x1b[1P\n", "$ abc\n"),
    (b"abcdef\x1b[4D\x1b[2X\n", "ab  ef\n"),
    (b"abc\x1b[9D\x1b[2CX\n", "abX\n"),
    (b"Starting\x1b[20G[ OK ]\n", "Starting           [ OK ]\n"),
    // A movement to the right edge makes no text.
    (b"abc\x1b[999C\x1b[6n\r\n", "abc\n"),
    // As before: text after a CR replaces the line, whatever was moved before.
    (b"10% [=   ]\x1b[3D\r20%\n", "20%\n"),
    (b"50%\r\x1b[K\n", "50%\n"),
    (b"50%\r\x1b[K\x1b[2Cx\n", "  x\n"),
    (b"abc\x1b[2K\x1b[2Gx\n", " x\n"),
    // Some progress bars move back in this way.
    (b"1%\x1b[1000D2%\x1b[1000D3%\n", "3%\n"),
    (b"abc\x1b[2;2C\x1b[?2CX\x1b[ C\n", "abcX\n"),
    (b"abc\x1b[2\nD\n", "abc\n\n"),
];

#[test]
fn edits_of_common_programs_are_applied() {
    for &(raw, want) in CASES {
        let shown = String::from_utf8_lossy(raw);
        for chunks in [vec![raw], raw.chunks(1).collect(), raw.chunks(3).collect()] {
            let report = run(whole(CarriageReturn::Overwrite), chunks.clone()).0;
            let text: Vec<&str> = report.shown.pieces().map(|p| p.text.as_str()).collect();
            assert_eq!(text.concat(), want, "{shown:?}");
            assert_eq!(on_card(chunks), want.trim_end(), "{shown:?}");
        }
    }
}

#[test]
fn short_input_gives_bounded_output() {
    let hostile = [
        &b"ab\x1b[65535C\x1b[65535Cx\n"[..],
        b"ab\x08\x1b[65535@x\n",
        b"\x1b[65535Gx\n",
        b"ab\x1b[65535D\x1b[65535D\x1b[65535Xx\n",
    ];
    for line in hostile {
        let report = run(whole(CarriageReturn::Overwrite), [line]).0;
        let len: usize = report.shown.pieces().map(|piece| piece.text.len()).sum();
        assert!(len <= 520, "{len}");
        assert!(on_card([line]).len() <= 520);
        assert!(cleaned([line]).len() <= 2 * line.len());
    }
    // A line to which blanks are added again and again.
    let line = [&b"ab\x08"[..], &b"\x1b[512@".repeat(1000)].concat();
    assert!(read([&line[..]]).len() <= 5000);
    assert!(on_card([&line[..]]).len() <= 5000);
}

#[test]
fn line_edits_are_rewritten_for_the_terminal() {
    for (raw, want) in [
        (&b"abc\x1b[D\x1b[2DX"[..], &b"abc\x08\x08\x08X"[..]),
        (b"abc\x1b[20DX", b"abc\x1b[20DX"),
        (b"abc\r\x1b[2CX", b"abc\r\x1b[2CX"),
        (b"abc\r\x1b[KX", b"abc\r\x1b[KX"),
        (b"abc\r\x1b[K\n", b"abc\n"),
        (b"a\x1b[0C\x1b[07@\x1b[P\x1b[99999X", b"a\x1b[1C\x1b[7@\x1b[1P\x1b[512X"),
        (b"a\x1b[3G\x1b[0Kb\x08\x1b[K", b"a\x1b[3G\x1b[Kb\x08\x1b[K"),
        // The output has only movements within the line.
        (b"a\x1b[2A\x1b[2B\x1b[2;2H\x1b[2d\x1b[2L\x1b[2M\x1b[1K\x1b[2J\x1b[?2C\x1b[2;2C\x1b[2 @b", b"ab"),
    ] {
        for size in 1..=raw.len() {
            let got = cleaned(raw.chunks(size));
            assert_eq!(got, want, "{:?}", String::from_utf8_lossy(raw));
        }
    }
}
