//! [`LineCursor`]: the position of the next character on an open line. Line-editing sequences have
//! the same effect as in `sink`, so that a card shows the text that a model reads.

use crate::text::styled_line::StyledLine;
use agent_bash_core::LineEdit;
use ratatui::style::Style;
use std::collections::VecDeque;

/// The cursor of the open line.
#[derive(Debug, Default)]
pub(crate) struct LineCursor {
    /// True if the last output was a carriage return. Text then replaces the line; a cursor
    /// movement does not.
    after_carriage_return: bool,
    /// True if the line was erased after the carriage return.
    erased: bool,
    /// The characters right of the cursor, while output is processed. Between chunks of output they
    /// are on the line, and the cursor is `chars_after` characters before its end.
    right: VecDeque<(char, Style)>,
    chars_after: usize,
    /// Columns between the end of the line and the cursor.
    blanks: usize,
}

impl LineCursor {
    pub(crate) fn carriage_return(&mut self) {
        self.after_carriage_return = true;
    }

    /// True if the cursor is at the end of the line.
    pub(crate) fn is_at_end(&self) -> bool {
        !self.after_carriage_return
            && self.chars_after == 0
            && self.blanks == 0
            && self.right.is_empty()
    }

    /// Applies a sequence to the line, which has room for `most` characters.
    pub(crate) fn edit(&mut self, edit: LineEdit, line: &mut StyledLine, most: usize) {
        if self.after_carriage_return {
            match edit {
                // After a CR, text is only removed once something replaces it.
                LineEdit::EraseRight | LineEdit::EraseLine => {
                    self.erased = true;
                    return;
                }
                LineEdit::Back(_) | LineEdit::Column(1) => return,
                _ if self.erased => self.clear_line(line),
                _ => self.go_to_beginning(line),
            }
            (self.after_carriage_return, self.erased) = (false, false);
        }
        self.hide_right(line);
        match edit {
            LineEdit::Back(columns) => self.back(columns, line),
            LineEdit::Forward(columns) => self.forward(columns, line, most),
            LineEdit::Column(1) => self.after_carriage_return = true,
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
            LineEdit::EraseLine => (self.after_carriage_return, self.erased) = (true, true),
        }
    }

    /// Prepares the line for text. The caller then appends the text, which overwrites the
    /// characters right of the cursor.
    pub(crate) fn before_text(&mut self, line: &mut StyledLine, most: usize) {
        if std::mem::take(&mut self.after_carriage_return) {
            self.clear_line(line);
        }
        self.erased = false;
        self.hide_right(line);
        for _ in 0..std::mem::take(&mut self.blanks) {
            line.put(' ', Style::new(), most);
        }
    }

    /// Removes the characters right of the cursor that were overwritten by `chars` new characters.
    pub(crate) fn remove_overwritten(&mut self, chars: u64) {
        self.remove(usize::try_from(chars).unwrap_or(usize::MAX));
    }

    /// Puts the characters right of the cursor onto the line, so that the line can be shown.
    pub(crate) fn show_line(&mut self, line: &mut StyledLine, most: usize) {
        let before = line.char_count();
        for (c, style) in std::mem::take(&mut self.right) {
            line.put(c, style, most);
        }
        self.chars_after += line.char_count() - before;
    }

    /// Takes the characters right of the cursor off the line again, the reverse of
    /// [`Self::show_line`].
    fn hide_right(&mut self, line: &mut StyledLine) {
        let count = std::mem::take(&mut self.chars_after);
        self.move_right_of_cursor(count, line);
    }

    fn move_right_of_cursor(&mut self, chars: usize, line: &mut StyledLine) {
        let removed = std::iter::from_fn(|| line.pop()).take(chars);
        removed.for_each(|c| self.right.push_front(c));
    }

    fn back(&mut self, columns: usize, line: &mut StyledLine) {
        let blanks = self.blanks.min(columns);
        self.blanks -= blanks;
        self.move_right_of_cursor(columns - blanks, line);
    }

    fn go_to_beginning(&mut self, line: &mut StyledLine) {
        self.hide_right(line);
        self.blanks = 0;
        self.move_right_of_cursor(LineEdit::MAX_RIGHT_CHARS, line);
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

    fn clear_line(&mut self, line: &mut StyledLine) {
        line.clear();
        *self = Self::default();
    }
}
