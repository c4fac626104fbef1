//! [`LineEdit`]: the control sequences with which programs redraw and edit the line that they are on. Those who turn output into
//! text (`sink`, `render`) follow the same ones, so that all of them show the same.

/// What a control sequence does to its line. The numbers are at least 1, and at most [`LineEdit::WIDEST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEdit {
    /// CUF: right.
    Forward(usize),
    /// CUB: left.
    Back(usize),
    /// CHA: to a column; the first is 1.
    Column(usize),
    /// ICH: blanks in front of what is right of the cursor.
    Insert(usize),
    /// DCH: the rest of the line closes up.
    Delete(usize),
    /// ECH: blanks in place of what is right of the cursor.
    Erase(usize),
    /// EL: from the cursor to the end of the line.
    EraseRight,
    /// EL of the whole line. The cursor is taken to its beginning, where programs bring it before or behind this.
    EraseLine,
}

impl LineEdit {
    /// The most columns of one movement, and the most blanks that one makes: hardly a terminal is wider, and what is printed must not
    /// make much more text than it is.
    pub const WIDEST: usize = 512;

    /// Characters that a cursor at the beginning of a line has right of it: as many as are sure to be kept.
    pub const REACH: usize = 4096;

    /// Of a control sequence (`ESC [ … last`) with this number, or none (then 0).
    pub fn of(number: u16, last: char) -> Option<Self> {
        let count = usize::from(number).clamp(1, Self::WIDEST);
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
