use super::*;
use agent_bash_core::{CellColor, Key, KeyInput, KeyModifiers};
use proptest::prelude::*;
use std::time::Duration;

fn emulator() -> Emulator {
    Emulator::new(PtySize::clamped(20, 5), TerminalColors::DARK, false)
}

fn shown(emulator: &mut Emulator, bytes: &[u8]) -> String {
    String::from_utf8(emulator.process(bytes, Duration::ZERO, false).output).unwrap()
}

#[test]
fn written_text_is_on_the_screen() {
    let mut emulator = emulator();
    emulator.process(
        "a\x1b[1;31mb\x1b[0m漢e\u{301}\x1b]2;a \x1b]2;ti\u{202e}tle\x07\x1b[?25l".as_bytes(),
        Duration::ZERO,
        false,
    );
    let screen = emulator.snapshot(0);
    assert_eq!((screen.cols, screen.rows, screen.cells.len()), (20, 5, 100));
    let cell = |col| screen.cell(0, col).unwrap();
    assert_eq!(cell(0).text, "a");
    assert_eq!(cell(1).foreground, CellColor::Indexed(1));
    assert!(cell(1).attributes.bold && !cell(0).attributes.bold);
    assert!(cell(2).wide && cell(3).text.is_empty());
    assert_eq!(cell(4).text, "e\u{301}");
    assert_eq!((screen.cursor.col, screen.cursor.visible), (5, false));
    assert_eq!(screen.title, "ti<U+202E>tle");
    assert_eq!(emulator.text(), ["ab漢e\u{301}"]);
}

#[test]
fn cursor_is_restored_and_moved_to_the_next_row() {
    let mut emulator = emulator();
    let output = shown(&mut emulator, b"A\x1b[sBBB\x1b[uC\x1bEd\x1bDe\x1b[>1uf");
    assert_eq!(emulator.text(), ["ACBB", "d", " ef"]);
    assert_eq!(output, "A\x1b7BBB\x1b8C\r\nd\ne\x1b[>1uf");
}

#[test]
fn line_replaces_a_program_that_had_the_whole_screen() {
    const FULL_SCREEN_NOTICE: &str = "[full-screen program, 0.0 s]\r\n";
    for (writes, finish, wanted) in [
        ("plain\r\n", "", "plain\r\n".to_owned()),
        (
            "a\x1b[?1049h\x1b[Hone\x1b[Htwo\x1b[?1049lb",
            "",
            format!("a\r\x1b[K{FULL_SCREEN_NOTICE}ab"),
        ),
        ("\x1b[?47hx\x1b[?47l", "", FULL_SCREEN_NOTICE.to_owned()),
        ("\x1b[?1047hx\x1b[?1047l", "", FULL_SCREEN_NOTICE.to_owned()),
        (
            "a\r\n\x1b[?1049h\x1b[Hlast",
            "[full-screen program, 3.2 s]\r\n",
            "a\r\n".to_owned(),
        ),
        ("\x1b[?1049hx\x1bcb", "", format!("{FULL_SCREEN_NOTICE}b")),
        ("\x1bcb", "", "b".to_owned()),
        (
            "a\x1b[?1h\x1b[?2004h",
            "",
            "a\x1b[?1h\x1b[?2004h".to_owned(),
        ),
    ] {
        let mut whole = emulator();
        assert_eq!(shown(&mut whole, writes.as_bytes()), wanted, "{writes:?}");
        assert_eq!(
            String::from_utf8(whole.finish(Duration::from_millis(3_210))).unwrap(),
            finish,
            "{writes:?}"
        );
        let mut bytewise = emulator();
        let parts: String = writes
            .as_bytes()
            .iter()
            .map(|byte| shown(&mut bytewise, &[*byte]))
            .collect();
        assert_eq!(parts, wanted, "{writes:?} byte by byte");
    }
}

#[test]
fn line_replaces_the_drawing_of_a_known_program_on_the_main_screen() {
    let chunks = [
        (&b"before\r\n"[..], false),
        (b"\x1b[?25l\x1b[H\x1b[2Jload 1\r\n", false),
        (b"\x1b[Hload 2\r\n", true),
        (b"after\r\n", false),
    ];
    let shown = |is_full_screen| {
        let mut emulator = Emulator::new(
            PtySize::clamped(20, 5),
            TerminalColors::DARK,
            is_full_screen,
        );
        let mut shown = Vec::new();
        for (at, (chunk, raw)) in chunks.iter().enumerate() {
            let now = Duration::from_secs(at as u64);
            shown.extend(emulator.process(chunk, now, *raw).output);
        }
        shown.extend(emulator.finish(Duration::from_secs(9)));
        String::from_utf8(shown).unwrap()
    };
    assert_eq!(
        shown(true),
        "before\r\n\x1b[?25l[full-screen program, 2.0 s]\r\nafter\r\n"
    );
    assert_eq!(
        shown(false),
        "before\r\n\x1b[?25l\x1b[H\x1b[2Jload 1\r\nload 2\r\nafter\r\n",
        "control"
    );
}

