use crate::PtySize;
use crate::colors::TerminalColors;
use crate::emulator::Emulator;
use agent_bash_render::{OutputLimits, OutputText};
use agent_bash_sink::FileView;
use proptest::prelude::*;
use std::io::Write as _;
use std::time::Duration;
use vt100::capture::{
    BasicFormattedCaptureRange, BasicFormattedCaptureState, basic_formatted_to_plain,
};

const ROWS: u16 = 24;

/// Output of real programs during an edit.
const READLINE_OUTPUT: &[u8] = b"\x1b[?2004h$ echo 'a long line that is much longer than the console is wide, so that it wraps at least once'\r\n\x1b[?2004l\ra long line that is much longer than the console is wide, so that it wraps at least once\r\n\x1b[?2004h$ echo 'a long line that is much longer than the console is wide, so that it wraps at least once'\x1b[A\r\x1b[C\x1b[Cx=1 echo 'a long line that is much longer than the console \x1b[C\x1b[4@s wi\x1b[A\r\n\r\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C end\r\n\x1b[?2004l\ra long line that is much longer than the console is wide, so that it wraps at least once end\r\n\x1b[?2004h$ \x1b[?2004l\r\r\nexit\r\n";
const READLINE_SEARCH: &[u8] = b"\x1b[?2004h$ echo aaa bbb ccc\r\n\x1b[?2004l\raaa bbb ccc\r\n\x1b[?2004h$ \r(reverse-i-search)`': \x08\x08\x08a': echo aa\x1b[7ma\x1b[27m bbb ccc\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x1b[1@a': echo a\x1b[7ma\x1b[27m\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x1b[1@a': echo \x1b[7ma\x1b[27m\x08\r\x1b[23P$ echo aaa\x08\x08\x08\r\n\x1b[?2004l\raaa bbb ccc\r\n\x1b[?2004h$ \x1b[?2004l\r\r\nexit\r\n";
const READLINE_INTERRUPTED: &[u8] = b"\x1b[?2004h$ echo 'a long line that is much longer than the console is wide, so that it wraps at least once'\x1b[A\r\x1b[C\x1b[C^C\r\n\r\x1b[?2004l\r\x1b[?2004h\x1b[?2004l\r\r\n\x1b[?2004h$ echo ok\r\n\x1b[?2004l\rok\r\n\x1b[?2004h$ \x1b[?2004l\r\r\nexit\r\n";
/// A prompt of two lines.
const READLINE_TWO_ROWS: &[u8] = b"\x1b[?2004h$ PS1='line\\n$ '\r\n\x1b[?2004l\r\x1b[?2004hline\r\r\n$ echo ab\x08Xb\x08\r\n\x1b[?2004l\raXb\r\n\x1b[?2004hline\r\r\n$ \x1b[?2004l\r\r\nexit\r\n";
/// Python 3.11, which has readline without bracketed paste.
const PYTHON_OUTPUT: &[u8] = b">>> 1\r\n1\r\n>>> import os, sys; x = [i for i in range(10)]; print(sum(x), len(x), max(x))\r\n45 10 9\r\n>>> 2\r\n2\r\n>>> 2\x08import os, sys; x = [i for i in range(10)]; print(sum(x), len(x), max(x))\x1b[A\x1b[C\x1b[K\r\n\r\x1b[K\x1b[A\x1b[C\x1b[C\x1b[C\x1b[Cprint(77)\r\n77\r\n>>> \r\n";
const PYTHON_WIDE: &[u8] = ">>> print(\"häuser 日本 x\")\x08\x08\x08\x08\x08\x08\x08\x08\x1b[2@ZZ\r\nhäuser ZZ日本 x\r\n>>> \r\n".as_bytes();
/// Python 3.13: pyrepl, with several lines pasted at once.
const PYREPL_OUTPUT: &[u8] = b"\x1b[?2004h\x1b[?1h\x1b=\x1b[?25l\x1b[1A\n\x1b[1;35m>>> \x1b[0m\x1b[4D\x1b[?12l\x1b[?25h\x1b[4C\x1b[?25l\x1b[4D\x1b[1;35m>>> \x1b[0m1\x1b[5D\x1b[?12l\x1b[?25h\x1b[5C\x1b[5D\n\r\x1b[?2004l\x1b[?1l\x1b>1\r\n\x1b[?2004h\x1b[?1h\x1b=\x1b[?25l\x1b[1A\n\x1b[1;35m>>> \x1b[0m\x1b[4D\x1b[?12l\x1b[?25h\x1b[4C\x1b[?25l\x1b[4D\n\x1b[1A\x1b[1;35m>>> \x1b[0mdef f():\x1b[12D\x1b[1B\x1b[1;35m... \x1b[0m\x1b[4D\x1b[?12l\x1b[?25h\x1b[4C\x1b[?25l\x1b[4D\n\x1b[1A\x1b[1;35m... \x1b[0m  return 2\x1b[14D\x1b[1B\x1b[1;35m... \x1b[0m\x1b[4D\x1b[?12l\x1b[?25h\x1b[4C\x1b[?25l\x1b[4D\x1b[1;35m... \x1b[0mi\x1b[5D\x1b[?12l\x1b[?25h\x1b[5C\x1b[?25l\x1b[5D\x1b[1;35m... \x1b[0mif 1:\x1b[9D\x1b[?12l\x1b[?25h\x1b[9C\x1b[?25l\x1b[9D\n\x1b[1;35m... \x1b[0m  \x1b[6D\x1b[?12l\x1b[?25h\x1b[6C\x1b[6D\n\r\x1b[?2004l\x1b[?1l\x1b>  File \x1b[35m\"<python-input-1>\"\x1b[0m, line \x1b[35m3\x1b[0m\r\n\x1b[?2004h\x1b[?1h\x1b=\x1b[?25l\x1b[1A\n\x1b[1;35m>>> \x1b[0m\x1b[4D\x1b[?12l\x1b[?25h\x1b[4C\x1b[4D\n\r\x1b[?2004l\x1b[?1l\x1b>";
/// With node's preview below the line.
const NODE_OUTPUT: &[u8] = b"Welcome to Node.js v20.20.2.\r\nType \".help\" for more information.\r\n\x1b[1G\x1b[0J> \x1b[3Gconst a = [1,2,3].map(x => x*2)\r\r\n\x1b[90mundefined\x1b[39m\r\n\x1b[1G\x1b[0J> \x1b[3Ga.reduce((x,y)=>x+y)\r\n\x1b[90m12\x1b[39m\x1b[23G\x1b[1A\x1b[1B\x1b[2K\x1b[1A\r\r\n\x1b[33m12\x1b[39m\r\n\x1b[1G\x1b[0J> \x1b[3G.exit\r\r\n";
const SQLITE_OUTPUT: &[u8] = b"SQLite version 3.40.1 2022-12-28 14:03:47\r\nEnter \".help\" for usage hints.\r\n\x1b[?2004hsqlite> .tables\r\n\x1b[?2004l\r\x1b[?2004hsqlite> select 1+1;\r\n\x1b[?2004l\r2\r\n\x1b[?2004hsqlite> select 1+1;\r\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[4P.tables\x08\x08\x08\x08\x08\x08\x08\x1b[Kselect 5;\r\n\x1b[?2004l\r5\r\n\x1b[?2004hsqlite> \x1b[?2004l\r\r\n\r\n";

