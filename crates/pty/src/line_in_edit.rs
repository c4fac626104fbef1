//! Computes the final text of lines that a line editor edits.
//!
//! readline, pyrepl, node and similar editors move over their text, also to the rows above, and
//! overwrite it. Only a terminal of the same width can compute the result. From the first such
//! movement on, output is therefore drawn on a screen, and the reader gets the rows of that screen.
//!
//! Programs that print lines, or draw a progress bar, are not affected: only line editors disable
//! canonical mode or enable bracketed paste.

use agent_bash_core::LineEdit;
use std::collections::VecDeque;
use std::num::NonZeroU16;
use vt100::capture::{BasicFormattedCaptureState, RowContents, basic_formatted_to_plain as plain};

const ESC: u8 = 0x1b;

/// Ends all colours: the result of `attributes_formatted` for a cell without attributes.
const NO_COLOURS: &str = "\x1b[m";

/// The longest movement to the left that readers of output accept, in columns.
const MAX_MOVE: usize = LineEdit::MAX_MOVE;

/// An edit in progress.
pub(crate) struct LineInEdit {
    screen: vt100::Parser<ScrolledRows>,
    reader: Reader,
}

/// The state of the output as its reader has received it.
struct Reader {
    /// The line that was open before the edit, until its final text is known.
    open: Option<OpenLine>,
    /// The colours in force before the edit.
    colours: String,
    /// True if colour sequences were sent.
    has_sent_colours: bool,
}

/// A line without its line end. The reader has received the text so far.
struct OpenLine {
    /// The text with its colours.
    text: String,
    /// True if the cursor is at the end of the line.
    is_at_end: bool,
    /// True if the beginning of the line is still on the screen.
    has_beginning: bool,
}

/// Rows that have scrolled off the screen.
#[derive(Default)]
struct ScrolledRows {
    /// The rows above the edited line, as they were before the edit. Rows from the first changed
    /// row on are part of the edit. A cursor movement into a row is not a change, because pyrepl
    /// moves up and down again.
    above: VecDeque<String>,
    /// The text of the scrolled rows that are part of the edit.
    text: String,
    state: BasicFormattedCaptureState,
}

impl vt100::Callbacks for ScrolledRows {
    fn on_scroll(&mut self, row: RowContents<'_>, _: bool) {
        if let Some(before) = self.above.pop_front() {
            let mut now = String::new();
            // Cannot fail for a string.
            let _ = row.write_formatted_basic(&mut now, &mut BasicFormattedCaptureState::new());
            if plain(&now).collect::<String>().trim_end() == before.trim_end() {
                return;
            }
            self.above.clear();
        }
        let _ = row.write_formatted_basic(&mut self.text, &mut self.state);
    }
}

impl LineInEdit {
    /// Returns the offset in output at which an edit begins. `prompt`: bracketed paste is on, so
    /// that an end of line belongs to the editor, too. Sequences must be whole.
    pub(crate) fn start_offset(bytes: &[u8], prompt: bool) -> Option<usize> {
        let mut offset = 0;
        loop {
            let is_control = |byte: &u8| matches!(byte, 0x08 | b'\r' | b'\n' | &ESC);
            offset += bytes[offset..].iter().position(is_control)?;
            let rest = &bytes[offset..];
            offset += match rest[0] {
                ESC if edits_text(&rest[..sequence_len(rest)]) => return Some(offset),
                ESC => sequence_len(rest),
                b'\n' if !prompt => 1,
                b'\r' if !prompt => {
                    let returns = rest.iter().take_while(|byte| **byte == b'\r').count();
                    if rest.get(returns) != Some(&b'\n') {
                        return Some(offset);
                    }
                    returns + 1
                }
                _ => return Some(offset),
            };
        }
    }

