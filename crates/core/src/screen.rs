//! A terminal's screen as plain data: produced by `agent-bash-pty`, drawn by `agent-bash-render`.

/// The contents of a terminal at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// `rows × cols` cells, row by row.
    pub cells: Vec<Cell>,
    /// The cursor.
    pub cursor: Cursor,
    /// The title set by the program; empty if none.
    pub title: String,
    /// Modes that affect how keys are sent or the screen is drawn.
    pub modes: ScreenModes,
    /// Number of lines above the screen that the user can scroll back to.
    pub scrollback: usize,
}

impl Screen {
    /// Returns the cell at `row` and `col`, both from 0; `None` beyond the screen.
    pub fn cell(&self, row: u16, col: u16) -> Option<&Cell> {
        if col >= self.cols {
            return None;
        }
        self.cells
            .get(usize::from(row) * usize::from(self.cols) + usize::from(col))
    }
}

/// One cell of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// A grapheme: a base character and its combining marks. Empty for a blank cell and for the
    /// second half of a wide character.
    pub text: String,
    /// True if the character covers this cell and the next.
    pub wide: bool,
    /// Colour of the text.
    pub foreground: CellColor,
    /// Background colour.
    pub background: CellColor,
    /// The cell's attributes.
    pub attributes: Attributes,
}

/// A colour as in SGR sequences (ECMA-48, xterm).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CellColor {
    /// The terminal's default.
    #[default]
    Default,
    /// One of the 256-colour palette.
    Indexed(u8),
    /// 24-bit colour.
    Rgb(u8, u8, u8),
}

/// Attributes of a cell (SGR 1, 2, 3, 4, 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes {
    /// SGR 1.
    pub bold: bool,
    /// SGR 2.
    pub dim: bool,
    /// SGR 3.
    pub italic: bool,
    /// SGR 4.
    pub underline: bool,
    /// SGR 7.
    pub inverse: bool,
}

/// The cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The row, from 0.
    pub row: u16,
    /// The column, from 0.
    pub col: u16,
    /// True if the cursor is shown (DECTCEM).
    pub visible: bool,
}

/// Terminal modes that matter to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScreenModes {
    /// DECSET 1049: a full-screen program uses the alternate screen.
    pub alternate_screen: bool,
    /// DECCKM: arrow keys are sent as `ESC O x`.
    pub application_cursor: bool,
    /// DECKPAM: the numeric keypad sends escape sequences.
    pub application_keypad: bool,
    /// DECSET 2004: pasted text is sent between markers.
    pub bracketed_paste: bool,
    /// Any of DECSET 9, 1000, 1002, 1003: mouse events are sent.
    pub mouse: bool,
    /// DECSET 1004: changes of the focus are sent.
    pub focus_events: bool,
}