/// The output for readers of these chunks, and of the end.
fn shown<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, rows: u16, cols: u16) -> Vec<u8> {
    let size = PtySize::clamped(cols, rows);
    let mut emulator = Emulator::new(size, TerminalColors::DARK, false);
    let mut shown = Vec::new();
    for chunk in chunks {
        shown.extend(emulator.process(chunk, Duration::ZERO, true).output);
    }
    shown.extend(emulator.finish(Duration::ZERO));
    shown
}

fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

/// The text of a card.
fn on_a_card(shown: &[u8]) -> String {
    let mut output = OutputText::new(OutputLimits::PAGE);
    output.push(shown);
    trimmed(&output.plain())
}

/// The text of the pager, which shows all that was printed.
fn in_an_artifact(shown: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(shown).unwrap();
    let page = FileView::open(file.path()).unwrap().lines(1, None).unwrap();
    trimmed(&page.piece.text)
}

/// Returns all rows of a terminal, including rows that have scrolled off.
fn on_a_terminal(output: &[u8], rows: u16, cols: u16) -> String {
    let size = (rows.try_into().unwrap(), cols.try_into().unwrap());
    let mut parser = vt100::Parser::new(size.0, size.1, 10_000);
    parser.process(output);
    let mut text = String::new();
    let range = BasicFormattedCaptureRange::Full(&mut BasicFormattedCaptureState::default());
    let screen = parser.screen();
    screen
        .write_contents_formatted_basic(&mut text, range)
        .unwrap();
    trimmed(&basic_formatted_to_plain(&text).collect::<String>())
}