    /// Begins an edit with the contents of the terminal.
    pub(crate) fn from_terminal(terminal: &vt100::Screen) -> Self {
        let (row, col) = terminal.cursor_position();
        let (rows, cols) = terminal.size();
        let is_wrapped = |row: &u16| terminal.row_wrapped(*row);
        let first = (0..row).rev().take_while(is_wrapped).last().unwrap_or(row);
        let last = (row..rows.get())
            .find(|row| !is_wrapped(row))
            .unwrap_or(row);
        let state = terminal.state_formatted();
        let copy = || {
            // Without scrollback, rows are reported as soon as they leave the screen.
            let mut copy =
                vt100::Parser::new_with_callbacks(rows, cols, 0, ScrolledRows::default());
            copy.process(state.as_bytes());
            copy.callbacks_mut().above = rows_above(terminal, first.into());
            copy
        };
        let open = OpenLine {
            text: scroll_off_rows(copy(), last),
            is_at_end: row == last && col >= used_columns(terminal, row),
            has_beginning: first > 0 || terminal.scrollback_len() == 0,
        };
        Self {
            screen: copy(),
            reader: Reader {
                open: Some(open),
                colours: terminal.attributes_formatted(),
                has_sent_colours: false,
            },
        }
    }

    /// Processes output. Returns the part of the text that is final.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.screen.process(bytes);
        let text = &mut self.screen.callbacks_mut().text;
        if let Some(open) = &self.reader.open
            && text.len() < open.text.len()
            && !text.contains('\n')
        {
            return Vec::new();
        }
        self.reader.convert_rows(&std::mem::take(text)).into_bytes()
    }

    /// Sets a new size of the terminal. From now on, the rows above count as unchanged.
    pub(crate) fn resize(&mut self, rows: NonZeroU16, cols: NonZeroU16) {
        let (before, _) = self.screen.screen().cursor_position();
        self.screen.set_size(rows, cols);
        let (after, _) = self.screen.screen().cursor_position();
        let above = self.screen.callbacks().above.len() + usize::from(after.saturating_sub(before));
        self.screen.callbacks_mut().above = rows_above(self.screen.screen(), above);
    }

    /// Ends the edit, and returns the rest of the text. `is_last`: no output follows, so the rows
    /// below the cursor are part of the edit.
    pub(crate) fn end(self, is_last: bool) -> Vec<u8> {
        let Self { screen, mut reader } = self;
        let terminal = screen.screen();
        let colours = terminal.attributes_formatted();
        let (row, col) = terminal.cursor_position();
        let (rows, _) = terminal.size();
        let is_used = |row: &u16| is_last && used_columns(terminal, *row) > 0;
        let below = (row + 1..rows.get()).rev().find(is_used);
        let movement = match below {
            Some(_) => String::new(),
            None => cursor_movement(terminal, row, col),
        };
        let mut text = reader.convert_rows(&scroll_off_rows(screen, below.unwrap_or(row)));
        text.push_str(&movement);
        if reader.has_sent_colours || colours != reader.colours {
            text.push_str(&colours);
        }
        text.into_bytes()
    }
}

impl Reader {
    /// Converts rows to the form in which they are sent.
    fn convert_rows(&mut self, mut rows: &str) -> String {
        let mut text = String::with_capacity(rows.len());
        let mut erased = 0;
        if let Some(open) = self.open.take() {
            let continuation = rows.strip_prefix(&open.text).filter(|_| open.is_at_end);
            if continuation.is_none() {
                text.push_str(&open.erase());
                erased = text.len();
            }
            if self.colours != NO_COLOURS {
                text.push_str(NO_COLOURS);
            }
            if let Some(rest) = continuation {
                text.extend(open.colours());
                rows = rest;
            }
        }
        // Blanks at the end of the last row may precede the cursor.
        let mut lines = rows.split('\n').peekable();
        while let Some(line) = lines.next() {
            if lines.peek().is_some() {
                text.push_str(line.trim_end_matches(' '));
                text.push_str("\r\n");
            } else {
                text.push_str(line);
            }
        }
        self.has_sent_colours |= text[erased..].contains('\x1b');
        text
    }
}

