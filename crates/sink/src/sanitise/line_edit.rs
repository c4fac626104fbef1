//! Cursor movements and edits of the line: backspaces, carriage returns, and control sequences.

use super::{CR_MARK, CarriageReturn, Sanitiser, TextSink};
use agent_bash_core::LineEdit;

impl Sanitiser {
    /// Applies a control sequence, whose last byte is at `raw`, to the line.
    pub(super) fn apply(&mut self, effect: LineEdit, raw: u64, out: &mut impl TextSink) {
        match effect {
            // Handled like a carriage return.
            LineEdit::Column(1) => self.control(b'\r', raw, out),
            LineEdit::EraseLine => {
                self.control(b'\r', raw, out);
                self.erased = true;
            }
            // After a CR, text is only removed once something replaces it.
            LineEdit::EraseRight if self.pending_cr.is_some() => self.erased = true,
            LineEdit::Back(_) if self.pending_cr.is_some() => {}
            LineEdit::Back(columns) => self.back(columns),
            effect => {
                self.place_cursor(out);
                if !out.pass_on_effect(effect) {
                    self.edit(effect, raw, out);
                }
            }
        }
    }

    /// Moves the cursor back: first over pending blanks, then over text.
    pub(super) fn back(&mut self, columns: usize) {
        let blanks = self.blanks.min(columns);
        self.blanks -= blanks;
        self.backspaces += columns - blanks;
    }

    /// Prepares a movement of the cursor or an edit: applies the pending effects, so that all text
    /// right of the cursor is in `right`.
    fn place_cursor(&mut self, out: &mut impl TextSink) {
        match self.pending_cr.take() {
            Some(cr) if std::mem::take(&mut self.erased) => self.return_carriage(cr, true, out),
            Some(_) => self.go_to_beginning(out),
            None => self.take_back(out),
        }
    }

    /// Moves the cursor to the beginning of the line: all text is right of it.
    fn go_to_beginning(&mut self, out: &mut impl TextSink) {
        (self.backspaces, self.blanks) = (0, 0);
        self.right.insert_str(0, &out.take_line());
    }

    /// Applies pending backspaces: moves text from the line to the text right of the cursor.
    fn take_back(&mut self, out: &mut impl TextSink) {
        if self.backspaces > 0 {
            let taken = out.take_back(std::mem::take(&mut self.backspaces));
            self.right.insert_str(0, &taken);
        }
    }

    /// Applies a sequence to the line at the cursor. Columns are characters, as for backspaces.
    fn edit(&mut self, effect: LineEdit, raw: u64, out: &mut impl TextSink) {
        match effect {
            LineEdit::Forward(columns) => self.forward(columns, raw, out),
            LineEdit::Column(column) => {
                self.go_to_beginning(out);
                self.forward(column - 1, raw, out);
            }
            LineEdit::Insert(columns) if !self.right.is_empty() => {
                // A terminal drops text that moves beyond its width.
                let room = LineEdit::MAX_RIGHT_CHARS.saturating_sub(self.right.len());
                self.right.insert_str(0, &" ".repeat(columns.min(room)));
            }
            LineEdit::Delete(columns) => {
                self.remove_right(columns, out);
            }
            LineEdit::Erase(columns) => {
                let removed = self.remove_right(columns, out);
                if !self.right.is_empty() {
                    self.right.insert_str(0, &" ".repeat(removed));
                }
            }
            LineEdit::EraseRight => {
                self.remove_right(usize::MAX, out);
            }
            _ => {}
        }
    }

    /// Moves the cursor to the right, over existing text and beyond.
    fn forward(&mut self, columns: usize, raw: u64, out: &mut impl TextSink) {
        let (end, passed) = first_chars(&self.right, columns);
        if passed > 0 {
            out.stand_in(&self.right[..end], raw + 1, 0);
            self.right.drain(..end);
        }
        self.blanks = (self.blanks + columns - passed).min(LineEdit::MAX_MOVE);
    }

    /// Removes characters right of the cursor; returns their number.
    fn remove_right(&mut self, chars: usize, out: &mut impl TextSink) -> usize {
        let (end, removed) = first_chars(&self.right, chars);
        if has_visible_text(&self.right[..end]) {
            out.written_over();
        }
        self.right.drain(..end);
        removed
    }

    pub(super) fn move_cursor(&mut self, text: &[u8], raw: u64, out: &mut impl TextSink) {
        let cr = self.pending_cr.take();
        let erased = std::mem::take(&mut self.erased);
        if text.first() == Some(&b'\n') {
            (self.backspaces, self.blanks) = (0, 0);
            return;
        }
        if let Some(cr) = cr {
            self.return_carriage(cr, erased, out);
        }
        self.take_back(out);
        if self.blanks > 0 {
            let blanks = " ".repeat(std::mem::take(&mut self.blanks));
            out.stand_in(&blanks, raw, 0);
        }
        if !self.right.is_empty() {
            self.write_over(text, out);
        }
    }

    /// Handles a CR: the following text replaces the line, or is appended to it.
    fn return_carriage(&mut self, cr: u64, erased: bool, out: &mut impl TextSink) {
        match self.carriage_return {
            CarriageReturn::Overwrite => {
                if has_visible_text(&self.right) {
                    out.written_over();
                }
                self.right.clear();
                (self.backspaces, self.blanks) = (0, 0);
                out.restart_line(cr);
                if erased {
                    out.pass_on_effect(LineEdit::EraseRight);
                }
            }
            CarriageReturn::Newline => {
                self.append_right_at(cr, out);
                out.line_end(cr);
            }
            CarriageReturn::Marked => {
                self.append_right_at(cr, out);
                out.stand_in(CR_MARK, cr, 1);
            }
        }
    }

    /// Overwrites the text right of the cursor with `text`, up to a line end.
    fn write_over(&mut self, text: &[u8], out: &mut impl TextSink) {
        let line = memchr::memchr(b'\n', text).map_or(text, |end| &text[..end]);
        // The bytes are whole characters, so the conversion replaces nothing.
        let line_text = String::from_utf8_lossy(line);
        let mut overwritten = 0;
        let mut right = self.right.chars();
        for new in line_text.chars() {
            let Some(old) = right.next() else { break };
            overwritten += old.len_utf8();
            // Overstriking a character with itself means bold, with `_` underlined: neither loses
            // text.
            if old != new && old != ' ' && old != '_' && new != '_' {
                out.written_over();
            }
        }
        self.right.drain(..overwritten);
    }
}

/// Returns the offset at which the first `chars` characters of a text end, and their number.
fn first_chars(text: &str, chars: usize) -> (usize, usize) {
    let first = text.char_indices().take(chars);
    first.fold((0, 0), |(_, count), (at, c)| (at + c.len_utf8(), count + 1))
}

/// True if a text has visible characters.
fn has_visible_text(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace())
}