const LONG_LINE: &str =
    "'a long line that is much longer than the console is wide, so that it wraps at least once";

/// On a loaded machine, a program may have run the line before its drawing is read.
#[test]
fn line_is_edited_if_canonical_mode_was_restored_before_the_output_was_read() {
    let read = |chunks: &[(&[u8], bool)]| {
        let mut emulator = Emulator::new(PtySize::clamped(80, 24), TerminalColors::DARK, false);
        let mut shown = Vec::new();
        for (chunk, raw) in chunks {
            shown.extend(emulator.process(chunk, Duration::ZERO, *raw).output);
        }
        shown.extend(emulator.finish(Duration::ZERO));
        shown
    };
    let (prompt, rest) = PYTHON_WIDE.split_at(4);
    let shown = read(&[(prompt, true), (rest, false)]);
    let wanted = ">>> print(\"häuser ZZ日本 x\")\nhäuser ZZ日本 x\n>>>";
    assert_eq!(on_a_card(&shown), wanted);
    assert_eq!(in_an_artifact(&shown), wanted);
    // Later lines are no edits: the reader gets them as they were written.
    let lines = &b"1\r\n10 %\r20 %\r\n"[..];
    assert_eq!(
        read(&[(prompt, true), (lines, false)]),
        b">>> 1\r\n10 %\r20 %\r\n"
    );
    assert_eq!(read(&[(&b"ab\x08c"[..], false)]), b"ab\x08c");
}

#[test]
fn edited_lines_are_read_as_they_were_run() {
    let long = LONG_LINE.trim_start_matches('\'');
    for (what, output, cols, wanted) in [
        (
            "readline",
            READLINE_OUTPUT,
            60,
            format!("$ echo {LONG_LINE}'\n{long}\n$ x=1 echo {LONG_LINE}' end\n{long} end\n$\nexit"),
        ),
        (
            "readline, search",
            READLINE_SEARCH,
            80,
            "$ echo aaa bbb ccc\naaa bbb ccc\n$ echo aaa bbb ccc\naaa bbb ccc\n$\nexit".into(),
        ),
        (
            "readline, interrupted",
            READLINE_INTERRUPTED,
            60,
            format!("$ ^Cho {LONG_LINE}'\n$ echo ok\nok\n$\nexit"),
        ),
        (
            "readline, two rows",
            READLINE_TWO_ROWS,
            60,
            "$ PS1='line\\n$ '\nline\n$ echo aXb\naXb\nline\n$\nexit".into(),
        ),
        (
            "python",
            PYTHON_OUTPUT,
            74,
            ">>> 1\n1\n>>> import os, sys; x = [i for i in range(10)]; print(sum(x), len(x), max(x))\n45 10 9\n>>> 2\n2\n>>> print(77)\n77\n>>>".into(),
        ),
        (
            "python, wide characters",
            PYTHON_WIDE,
            80,
            ">>> print(\"häuser ZZ日本 x\")\nhäuser ZZ日本 x\n>>>".into(),
        ),
        (
            "pyrepl",
            PYREPL_OUTPUT,
            60,
            "\n>>> 1\n1\n>>> def f():\n...   return 2\n... if 1:\n...\n  File \"<python-input-1>\", line 3\n>>>".into(),
        ),
        (
            "node",
            NODE_OUTPUT,
            80,
            "Welcome to Node.js v20.20.2.\nType \".help\" for more information.\n> const a = [1,2,3].map(x => x*2)\nundefined\n> a.reduce((x,y)=>x+y)\n12\n> .exit".into(),
        ),
        (
            "sqlite",
            SQLITE_OUTPUT,
            80,
            "SQLite version 3.40.1 2022-12-28 14:03:47\nEnter \".help\" for usage hints.\nsqlite> .tables\nsqlite> select 1+1;\n2\nsqlite> select 5;\n5\nsqlite>".into(),
        ),
    ] {
        assert_eq!(on_a_terminal(output, ROWS, cols), wanted, "{what}: control");
        for size in [1, 2, 7, 100, output.len()] {
            let shown = shown(output.chunks(size), ROWS, cols);
            assert_eq!(on_a_card(&shown), wanted, "{what}, chunks of {size}");
            assert_eq!(in_an_artifact(&shown), wanted, "{what}, chunks of {size}");
        }
        for at in (0..output.len()).step_by(5) {
            let (begin, end) = output.split_at(at);
            let shown = shown([begin, end], ROWS, cols);
            assert_eq!(on_a_card(&shown), wanted, "{what}, split at {at}");
        }
    }
}

