//! Encodes keys as xterm sends them, or as the program has requested.
//!
//! Sources: xterm's control sequences (`ctlseqs`) and the Kitty keyboard protocol. Modules:
//! `modes`, `legacy` (xterm), `kitty`, `mouse`.

mod kitty;
mod legacy;
mod modes;
mod mouse;

use agent_bash_core::KeyInput;
pub(crate) use modes::InputModes;

/// Returns the bytes for an input. Empty if the program did not request such input, for example
/// mouse events.
pub(crate) fn encode(input: &KeyInput, modes: InputModes) -> Vec<u8> {
    match input {
        KeyInput::Key { key, modifiers } if modes.kitty != 0 => {
            kitty::encode(key, *modifiers, modes)
        }
        KeyInput::Key { key, modifiers } => legacy::encode(key, *modifiers, modes),
        KeyInput::Paste(text) => paste(text, modes.bracketed_paste),
        KeyInput::Mouse(mouse) => mouse::encode(*mouse, modes.mouse, modes.mouse_encoding),
        KeyInput::Focus(_) if !modes.focus_events => Vec::new(),
        KeyInput::Focus(true) => b"\x1b[I".to_vec(),
        KeyInput::Focus(false) => b"\x1b[O".to_vec(),
    }
}

/// Encodes pasted text. Line ends become Return. Other control characters are removed: pasted text
/// must not press keys, or end the bracketed paste.
fn paste(text: &str, bracketed: bool) -> Vec<u8> {
    let text: String = text
        .replace("\r\n", "\r")
        .chars()
        .map(|c| if c == '\n' { '\r' } else { c })
        .filter(|c| !c.is_control() || matches!(c, '\r' | '\t'))
        .collect();
    if bracketed {
        format!("\x1b[200~{text}\x1b[201~").into_bytes()
    } else {
        text.into_bytes()
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
