//! Keys as xterm sends them.

use super::modes::InputModes;
use agent_bash_core::{Key, KeyModifiers};

/// Returns the modifiers as a number in a sequence: 1, plus 1 for shift, 2 for alt, 4 for control.
pub(super) fn parameter(modifiers: KeyModifiers) -> u8 {
    1 + u8::from(modifiers.shift) + 2 * u8::from(modifiers.alt) + 4 * u8::from(modifiers.ctrl)
}

/// How a key that is not a character is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpecialEncoding {
    /// `ESC [ 1 ; m X`, without modifiers `ESC [ X`, or `ESC O X` in application-cursor mode.
    Cursor(char),
    /// `ESC [ 1 ; m X`, without modifiers `ESC O X`.
    Ss3(char),
    /// `ESC [ n ; m ~`.
    Numbered(u8),
}

impl SpecialEncoding {
    /// Returns the sequence that begins with `ESC [`. `m` is the modifiers' [`parameter`].
    pub(super) fn sequence(self, m: u8) -> Vec<u8> {
        match (self, m) {
            (Self::Cursor(x) | Self::Ss3(x), 1) => format!("\x1b[{x}"),
            (Self::Cursor(x) | Self::Ss3(x), m) => format!("\x1b[1;{m}{x}"),
            (Self::Numbered(n), 1) => format!("\x1b[{n}~"),
            (Self::Numbered(n), m) => format!("\x1b[{n};{m}~"),
        }
        .into_bytes()
    }
}

/// Returns the encoding of a key that is not a character; `None` for other keys.
pub(super) fn special(key: &Key) -> Option<SpecialEncoding> {
    Some(match key {
        Key::Up => SpecialEncoding::Cursor('A'),
        Key::Down => SpecialEncoding::Cursor('B'),
        Key::Right => SpecialEncoding::Cursor('C'),
        Key::Left => SpecialEncoding::Cursor('D'),
        Key::Home => SpecialEncoding::Cursor('H'),
        Key::End => SpecialEncoding::Cursor('F'),
        Key::Insert => SpecialEncoding::Numbered(2),
        Key::Delete => SpecialEncoding::Numbered(3),
        Key::PageUp => SpecialEncoding::Numbered(5),
        Key::PageDown => SpecialEncoding::Numbered(6),
        Key::Function(n @ 1..=4) => SpecialEncoding::Ss3(char::from(b'P' + n - 1)),
        Key::Function(5) => SpecialEncoding::Numbered(15),
        Key::Function(n @ 6..=10) => SpecialEncoding::Numbered(n + 11),
        Key::Function(n @ 11..=12) => SpecialEncoding::Numbered(n + 12),
        _ => return None,
    })
}

/// Encodes a key without the Kitty protocol.
pub(super) fn encode(key: &Key, modifiers: KeyModifiers, modes: InputModes) -> Vec<u8> {
    if let Some(special) = special(key) {
        let ss3 = |x: char| format!("\x1bO{x}").into_bytes();
        return match (special, parameter(modifiers)) {
            (SpecialEncoding::Cursor(x), 1) if modes.application_cursor => ss3(x),
            (SpecialEncoding::Ss3(x), 1) => ss3(x),
            (special, m) => special.sequence(m),
        };
    }
    let plain = match key {
        Key::Char(c) => return character(*c, modifiers),
        Key::Text(text) => return without_controls(text),
        Key::Keypad(c) => return keypad(*c, modifiers, modes.application_keypad),
        Key::Enter => &b"\r"[..],
        Key::Tab if modifiers.shift => b"\x1b[Z",
        Key::Tab => b"\t",
        Key::Backspace if modifiers.ctrl => b"\x08",
        Key::Backspace => b"\x7f",
        Key::Escape => b"\x1b",
        _ => return Vec::new(),
    };
    with_alt(modifiers, plain)
}

/// Puts ESC before the bytes if alt is pressed.
fn with_alt(modifiers: KeyModifiers, bytes: &[u8]) -> Vec<u8> {
    let escape: &[u8] = if modifiers.alt { b"\x1b" } else { b"" };
    [escape, bytes].concat()
}

/// Encodes a printable key with modifiers.
fn character(c: char, modifiers: KeyModifiers) -> Vec<u8> {
    if modifiers.ctrl
        && let Some(control) = control(c)
    {
        return with_alt(modifiers, &[control]);
    }
    let c = if modifiers.shift { shifted(c) } else { c };
    with_alt(modifiers, c.encode_utf8(&mut [0; 4]).as_bytes())
}

/// Returns the character of a key with shift.
pub(super) fn shifted(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

/// Returns the control character of a key in xterm: letters map to 1–26, some digits and
/// punctuation to other control characters.
pub(super) fn control(c: char) -> Option<u8> {
    Some(match c.to_ascii_lowercase() {
        letter @ 'a'..='z' => letter as u8 - b'a' + 1,
        ' ' | '@' | '2' | '`' => 0x00,
        '[' | '3' => 0x1b,
        '\\' | '4' => 0x1c,
        ']' | '5' => 0x1d,
        '^' | '6' | '~' => 0x1e,
        '_' | '7' | '/' => 0x1f,
        '?' | '8' => 0x7f,
        _ => return None,
    })
}

/// Encodes a keypad key: `ESC O x` in application mode (VT100's table), otherwise its character.
fn keypad(c: char, modifiers: KeyModifiers, application: bool) -> Vec<u8> {
    let code = match c {
        '0'..='9' => char::from(b'p' + (c as u8 - b'0')),
        '*' => 'j',
        '+' => 'k',
        ',' => 'l',
        '-' => 'm',
        '.' => 'n',
        '/' => 'o',
        '=' => 'X',
        '\r' | '\n' => 'M',
        _ => return character(c, modifiers),
    };
    match (application, code) {
        (true, code) => format!("\x1bO{code}").into_bytes(),
        (false, 'M') => with_alt(modifiers, b"\r"),
        (false, _) => character(c, modifiers),
    }
}

/// Returns composed text without control characters, which would act as keys that the user did not
/// press.
pub(super) fn without_controls(text: &str) -> Vec<u8> {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.into_bytes()
}
