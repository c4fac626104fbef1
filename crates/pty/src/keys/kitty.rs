//! The Kitty keyboard protocol, for programs that enable it. Only key presses are sent: hosts do
//! not report releases.

use super::legacy::{self, SpecialEncoding, parameter, shifted, special, without_controls};
use super::modes::InputModes;
use agent_bash_core::{Key, KeyModifiers};

/// Flag 1: keys that are otherwise ambiguous get sequences of their own.
const DISAMBIGUATE_FLAG: u8 = 1;
/// Flag 8: all keys get sequences, including printable ones.
const REPORT_ALL: u8 = 8;
/// Flag 16: sequences include the text that the key produces.
const WITH_TEXT: u8 = 16;

/// The code of keypad `0`; the other digits follow.
const KEYPAD_ZERO: u32 = 57399;

/// Encodes a key for a program that has enabled the protocol.
pub(super) fn encode(key: &Key, modifiers: KeyModifiers, modes: InputModes) -> Vec<u8> {
    let reports_all = modes.kitty & REPORT_ALL != 0;
    if !reports_all && modes.kitty & DISAMBIGUATE_FLAG == 0 {
        return legacy::encode(key, modifiers, modes);
    }
    let m = parameter(modifiers);
    if let Some(special) = special(key) {
        return match special {
            // `CSI R` is the reply to a cursor position query.
            SpecialEncoding::Ss3('R') => SpecialEncoding::Numbered(13).sequence(m),
            special => special.sequence(m),
        };
    }
    let (code, text) = match key {
        Key::Text(text) => return without_controls(text),
        // These keys are sent as without the protocol, so that the user can still type in the shell
        // after a program has crashed.
        Key::Enter | Key::Tab | Key::Backspace if m == 1 && !reports_all => {
            return legacy::encode(key, modifiers, modes);
        }
        Key::Enter => (13, None),
        Key::Tab => (9, None),
        Key::Backspace => (127, None),
        Key::Escape => (27, None),
        Key::Char(c) if !reports_all && !modifiers.ctrl && !modifiers.alt => {
            return legacy::encode(&Key::Char(*c), modifiers, modes);
        }
        Key::Char(c) => {
            let printed = if modifiers.shift { shifted(*c) } else { *c };
            let text = (!modifiers.ctrl && !modifiers.alt).then_some(printed);
            (u32::from(unshifted(*c)), text)
        }
        Key::Keypad(c) if !reports_all && m == 1 => {
            return legacy::encode(&Key::Keypad(*c), modifiers, modes);
        }
        Key::Keypad(c) => match keypad_code(*c) {
            Some(code) => (code, Some(*c).filter(|c| !c.is_control())),
            None => return legacy::encode(key, modifiers, modes),
        },
        _ => return Vec::new(),
    };
    let text = text.filter(|_| modes.kitty & WITH_TEXT != 0);
    match (m, text) {
        (1, None) => format!("\x1b[{code}u"),
        (1, Some(text)) => format!("\x1b[{code};;{}u", u32::from(text)),
        (m, None) => format!("\x1b[{code};{m}u"),
        (m, Some(text)) => format!("\x1b[{code};{m};{}u", u32::from(text)),
    }
    .into_bytes()
}

/// Returns the character of a key without shift, which determines the key's code.
fn unshifted(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(single), None) => single,
        _ => c,
    }
}

/// Returns the code of a keypad key, from the protocol's table of functional keys.
fn keypad_code(c: char) -> Option<u32> {
    Some(match c {
        '0'..='9' => KEYPAD_ZERO + u32::from(c) - u32::from('0'),
        '.' => 57409,
        '/' => 57410,
        '*' => 57411,
        '-' => 57412,
        '+' => 57413,
        '\r' | '\n' => 57414,
        '=' => 57415,
        ',' => 57416,
        _ => return None,
    })
}
