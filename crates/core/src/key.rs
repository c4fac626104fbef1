//! Keyboard and mouse input as plain data, from a host to `agent-bash-pty`.

/// An input event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyInput {
    /// A key.
    Key {
        /// The key.
        key: Key,
        /// The modifiers held down.
        modifiers: KeyModifiers,
    },
    /// Text from the clipboard.
    Paste(String),
    /// The mouse.
    Mouse(MouseInput),
    /// The terminal gained (`true`) or lost the focus.
    Focus(bool),
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A printable character, or the letter of a Ctrl or Alt combination.
    Char(char),
    /// Text that an input method composed.
    Text(String),
    /// Return.
    Enter,
    /// Tab; with shift, back-tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// Cursor up.
    Up,
    /// Cursor down.
    Down,
    /// Cursor left.
    Left,
    /// Cursor right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete.
    Delete,
    /// F1 to F12.
    Function(u8),
    /// A key of the numeric keypad, by its character.
    Keypad(char),
}

/// Modifiers held down with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct KeyModifiers {
    /// Shift.
    pub shift: bool,
    /// Alt, or Meta.
    pub alt: bool,
    /// Control.
    pub ctrl: bool,
}

/// A mouse event. Cells are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MouseInput {
    /// The event.
    pub kind: MouseKind,
    /// Column.
    pub col: u16,
    /// Row.
    pub row: u16,
    /// The modifiers held down.
    pub modifiers: KeyModifiers,
}

/// The type of a mouse event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseKind {
    /// A button was pressed.
    Press(MouseButton),
    /// A button was released.
    Release(MouseButton),
    /// Moved with a button held down.
    Drag(MouseButton),
    /// Moved.
    Move,
    /// The wheel, away from the user.
    WheelUp,
    /// The wheel, towards the user.
    WheelDown,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseButton {
    /// Left.
    Left,
    /// Middle.
    Middle,
    /// Right.
    Right,
}