impl OpenLine {
    /// Returns the output that removes the open line: a movement to the left that erases. A
    /// carriage return is not enough, because an artifact shows all states of a line.
    fn erase(&self) -> String {
        let chars: usize = plain(&self.text).map(|part| part.chars().count()).sum();
        // A movement that is too long is harmless. The reader may have blanks or marks that the
        // screen lacks.
        let chars = if self.has_beginning {
            chars.max(1).next_multiple_of(MAX_MOVE)
        } else {
            chars
        };
        let steps = format!("\x1b[{MAX_MOVE}D").repeat(chars / MAX_MOVE);
        let rest = match chars % MAX_MOVE {
            0 => String::new(),
            chars => format!("\x1b[{chars}D"),
        };
        steps + &rest + "\x1b[K"
    }

    /// Returns the colours at the end of the line.
    fn colours(&self) -> impl Iterator<Item = String> {
        let since = self.text.rsplit(NO_COLOURS).next().unwrap_or_default();
        let sequences = since.split('\x1b').skip(1);
        let sequences = sequences.filter_map(|part| part.split_once('m'));
        sequences.map(|(numbers, _)| format!("\x1b{numbers}m"))
    }
}

/// Returns the text of the first rows.
fn rows_above(screen: &vt100::Screen, rows: usize) -> VecDeque<String> {
    let (_, cols) = screen.size();
    screen.rows(0, cols.get()).take(rows).collect()
}

/// Returns the rows down to `last`, with wrapped rows joined to lines: scrolls all of them off the
/// screen.
fn scroll_off_rows(mut screen: vt100::Parser<ScrolledRows>, last: u16) -> String {
    screen.process(format!("\x1b[r\x1b[{}S", last + 1).as_bytes());
    std::mem::take(&mut screen.callbacks_mut().text)
}

/// Returns the output that moves the cursor from the end of a row's text to its column.
fn cursor_movement(screen: &vt100::Screen, row: u16, col: u16) -> String {
    let end = used_columns(screen, row);
    if col >= end {
        return " ".repeat(usize::from(col - end));
    }
    let right = (col..end).filter_map(|col| screen.cell(row, col));
    let right = right.filter(|cell| !cell.is_wide_continuation());
    let chars: usize = right
        .map(|cell| cell.contents().chars().count().max(1))
        .sum();
    format!("\x1b[{chars}D")
}

/// Returns the number of columns of a row up to its last cell that is not empty.
fn used_columns(screen: &vt100::Screen, row: u16) -> u16 {
    let (_, cols) = screen.size();
    let is_used = |col: &u16| {
        let cell = screen.cell(row, *col);
        cell.is_some_and(|cell| cell.has_contents() || cell.is_wide_continuation())
    };
    let last = (0..cols.get()).rev().find(is_used);
    last.map_or(0, |last| last + 1)
}

/// True if a sequence moves the cursor, or changes written text.
fn edits_text(sequence: &[u8]) -> bool {
    match sequence {
        [ESC, b'[', parameters @ .., last] => {
            let is_private = parameters
                .first()
                .is_some_and(|first| (b'<'..=b'?').contains(first));
            !is_private
                && matches!(
                    last,
                    b'@'..=b'M'
                        | b'P'
                        | b'S'
                        | b'T'
                        | b'X'
                        | b'`'
                        | b'a'
                        | b'd'
                        | b'e'
                        | b'f'
                        | b'r'
                )
        }
        [ESC, last] => matches!(last, b'7' | b'8' | b'M'),
        _ => false,
    }
}

/// Returns the length of the sequence at the beginning of output. For a control string, returns
/// only the length of its introducer.
pub(crate) fn sequence_len(bytes: &[u8]) -> usize {
    let length = match bytes.get(1) {
        Some(b'[') => {
            let rest = &bytes[2..];
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            end.map_or(bytes.len(), |end| end + 3)
        }
        Some(b'(' | b')') => 3,
        _ => 2,
    };
    length.min(bytes.len())
}

#[cfg(test)]
#[path = "line_in_edit_tests.rs"]
mod tests;