/// Checks chunks. Each has a flag whether canonical mode is off by then, and the output that is
/// sent at once.
fn at_once(chunks: &[(&str, bool, &str)]) {
    let mut emulator = Emulator::new(PtySize::clamped(40, 5), TerminalColors::DARK, false);
    for (at, (chunk, raw, wanted)) in chunks.iter().enumerate() {
        let shown = if *chunk == END_NOTICE {
            emulator.finish(Duration::ZERO)
        } else {
            emulator
                .process(chunk.as_bytes(), Duration::ZERO, *raw)
                .output
        };
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            *wanted,
            "{at}: {chunks:?}"
        );
    }
}

const END_NOTICE: &str = "the command has ended";

#[test]
fn appended_text_is_sent_unchanged() {
    for chunks in [
        // A progress bar, and a movement to a row above: no line editor.
        &[
            ("1%\r2%", false, "1%\r2%"),
            ("\x1b[A\x1b[2K3%\r", false, "\x1b[A\x1b[2K3%\r"),
            ("\n", false, "\n"),
        ][..],
        // Lines of a program in raw mode.
        &[
            ("one\r\ntwo\r\r\n", true, "one\r\ntwo\r\r\n"),
            ("x", true, "x"),
        ],
        // Coloured text typed at the end of a line. The carriage return behind it belongs to no
        // line.
        &[
            (
                "\x1b[?2004h\x1b[32m$\x1b[m ", true, "\x1b[?2004h\x1b[32m$\x1b[m ",
            ),
            ("l", true, "l"),
            ("s", true, "s"),
            ("\r\n", true, ""),
            ("\x1b[?2004l", false, "\r\n\x1b[?2004l"),
            ("\rout\r\n", false, "out\r\n"),
        ],
        &[
            ("\x1b[?2004h$ ls\r\n", true, "\x1b[?2004h$ ls"),
            ("\x1b[?2004l\rout\r\n", false, "\r\n\x1b[?2004lout\r\n"),
            (
                "ab\x1b[?2004h\x1b[?2004l\rc", false, "ab\x1b[?2004h\x1b[?2004l\rc",
            ),
        ],
    ] {
        at_once(chunks);
    }
}

