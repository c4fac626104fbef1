//! The two colours that a program may query.

/// The colours reported to programs that ask whether the terminal is light or dark (OSC 10 and 11):
/// red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalColors {
    /// Text colour.
    pub foreground: [u8; 3],
    /// Background colour.
    pub background: [u8; 3],
}

impl TerminalColors {
    /// Light text on black.
    pub const DARK: Self = Self {
        foreground: [0xd0, 0xd0, 0xd0],
        background: [0, 0, 0],
    };

    /// Black text on white.
    pub const LIGHT: Self = Self {
        foreground: [0, 0, 0],
        background: [0xff, 0xff, 0xff],
    };
}

impl Default for TerminalColors {
    fn default() -> Self {
        Self::DARK
    }
}
