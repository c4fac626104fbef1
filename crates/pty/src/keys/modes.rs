//! The terminal modes that determine how an input is encoded.

use vt100::{MouseProtocolEncoding, MouseProtocolMode};

/// The modes that a program has enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InputModes {
    /// True if cursor keys send application sequences (DECCKM).
    pub(crate) application_cursor: bool,
    /// True if keypad keys send application sequences (DECKPAM).
    pub(crate) application_keypad: bool,
    /// True if pasted text is bracketed (DECSET 2004).
    pub(crate) bracketed_paste: bool,
    /// The mouse events that are reported.
    pub(crate) mouse: MouseProtocolMode,
    /// The encoding of mouse events.
    pub(crate) mouse_encoding: MouseProtocolEncoding,
    /// True if focus changes are reported (DECSET 1004).
    pub(crate) focus_events: bool,
    /// Flags of the Kitty keyboard protocol; 0 means off.
    pub(crate) kitty: u8,
}
