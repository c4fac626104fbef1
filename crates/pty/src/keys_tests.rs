use super::*;
use agent_bash_core::{Key, KeyModifiers, MouseButton, MouseInput, MouseKind};
use termwiz::input::{KeyCode, KeyCodeEncodeModes, KeyboardEncoding, Modifiers};

const LEGACY: InputModes = InputModes {
    application_cursor: false,
    application_keypad: false,
    bracketed_paste: false,
    mouse: vt100::MouseProtocolMode::None,
    mouse_encoding: vt100::MouseProtocolEncoding::Default,
    focus_events: false,
    kitty: 0,
};

const APPLICATION: InputModes = InputModes {
    application_cursor: true,
    application_keypad: true,
    ..LEGACY
};

const NONE: KeyModifiers = KeyModifiers {
    shift: false,
    alt: false,
    ctrl: false,
};
const SHIFT: KeyModifiers = KeyModifiers {
    shift: true,
    ..NONE
};
const ALT: KeyModifiers = KeyModifiers { alt: true, ..NONE };
const CTRL: KeyModifiers = KeyModifiers { ctrl: true, ..NONE };
const ALL: KeyModifiers = KeyModifiers {
    shift: true,
    alt: true,
    ctrl: true,
};

fn sent(key: Key, modifiers: KeyModifiers, modes: InputModes) -> String {
    let bytes = encode(&KeyInput::Key { key, modifiers }, modes);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn every_key_is_encoded_as_in_the_table() {
    let text = |text: &str| Key::Text(text.into());
    for (key, modifiers, normal, application) in [
        (Key::Char('a'), NONE, "a", "a"),
        (Key::Char('A'), SHIFT, "A", "A"),
        (Key::Char('a'), SHIFT, "A", "A"),
        (Key::Char('é'), NONE, "é", "é"),
        (Key::Char('é'), SHIFT, "É", "É"),
        (text("日本語"), NONE, "日本語", "日本語"),
        (text("a\x1b[b"), NONE, "a[b", "a[b"),
        (Key::Enter, NONE, "\r", "\r"),
        (Key::Enter, ALT, "\x1b\r", "\x1b\r"),
        (Key::Tab, NONE, "\t", "\t"),
        (Key::Tab, SHIFT, "\x1b[Z", "\x1b[Z"),
        (Key::Backspace, NONE, "\x7f", "\x7f"),
        (Key::Backspace, CTRL, "\x08", "\x08"),
        (Key::Backspace, ALT, "\x1b\x7f", "\x1b\x7f"),
        (Key::Escape, NONE, "\x1b", "\x1b"),
        (Key::Escape, ALT, "\x1b\x1b", "\x1b\x1b"),
        (Key::Char('a'), CTRL, "\x01", "\x01"),
        (Key::Char('Z'), CTRL, "\x1a", "\x1a"),
        (Key::Char(' '), CTRL, "\0", "\0"),
        (Key::Char('['), CTRL, "\x1b", "\x1b"),
        (Key::Char('\\'), CTRL, "\x1c", "\x1c"),
        (Key::Char(']'), CTRL, "\x1d", "\x1d"),
        (Key::Char('^'), CTRL, "\x1e", "\x1e"),
        (Key::Char('_'), CTRL, "\x1f", "\x1f"),
        (Key::Char('?'), CTRL, "\x7f", "\x7f"),
        (Key::Char('é'), CTRL, "é", "é"),
        (Key::Char('x'), ALT, "\x1bx", "\x1bx"),
        (Key::Char('x'), ALL, "\x1b\x18", "\x1b\x18"),
        (Key::Up, NONE, "\x1b[A", "\x1bOA"),
        (Key::Down, NONE, "\x1b[B", "\x1bOB"),
        (Key::Right, NONE, "\x1b[C", "\x1bOC"),
        (Key::Left, NONE, "\x1b[D", "\x1bOD"),
        (Key::Home, NONE, "\x1b[H", "\x1bOH"),
        (Key::End, NONE, "\x1b[F", "\x1bOF"),
        (Key::Right, CTRL, "\x1b[1;5C", "\x1b[1;5C"),
        (Key::Up, ALL, "\x1b[1;8A", "\x1b[1;8A"),
        (Key::PageUp, NONE, "\x1b[5~", "\x1b[5~"),
        (Key::PageDown, SHIFT, "\x1b[6;2~", "\x1b[6;2~"),
        (Key::Insert, NONE, "\x1b[2~", "\x1b[2~"),
        (Key::Delete, CTRL, "\x1b[3;5~", "\x1b[3;5~"),
        (Key::Function(1), NONE, "\x1bOP", "\x1bOP"),
        (Key::Function(4), CTRL, "\x1b[1;5S", "\x1b[1;5S"),
        (Key::Function(5), NONE, "\x1b[15~", "\x1b[15~"),
        (Key::Function(10), NONE, "\x1b[21~", "\x1b[21~"),
        (Key::Function(11), NONE, "\x1b[23~", "\x1b[23~"),
        (Key::Function(12), ALT, "\x1b[24;3~", "\x1b[24;3~"),
        (Key::Function(13), NONE, "", ""),
        (Key::Function(0), NONE, "", ""),
        (Key::Keypad('0'), NONE, "0", "\x1bOp"),
        (Key::Keypad('9'), NONE, "9", "\x1bOy"),
        (Key::Keypad('+'), NONE, "+", "\x1bOk"),
        (Key::Keypad('\r'), NONE, "\r", "\x1bOM"),
        (Key::Keypad('%'), NONE, "%", "%"),
    ] {
        let what = format!("{key:?} {modifiers:?}");
        assert_eq!(sent(key.clone(), modifiers, LEGACY), normal, "{what}");
        assert_eq!(
            sent(key, modifiers, APPLICATION),
            application,
            "{what}, application"
        );
    }
}

/// Every named key and every printable ASCII character, with all combinations of modifiers,
/// compared with the table of an existing terminal. Intentional differences are in `differs`.
#[test]
fn keys_are_encoded_as_by_termwiz() {
    let named = [
        (Key::Up, KeyCode::UpArrow),
        (Key::Down, KeyCode::DownArrow),
        (Key::Left, KeyCode::LeftArrow),
        (Key::Right, KeyCode::RightArrow),
        (Key::Home, KeyCode::Home),
        (Key::End, KeyCode::End),
        (Key::PageUp, KeyCode::PageUp),
        (Key::PageDown, KeyCode::PageDown),
        (Key::Insert, KeyCode::Insert),
        (Key::Delete, KeyCode::Delete),
        (Key::Enter, KeyCode::Enter),
        (Key::Tab, KeyCode::Tab),
        (Key::Escape, KeyCode::Escape),
        (Key::Backspace, KeyCode::Backspace),
    ];
    let functions = (1..=12).map(|n| (Key::Function(n), KeyCode::Function(n)));
    let printable = (' '..='~').map(|c| (Key::Char(c), KeyCode::Char(c)));
    let mut compared = 0;
    for (key, code) in named.into_iter().chain(functions).chain(printable) {
        for bits in 0..8u8 {
            let modifiers = KeyModifiers {
                shift: bits & 1 != 0,
                alt: bits & 2 != 0,
                ctrl: bits & 4 != 0,
            };
            if differs(&key, modifiers) {
                continue;
            }
            let mut theirs = Modifiers::NONE;
            theirs.set(Modifiers::SHIFT, modifiers.shift);
            theirs.set(Modifiers::ALT, modifiers.alt);
            theirs.set(Modifiers::CTRL, modifiers.ctrl);
            for modes in [LEGACY, APPLICATION] {
                let encoding = KeyCodeEncodeModes {
                    encoding: KeyboardEncoding::Xterm,
                    application_cursor_keys: modes.application_cursor,
                    newline_mode: false,
                    modify_other_keys: None,
                };
                let wanted = code.encode(theirs, encoding, true).unwrap();
                assert_eq!(
                    sent(key.clone(), modifiers, modes),
                    wanted,
                    "{key:?} {modifiers:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// Keys for which this crate follows xterm and termwiz does not.
fn differs(key: &Key, modifiers: KeyModifiers) -> bool {
    match key {
        // termwiz sends modified keys, and control with capitals and some punctuation, as `CSI u`
        // without a request.
        Key::Enter | Key::Tab | Key::Escape | Key::Backspace => modifiers != NONE,
        Key::Char(c) => {
            modifiers.ctrl && (modifiers.shift || c.is_ascii_uppercase() || legacy::control(*c).is_none())
                // Without a table of shifted keys, only letters have a shifted form.
                || modifiers.shift && !c.is_ascii_alphabetic()
        }
        _ => false,
    }
}

#[test]
fn kitty_sequences_are_sent_only_on_request() {
    for (key, modifiers, flags, wanted) in [
        (Key::Char('a'), NONE, 1, "a"),
        (Key::Char('A'), SHIFT, 1, "A"),
        (Key::Char('a'), CTRL, 1, "\x1b[97;5u"),
        (Key::Char('A'), ALL, 1, "\x1b[97;8u"),
        (Key::Char('i'), CTRL, 1, "\x1b[105;5u"),
        (Key::Char('x'), ALT, 1, "\x1b[120;3u"),
        (Key::Escape, NONE, 1, "\x1b[27u"),
        (Key::Enter, NONE, 1, "\r"),
        (Key::Enter, SHIFT, 1, "\x1b[13;2u"),
        (Key::Tab, SHIFT, 1, "\x1b[9;2u"),
        (Key::Backspace, NONE, 1, "\x7f"),
        (Key::Backspace, CTRL, 1, "\x1b[127;5u"),
        (Key::Up, NONE, 1, "\x1b[A"),
        (Key::Up, CTRL, 1, "\x1b[1;5A"),
        (Key::Function(1), NONE, 1, "\x1b[P"),
        (Key::Function(3), NONE, 1, "\x1b[13~"),
        (Key::Function(3), SHIFT, 1, "\x1b[13;2~"),
        (Key::Delete, NONE, 1, "\x1b[3~"),
        (Key::Keypad('5'), NONE, 1, "\x1bOu"),
        (Key::Keypad('5'), CTRL, 1, "\x1b[57404;5u"),
        (Key::Char('a'), NONE, 8, "\x1b[97u"),
        (Key::Char('A'), SHIFT, 8, "\x1b[97;2u"),
        (Key::Char('a'), NONE, 24, "\x1b[97;;97u"),
        (Key::Char('A'), SHIFT, 24, "\x1b[97;2;65u"),
        (Key::Char('a'), CTRL, 24, "\x1b[97;5u"),
        (Key::Enter, NONE, 8, "\x1b[13u"),
        (Key::Keypad('\r'), NONE, 8, "\x1b[57414u"),
        (Key::Text("é漢".into()), NONE, 8, "é漢"),
        // Only alternate keys are requested, which has no effect without the other flags.
        (Key::Up, NONE, 4, "\x1bOA"),
    ] {
        let modes = InputModes {
            kitty: flags,
            ..APPLICATION
        };
        assert_eq!(
            sent(key.clone(), modifiers, modes),
            wanted,
            "{key:?} {modifiers:?} {flags}"
        );
    }
}

#[test]
fn pasted_text_presses_no_keys() {
    for (text, plain) in [
        ("a b", "a b"),
        ("a\nb\r\nc\td", "a\rb\rc\td"),
        ("x\x1b[201~rm\x03\u{9b}", "x[201~rm"),
    ] {
        let input = KeyInput::Paste(text.into());
        assert_eq!(encode(&input, LEGACY), plain.as_bytes());
        let modes = InputModes {
            bracketed_paste: true,
            ..LEGACY
        };
        let bracketed = format!("\x1b[200~{plain}\x1b[201~");
        assert_eq!(encode(&input, modes), bracketed.as_bytes());
    }
}

#[test]
fn focus_is_reported_only_on_request() {
    let requested = InputModes {
        focus_events: true,
        ..LEGACY
    };
    for (focus, modes, wanted) in [
        (true, LEGACY, &b""[..]),
        (true, requested, b"\x1b[I"),
        (false, requested, b"\x1b[O"),
    ] {
        assert_eq!(encode(&KeyInput::Focus(focus), modes), wanted);
    }
}

#[test]
fn mouse_is_reported_as_requested() {
    use vt100::MouseProtocolEncoding::{Default, Sgr, Utf8};
    use vt100::MouseProtocolMode::{AnyMotion, ButtonMotion, None, Press, PressRelease};
    let left = MouseButton::Left;
    for (kind, modifiers, mode, encoding, wanted) in [
        (MouseKind::Press(left), NONE, None, Sgr, ""),
        (
            MouseKind::Press(left),
            NONE,
            PressRelease,
            Sgr,
            "\x1b[<0;3;5M",
        ),
        (
            MouseKind::Release(left),
            NONE,
            PressRelease,
            Sgr,
            "\x1b[<0;3;5m",
        ),
        (
            MouseKind::Press(MouseButton::Right),
            ALL,
            PressRelease,
            Sgr,
            "\x1b[<30;3;5M",
        ),
        (MouseKind::WheelUp, NONE, PressRelease, Sgr, "\x1b[<64;3;5M"),
        (
            MouseKind::WheelDown,
            CTRL,
            PressRelease,
            Sgr,
            "\x1b[<81;3;5M",
        ),
        (MouseKind::Drag(left), NONE, PressRelease, Sgr, ""),
        (
            MouseKind::Drag(left),
            NONE,
            ButtonMotion,
            Sgr,
            "\x1b[<32;3;5M",
        ),
        (MouseKind::Move, NONE, ButtonMotion, Sgr, ""),
        (MouseKind::Move, NONE, AnyMotion, Sgr, "\x1b[<35;3;5M"),
        (MouseKind::Press(left), CTRL, Press, Default, "\x1b[M #%"),
        (MouseKind::Release(left), NONE, Press, Default, ""),
        (
            MouseKind::Release(left),
            NONE,
            PressRelease,
            Default,
            "\x1b[M##%",
        ),
        (
            MouseKind::Press(left),
            NONE,
            PressRelease,
            Utf8,
            "\x1b[M #%",
        ),
    ] {
        let modes = InputModes {
            mouse: mode,
            mouse_encoding: encoding,
            ..LEGACY
        };
        let input = MouseInput {
            kind,
            col: 2,
            row: 4,
            modifiers,
        };
        let bytes = encode(&KeyInput::Mouse(input), modes);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            wanted,
            "{kind:?} {mode:?} {encoding:?}"
        );
    }
    let far = KeyInput::Mouse(MouseInput {
        kind: MouseKind::Press(left),
        col: 300,
        row: 4,
        modifiers: NONE,
    });
    for (encoding, wanted) in [
        (Default, ""),
        (Utf8, "\x1b[M \u{14d}%"),
        (Sgr, "\x1b[<0;301;5M"),
    ] {
        let modes = InputModes {
            mouse: PressRelease,
            mouse_encoding: encoding,
            ..LEGACY
        };
        assert_eq!(encode(&far, modes), wanted.as_bytes(), "{encoding:?}");
    }
}