#[test]
fn only_a_line_remains_of_a_program_on_the_alternate_screen() {
    // Each chunk a second after the one before, and whether canonical mode is off by then.
    type Chunks = &'static [(&'static [u8], bool)];
    let cases: [(&str, Chunks, &str); 6] = [
        (
            "less jumps to the corner late",
            &[
                (b"\x1b[?1049h\x1b[22;0;0t\x1b[?1h\x1b=\rone\r\n:", true),
                (b"\x1b[Htwo", true),
                (b"\r\x1b[K\x1b[?1l\x1b>\x1b[?1049l\x1b[23;0;0t", false),
            ],
            "[full-screen program, 2.0 s]\r\n\x1b[23;0;0t",
        ),
        (
            "nano has given back the line discipline when its last output is read",
            &[
                (b"\x1b[?1049h\x1b[H\x1b[Jtext", true),
                (
                    b"\x1b[5;1H[ Wrote 5 lines ]\r\x1b[J\x1b[?1049l\r\x1b[?1l\x1b>",
                    false,
                ),
            ],
            "[full-screen program, 1.0 s]\r\n\r\x1b[?1l\x1b>",
        ),
        (
            "an editor of git's, in the middle of a line",
            &[
                (b"hint: Waiting for your editor... ", false),
                (b"\x1b[?1049h\x1b[Hx", true),
                (b"\x1b[?1049l", false),
                (b"\r\x1b[K[main 1234] x\r\n", false),
            ],
            "hint: Waiting for your editor... \r\x1b[K[full-screen program, 1.0 s]\r\nhint: Waiting for your editor... \r\x1b[K[main 1234] x\r\n",
        ),
        (
            "vim leaves a line end",
            &[
                (b"\x1b[?1049h\x1b[Hx", true),
                (b"\x1b[?1049l\x1b[?25h", true),
                (b"\r\n", false),
                (b"\r\n", false),
            ],
            "[full-screen program, 1.0 s]\r\n\x1b[?25h\r\n",
        ),
        (
            "top does so on the main screen",
            &[
                (b"\x1b[H\x1b[2Jload", true),
                (b"\x1b[Hload", true),
                (b"\x1b[?1l\x1b>\x1b[5;1H\r\n\x1b[?25hafter", false),
            ],
            "[full-screen program, 2.0 s]\r\n\x1b[?1l\x1b>\x1b[5;1H\x1b[?25hafter",
        ),
        (
            "what clears the screen afterwards does not draw",
            &[
                (b"\x1b[?1049hx\x1b[?1049l", true),
                (b"\x1b[H\x1b[2Jls\r\n", false),
            ],
            "[full-screen program, 0.0 s]\r\n\x1b[H\x1b[2Jls\r\n",
        ),
    ];
    for (what, chunks, wanted) in cases {
        let mut emulator = Emulator::new(PtySize::clamped(40, 5), TerminalColors::DARK, true);
        let mut shown = Vec::new();
        for (at, (chunk, raw)) in chunks.iter().enumerate() {
            let now = Duration::from_secs(at as u64);
            shown.extend(emulator.process(chunk, now, *raw).output);
        }
        shown.extend(emulator.finish(Duration::from_secs(9)));
        assert_eq!(String::from_utf8(shown).unwrap(), wanted, "{what}");
    }
}

#[test]
fn scrolled_lines_can_be_shown() {
    let mut emulator = emulator();
    for line in 0..20 {
        emulator.process(format!("{line}\r\n").as_bytes(), Duration::ZERO, false);
    }
    let first = |screen: &Screen| screen.cells[0].text.clone();
    let now = emulator.snapshot(0);
    assert_eq!((now.scrollback, first(&now)), (16, "1".into()));
    let back = emulator.snapshot(16);
    assert_eq!((first(&back), back.cursor.visible), ("0".into(), false));
    assert_eq!(emulator.snapshot(10_000), back);
    assert_eq!(emulator.snapshot(0), now);
}

#[test]
fn session_continues_after_a_panic_of_the_emulator() {
    let mut emulator = emulator();
    emulator.process(b"before", Duration::ZERO, false);
    emulator
        .screen
        .guarded(|_| panic!("as the emulator did at one column"));
    assert_eq!(emulator.text(), Vec::<String>::new());
    emulator.process(b"after", Duration::ZERO, false);
    assert_eq!(emulator.text(), ["after"]);
}

