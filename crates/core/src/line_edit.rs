//! The control sequences with which programs redraw the current line. `sink` and `render` both
//! interpret these sequences, so that they show the same text.

/// The effect of a control sequence on the current line. Numbers are from 1 to
/// [`LineEdit::MAX_MOVE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEdit {
    /// CUF: right.
    Forward(usize),
    /// CUB: left.
    Back(usize),
    /// CHA: to a column; the first is 1.
    Column(usize),
    /// ICH: inserts blanks at the cursor.
    Insert(usize),
    /// DCH: deletes characters at the cursor.
    Delete(usize),
    /// ECH: replaces characters at the cursor by blanks.
    Erase(usize),
    /// EL: erases from the cursor to the end of the line.
    EraseRight,
    /// EL of the whole line. Also moves the cursor to the first column, because programs do that
    /// before or after.
    EraseLine,
}

impl LineEdit {
    /// The largest movement in columns, and the largest number of blanks of one sequence. Terminals
    /// are rarely wider, and a few bytes of output must not produce much text.
    pub const MAX_MOVE: usize = 512;

    /// The number of characters right of the cursor that a long line keeps. Others may be dropped.
    pub const MAX_RIGHT_CHARS: usize = 4096;

    /// Returns the edit of a control sequence (`ESC [ <number> <last>`); a missing number is 0.
    pub fn of(number: u16, last: char) -> Option<Self> {
        let count = usize::from(number).clamp(1, Self::MAX_MOVE);
        Some(match (last, number) {
            ('C', _) => Self::Forward(count),
            ('D', _) => Self::Back(count),
            ('G', _) => Self::Column(count),
            ('@', _) => Self::Insert(count),
            ('P', _) => Self::Delete(count),
            ('X', _) => Self::Erase(count),
            ('K', 0) => Self::EraseRight,
            ('K', 2) => Self::EraseLine,
            _ => return None,
        })
    }
}
