//! Mouse events, for programs that enable them, in the encoding they choose.

use agent_bash_core::{MouseButton, MouseInput, MouseKind};
use vt100::{MouseProtocolEncoding, MouseProtocolMode};

/// Added to the button for motion events.
const MOTION_BIT: u16 = 32;
/// "No button". In the older encodings every release has this number.
const NO_BUTTON: u16 = 3;
/// Added to the number of the wheel's direction: 0 up, 1 down.
const WHEEL_BIT: u16 = 64;

/// Encodes a mouse event; empty if the program does not want such events.
pub(super) fn encode(
    mouse: MouseInput,
    mode: MouseProtocolMode,
    encoding: MouseProtocolEncoding,
) -> Vec<u8> {
    if !is_wanted(mouse.kind, mode) {
        return Vec::new();
    }
    let is_release = matches!(mouse.kind, MouseKind::Release(_));
    let is_sgr = encoding == MouseProtocolEncoding::Sgr;
    let button = match mouse.kind {
        MouseKind::Press(button) => button_number(button),
        MouseKind::Release(button) if is_sgr => button_number(button),
        MouseKind::Release(_) => NO_BUTTON,
        MouseKind::Drag(button) => button_number(button) + MOTION_BIT,
        MouseKind::Move => NO_BUTTON + MOTION_BIT,
        MouseKind::WheelUp => WHEEL_BIT,
        MouseKind::WheelDown => WHEEL_BIT + 1,
    };
    let held = mouse.modifiers;
    let modifier_bits =
        4 * u16::from(held.shift) + 8 * u16::from(held.alt) + 16 * u16::from(held.ctrl);
    // X10 mode has no modifiers.
    let modifier_bits = if mode == MouseProtocolMode::Press {
        0
    } else {
        modifier_bits
    };
    let button = button + modifier_bits;
    let (col, row) = (mouse.col.saturating_add(1), mouse.row.saturating_add(1));
    match encoding {
        MouseProtocolEncoding::Sgr => {
            let last = if is_release { 'm' } else { 'M' };
            format!("\x1b[<{button};{col};{row}{last}").into_bytes()
        }
        MouseProtocolEncoding::Default => {
            // Larger column and row numbers cannot be encoded in a byte. As in xterm, no event is
            // sent then.
            let bytes = [button, col, row].map(|number| u8::try_from(number + 32).ok());
            match bytes {
                [Some(button), Some(col), Some(row)] => vec![0x1b, b'[', b'M', button, col, row],
                _ => Vec::new(),
            }
        }
        MouseProtocolEncoding::Utf8 => {
            let mut text = "\x1b[M".to_owned();
            text.extend(
                [button, col, row]
                    .into_iter()
                    .filter_map(|number| char::from_u32(u32::from(number) + 32)),
            );
            text.into_bytes()
        }
    }
}

/// True if the program wants events of this kind.
fn is_wanted(kind: MouseKind, mode: MouseProtocolMode) -> bool {
    match mode {
        MouseProtocolMode::None => false,
        MouseProtocolMode::Press => matches!(kind, MouseKind::Press(_)),
        MouseProtocolMode::PressRelease => !matches!(kind, MouseKind::Drag(_) | MouseKind::Move),
        MouseProtocolMode::ButtonMotion => kind != MouseKind::Move,
        MouseProtocolMode::AnyMotion => true,
    }
}

fn button_number(button: MouseButton) -> u16 {
    match button {
        MouseButton::Left => 0,
        MouseButton::Middle => 1,
        MouseButton::Right => 2,
    }
}
