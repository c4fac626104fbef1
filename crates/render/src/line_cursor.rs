//! [`LineCursor`]: the position of the next character on an open line. Sequences have the effect
//! that `sink` gives them, so that a card shows the text that a model reads.

use crate::styled_line::StyledLine;
use agent_bash_core::LineEdit;
use ratatui::style::Style;
use std::collections::VecDeque;

/// The cursor of the open line.
#[derive(Debug, Default)]
pub(crate) struct LineCursor {
    /// True if the last output was a carriage return: text then replaces the line, a movement does
    /// not.
    returned: bool,
    /// True if the line was erased since.
    erased: bool,
    /// The characters right of the cursor, while output is taken in. Otherwise they are on the
    /// line, and the cursor is `behind` characters before its end.
    right: VecDeque<(char, Style)>,
    behind: usize,
    /// Columns between the end of the line and the cursor.
    blanks: usize,
}

impl LineCursor {
    pub(crate) fn carriage_return(&mut self) {
        self.returned = true;
    }

    /// True if the cursor is at the end of the line.
    pub(crate) fn is_at_end(&self) -> bool {
        !self.returned && self.behind == 0 && self.blanks == 0 && self.right.is_empty()
    }

    /// Applies a sequence to the line, which holds at most `most` characters.
    pub(crate) fn edit(&mut self, edit: LineEdit, line: &mut StyledLine, most: usize) {
        if self.returned {
            match edit {
                // After a CR, text is only removed once something replaces it.
                LineEdit::EraseRight | LineEdit::EraseLine => {
                    self.erased = true;
                    return;
                }
                LineEdit::Back(_) | LineEdit::Column(1) => return,
                _ if self.erased => self.replace(line),
                _ => self.go_to_beginning(line),
            }
            (self.returned, self.erased) = (false, false);
        }
        self.take_right(line);
        match edit {
            LineEdit::Back(columns) => self.back(columns, line),
            LineEdit::Forward(columns) => self.forward(columns, line, most),
            LineEdit::Column(1) => self.returned = true,
            LineEdit::Column(column) => {
                self.go_to_beginning(line);
                self.forward(column - 1, line, most);
            }
            LineEdit::Insert(columns) => {
                if let Some((_, style)) = self.right.front().copied() {
                    let room = LineEdit::MAX_RIGHT_CHARS.saturating_sub(self.right.len());
                    self.insert(columns.min(room), style);
                }
            }
            LineEdit::Delete(columns) => {
                self.remove(columns);
            }
            LineEdit::Erase(columns) => {
                let removed = self.remove(columns);
                if !self.right.is_empty() {
                    self.insert(removed, Style::new());
                }
            }
            LineEdit::EraseRight => self.right.clear(),
            LineEdit::EraseLine => (self.returned, self.erased) = (true, true),
        }
    }

    /// Prepares for text, which is then appended to the line, over the characters right of it.
    pub(crate) fn before_text(&mut self, line: &mut StyledLine, most: usize) {
        if std::mem::take(&mut self.returned) {
            self.replace(line);
        }
        self.erased = false;
        self.take_right(line);
        for _ in 0..std::mem::take(&mut self.blanks) {
            line.put(' ', Style::new(), most);
        }
    }

    /// Notes that `chars` characters were written.
    pub(crate) fn written(&mut self, chars: u64) {
        self.remove(usize::try_from(chars).unwrap_or(usize::MAX));
    }

    /// Puts the characters right of the cursor onto the line, so that the line can be shown.
    pub(crate) fn show_line(&mut self, line: &mut StyledLine, most: usize) {
        let before = line.char_count();
        for (c, style) in std::mem::take(&mut self.right) {
            line.put(c, style, most);
        }
        self.behind += line.char_count() - before;
    }

    /// The reverse of [`Self::show_line`].
    fn take_right(&mut self, line: &mut StyledLine) {
        let behind = std::mem::take(&mut self.behind);
        self.take(behind, line);
    }

    fn take(&mut self, chars: usize, line: &mut StyledLine) {
        let removed = std::iter::from_fn(|| line.pop()).take(chars);
        removed.for_each(|c| self.right.push_front(c));
    }

    fn back(&mut self, columns: usize, line: &mut StyledLine) {
        let blanks = self.blanks.min(columns);
        self.blanks -= blanks;
        self.take(columns - blanks, line);
    }

    fn go_to_beginning(&mut self, line: &mut StyledLine) {
        self.take_right(line);
        self.blanks = 0;
        self.take(LineEdit::MAX_RIGHT_CHARS, line);
    }

    fn forward(&mut self, columns: usize, line: &mut StyledLine, most: usize) {
        let passed = self.right.len().min(columns);
        for (c, style) in self.right.drain(..passed) {
            line.put(c, style, most);
        }
        self.blanks = (self.blanks + columns - passed).min(LineEdit::MAX_MOVE);
    }

    fn insert(&mut self, blanks: usize, style: Style) {
        (0..blanks).for_each(|_| self.right.push_front((' ', style)));
    }

    /// Removes characters right of the cursor. Returns their number.
    fn remove(&mut self, chars: usize) -> usize {
        let removed = self.right.len().min(chars);
        self.right.drain(..removed);
        removed
    }

    fn replace(&mut self, line: &mut StyledLine) {
        line.clear();
        *self = Self::default();
    }
}