#[test]
fn final_text_of_an_edit_is_sent_once_it_is_known() {
    const ERASED_LINE: &str = "\x1b[512D\x1b[K";
    for (chunks, last) in [
        // Canonical mode is on again.
        (
            &[("> ac", true, "> ac"), ("\x08bc\r\n", true, "")][..],
            ("7\r\n", false, format!("{ERASED_LINE}> abc\r\n7\r\n")),
        ),
        // The cursor is within the line, or behind its end.
        (
            &[("ac", true, "ac"), ("\x08", true, "")],
            ("", false, "\x1b[1D".into()),
        ),
        (
            &[("日本", true, "日本"), ("\x08\x08", true, "")],
            ("", false, "\x1b[1D".into()),
        ),
        (
            &[("a", true, "a"), ("\x1b[5G", true, "")],
            ("", false, "   ".into()),
        ),
        // In colours that continue.
        (
            &[
                ("\x1b[31mab", true, "\x1b[31mab"),
                ("\x08\x1b[1mc", true, ""),
            ],
            (
                "",
                false,
                format!("{ERASED_LINE}\x1b[m\x1b[31ma\x1b[1mc\x1b[m\x1b[31;1m"),
            ),
        ),
        // A program takes the whole screen, or the terminal is reset.
        (
            &[("ac", true, "ac"), ("\x08b", true, "")],
            (
                "\x1b[?1049hx\x1b[?1049l",
                true,
                format!("{ERASED_LINE}ab\r\x1b[K[full-screen program, 0.0 s]\r\nab"),
            ),
        ),
        (
            &[("ac", true, "ac"), ("\x08b", true, "")],
            ("\x1bc", true, format!("{ERASED_LINE}ab")),
        ),
        // The edit ends with text below the cursor.
        (
            &[
                ("> ", true, "> "),
                ("\x1b[1G> 1+1\r\n2\x1b[1A\x1b[6G", true, ""),
            ],
            (END_NOTICE, true, "1+1\r\n2".into()),
        ),
        // Rows that have scrolled off are final.
        (
            &[
                ("ac", true, "ac"),
                ("\x08b\r\n1\r\n2\r\n3\r\n4\r\n", true, "\x1b[512D\x1b[Kab"),
                ("5", true, ""),
                ("\r\n6", true, "\r\n1"),
            ],
            ("", false, "\r\n2\r\n3\r\n4\r\n5\r\n6".into()),
        ),
        // Rows above the edit are part of it only if they change.
        (
            &[
                ("a) 1\r\nb) 2\r\n", true, "a) 1\r\nb) 2\r\n"),
                ("\x1b[2A\x1b[2B", true, ""),
            ],
            ("", false, String::new()),
        ),
        (
            &[
                ("a) 1\r\nb) 2\r\n", true, "a) 1\r\nb) 2\r\n"),
                ("\x1b[1A\x1b[K2!\r\n", true, ""),
            ],
            ("", false, "2!\r\n".into()),
        ),
    ] {
        let (chunk, raw, wanted) = &last;
        let last = [(*chunk, *raw, wanted.as_str())];
        at_once(&[chunks, &last].concat());
    }
}

#[test]
fn part_of_a_line_above_the_screen_stays() {
    let line = "0123456789".repeat(13);
    let (begin, end) = line.split_at(129);
    let output = format!("{begin}{end}\x08\x08xy\r\n");
    let shown = shown([output.as_bytes()], 5, 20);
    let wanted = format!("{}xy", &line[..128]);
    assert_eq!(on_a_card(&shown), wanted);
    assert_eq!(in_an_artifact(&shown), wanted);
}

#[test]
fn edit_continues_in_another_size() {
    for (cols, rows) in [(30, 5), (60, 12), (60, 6), (25, 8)] {
        let mut emulator = Emulator::new(PtySize::clamped(40, 8), TerminalColors::DARK, false);
        let mut shown = Vec::new();
        let mut write = |emulator: &mut Emulator, output: &str| {
            shown.extend(
                emulator
                    .process(output.as_bytes(), Duration::ZERO, true)
                    .output,
            );
        };
        for line in 0..12 {
            write(&mut emulator, &format!("{line}\r\n"));
        }
        // With a row that is cut where the terminal becomes narrower.
        let cut = "x".repeat(35);
        write(&mut emulator, &format!("\x1b[?2004h\r{cut}\r\n> ac\x08"));
        emulator.resize(PtySize::clamped(cols, rows));
        write(&mut emulator, "\r\x1b[K> abc\r\n\x1b[?2004l\rdone\r\n");
        let lines: Vec<String> = (0..12).map(|line| line.to_string()).collect();
        let wanted = format!("{}\n{cut}\n> abc\ndone", lines.join("\n"));
        assert_eq!(on_a_card(&shown), wanted, "{cols} {rows}");
    }
}

/// The output of readline for a new size of its terminal: from the last row up it clears its rows,
/// and draws them again.
fn redrawn(rows: usize, line: &str) -> String {
    let up = "\x1b[A\x1b[K\r".repeat(rows - 1);
    format!("\r\x1b[K\r{up}{line}")
}