#[test]
fn modes_of_input_follow_the_program() {
    let mut emulator = emulator();
    let up = KeyInput::Key {
        key: Key::Up,
        modifiers: KeyModifiers::default(),
    };
    for (writes, wanted) in [
        ("", "\x1b[A"),
        ("\x1b[?1h", "\x1bOA"),
        ("\x1bc", "\x1b[A"),
        ("\x1b[?1h\x1b[>1u", "\x1b[A"),
        // The alternate screen has a stack of its own.
        ("\x1b[?1049h", "\x1bOA"),
        ("\x1b[?1049l", "\x1b[A"),
        ("\x1b[<u", "\x1bOA"),
    ] {
        emulator.process(writes.as_bytes(), Duration::ZERO, false);
        let sent = crate::keys::encode(&up, emulator.input_modes());
        assert_eq!(String::from_utf8(sent).unwrap(), wanted, "{writes:?}");
    }
    assert!(!emulator.input_modes().focus_events);
    emulator.process(b"\x1b[?1004h", Duration::ZERO, false);
    assert!(emulator.input_modes().focus_events);
}

#[test]
fn replies_are_bounded() {
    let mut emulator = emulator();
    let answers = emulator
        .process(&b"\x1b[6n".repeat(100_000), Duration::ZERO, false)
        .replies;
    assert!(
        answers.len() < 20_000 && answers.starts_with("\x1b[1;1R"),
        "{}",
        answers.len()
    );
    let pushes = b"\x1b[>3u".repeat(1000);
    emulator.process(&pushes, Duration::ZERO, false);
    assert_eq!(
        emulator
            .process(b"\x1b[<15u\x1b[?u", Duration::ZERO, false)
            .replies,
        "\x1b[?3u"
    );
    assert_eq!(
        emulator
            .process(b"\x1b[<9u\x1b[?u", Duration::ZERO, false)
            .replies,
        "\x1b[?0u"
    );
}

#[test]
fn colours_and_states_are_reported() {
    let mut emulator = Emulator::new(PtySize::default(), TerminalColors::LIGHT, false);
    for (question, wanted) in [
        ("\x1b]10;?\x07", "\x1b]10;rgb:0000/0000/0000\x1b\\"),
        (
            "\x1b]10;?;?\x07",
            "\x1b]10;rgb:0000/0000/0000\x1b\\\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
        ),
        ("\x1b]4;1;?\x07", ""),
        ("\x1b[?6n", "\x1b[?1;1R"),
        ("\x1b[14t", "\x1b[4;640;960t"),
        ("\x1b[?25$p", "\x1b[?25;1$y"),
        ("\x1b[?1006$p", "\x1b[?1006;2$y"),
        ("\x1b[?12345$p", "\x1b[?12345;0$y"),
        ("\x1b[=c", "\x1bP!|00000000\x1b\\"),
        ("\x1b[0c", "\x1b[?62;22c"),
        ("\x1b[1c\x1b[7n\x1b[21t", ""),
    ] {
        assert_eq!(
            emulator
                .process(question.as_bytes(), Duration::ZERO, false)
                .replies,
            wanted,
            "{question:?}"
        );
    }
}

/// Bytes that are likely to form sequences.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        3 => Just(b"\x1b[".to_vec()),
        1 => Just(b"\x1b]".to_vec()),
        1 => Just(b"\x1b[?1049h".to_vec()),
        1 => Just(b"\x1b[?1049l".to_vec()),
        3 => "[0-9]{1,5};?".prop_map(String::into_bytes),
        3 => "[a-zA-Z@`]".prop_map(String::into_bytes),
        2 => prop::collection::vec(any::<u8>(), 0..8),
        2 => "[a-z漢😀\u{301}\u{fe0f}\r\n\t\u{8}]{0,9}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn emulator_accepts_any_bytes_at_any_size(
        steps in prop::collection::vec((output(), 0u16..500, 0u16..300), 1..4)
    ) {
        let mut emulator = emulator();
        for (bytes, cols, rows) in steps {
            emulator.process(&bytes, Duration::ZERO, false);
            emulator.resize(PtySize::clamped(cols, rows));
            let screen = emulator.snapshot(usize::from(rows));
            prop_assert_eq!(screen.cells.len(), usize::from(screen.cols) * usize::from(screen.rows));
            prop_assert!(screen.cursor.row < screen.rows && screen.cursor.col < screen.cols);
            // Text of a screen cannot control the terminal that shows it.
            prop_assert!(!screen.title.chars().any(char::is_control));
            for cell in &screen.cells {
                prop_assert!(!cell.text.chars().any(char::is_control), "{:?}", cell.text);
            }
        }
        emulator.finish(Duration::ZERO);
    }
}