#[test]
fn wrapped_line_is_whole_in_another_size() {
    let line = format!("$ echo {}", "0123456789".repeat(11));
    // The line is open, is being edited, or was drawn again after each of several sizes, or after
    // the last.
    for (edits, each) in [(false, false), (false, true), (true, false), (true, true)] {
        for sizes in [
            &[(40, 9), (30, 9)][..],
            &[(40, 9), (30, 5)],
            &[(40, 9), (60, 9)],
            &[(40, 9), (60, 20), (50, 9), (30, 9), (70, 6)],
            &[(200, 9), (60, 9)],
            &[(60, 9), (200, 9)],
        ] {
            let size = |at: usize| PtySize::clamped(sizes[at].0, sizes[at].1);
            let mut emulator = Emulator::new(size(0), TerminalColors::DARK, false);
            let mut shown = Vec::new();
            let mut write = |emulator: &mut Emulator, output: &str| {
                let output = output.as_bytes();
                shown.extend(emulator.process(output, Duration::ZERO, true).output);
            };
            // The text above contains a row that is cut, and one that is wrapped.
            let above = format!("{}\n{}", "x".repeat(35), "y".repeat(45));
            write(&mut emulator, &above.replace('\n', "\r\n"));
            write(&mut emulator, "\r\n\x1b[?2004h");
            if edits {
                write(&mut emulator, "$ ab\x08\x08");
                write(&mut emulator, &line[2..]);
            } else {
                write(&mut emulator, &line);
            }
            let drawn_at = |cols: u16| line.len().div_ceil(usize::from(cols));
            let mut cols = sizes[0].0;
            for at in 1..sizes.len() {
                emulator.resize(size(at));
                if each || at + 1 == sizes.len() {
                    write(&mut emulator, &redrawn(drawn_at(cols), &line));
                    cols = sizes[at].0;
                }
            }
            write(&mut emulator, "\r\n\x1b[?2004l\rdone\r\n");
            shown.extend(emulator.finish(Duration::ZERO));
            let wanted = format!("{above}\n{line}\ndone");
            let what = format!("edits: {edits}, each: {each}, {sizes:?}");
            assert_eq!(on_a_card(&shown), wanted, "{what}");
            assert_eq!(in_an_artifact(&shown), wanted, "{what}");
        }
    }
}

#[test]
fn text_that_only_continues_in_another_size_is_sent_unchanged() {
    for (written, wanted) in [("more\r\n", "more\r\n"), ("\r\n", "\r\n")] {
        for prompt in ["", "\x1b[?2004h"] {
            let mut emulator = Emulator::new(PtySize::clamped(40, 9), TerminalColors::DARK, false);
            let line = format!("{prompt}{}", "0123456789".repeat(11));
            emulator.process(line.as_bytes(), Duration::ZERO, true);
            emulator.resize(PtySize::clamped(30, 9));
            let mut shown = emulator
                .process(written.as_bytes(), Duration::ZERO, true)
                .output;
            shown.extend(emulator.process(b"", Duration::ZERO, false).output);
            shown.extend(emulator.finish(Duration::ZERO));
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(shown, wanted, "{prompt:?}");
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_output_of_an_edit() {
    // Lines, and a line without an end.
    for end in ["\r\n", ""] {
        let mut emulator = Emulator::new(PtySize::clamped(80, 24), TerminalColors::DARK, false);
        emulator.process(b"> a\x08b", Duration::ZERO, true);
        let (mut written, mut shown) = (0, 0);
        let chunk = format!("{}{end}", "x".repeat(70)).repeat(200);
        for _ in 0..100 {
            written += chunk.len();
            let processed = emulator.process(chunk.as_bytes(), Duration::ZERO, true);
            shown += processed.output.len();
            assert!(written - shown < 24 * 80, "{written} {shown}");
        }
    }
}

/// Possible output of a line editor, at the top of a terminal.
fn edits() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[a-z 漢日é]{1,9}".prop_map(String::into_bytes),
        1 => "e\u{301}|\x1b\\[3[0-7]m|\x1b\\[m".prop_map(String::into_bytes),
        2 => "\x08{1,4}".prop_map(String::into_bytes),
        4 => "\x1b\\[[1-9]?[ABCDG@PX]".prop_map(String::into_bytes),
        2 => "\x1b\\[[012]?[KJ]".prop_map(String::into_bytes),
        1 => "\x1b\\[[1-3];[1-9]H|\x1b\\[[12]?[LMST]|\x1bM".prop_map(String::into_bytes),
        2 => Just(b"\r".to_vec()),
        2 => Just(b"\r\n".to_vec()),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn shown_text_is_the_text_on_the_terminal(edits in edits(), size in 1usize..40) {
        let output = [b"\x1b[?2004h> \r", &edits[..]].concat();
        let shown = shown(output.chunks(size), 6, 20);
        let wanted = on_a_terminal(&output, 6, 20);
        prop_assert_eq!(&on_a_card(&shown), &wanted);
        prop_assert_eq!(&in_an_artifact(&shown), &wanted);
    }
}
