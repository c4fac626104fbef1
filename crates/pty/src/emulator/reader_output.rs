//! The output for the readers of a call's output.

use super::screen_state::{EmulatorState, FullScreenLine, catch_panic};
use crate::line_in_edit::{LineInEdit, sequence_len};
use std::num::NonZeroU16;
use std::time::Duration;

/// Moves to the beginning of the line and erases it.
const ERASE_LINE: &[u8] = b"\r\x1b[K";

/// A program that has the whole screen.
#[derive(Debug)]
pub(super) struct FullScreenProgram {
    /// When the program got the screen.
    pub(super) since: Duration,
    /// The line on the main screen at that time.
    pub(super) line: FullScreenLine,
}

#[derive(Default)]
pub(super) struct ReaderOutput {
    pub(super) bytes: Vec<u8>,
    /// True directly after the line that replaces a program. The last line end of the program is
    /// dropped.
    is_after_program: bool,
    /// The edit in progress.
    edited: Option<LineInEdit>,
    /// An edit of the line that was open before the last resize, if nothing was written since. Only
    /// this edit knows the rows of the line: the resize cuts them and no longer marks them as
    /// wrapped.
    resized: Option<LineInEdit>,
    /// True directly after the end of bracketed paste: readline sends a carriage return next.
    pub(super) is_after_prompt: bool,
    /// True if canonical mode was off when the last chunk was read. A line editor may restore
    /// canonical mode before its last output is read.
    pub(super) was_raw: bool,
}

impl ReaderOutput {
    /// Adds written text to the output for readers, and draws it on the screen.
    pub(super) fn add_written(&mut self, mut bytes: &[u8], raw: bool, screen: &mut EmulatorState) {
        if std::mem::take(&mut self.is_after_prompt) && screen.is_at_line_start() {
            bytes = bytes.strip_prefix(b"\r").unwrap_or(bytes);
        }
        let is_prompt = screen.is_prompt();
        if bytes.is_empty() {
            return;
        }
        let resized = self.resized.take();
        // A line end after a resize does not redraw the cut part of the line.
        let ended = if resized.is_some() {
            line_end_len(bytes)
        } else {
            0
        };
        // A line editor has written a prompt before.
        let may_be_edited = self.was_raw && !screen.is_at_line_start();
        let is_edited = |offset: &usize| {
            let is_open_line = || !bytes[ended..ended + offset].contains(&b'\n');
            raw || is_prompt || may_be_edited && is_open_line()
        };
        if self.edited.is_none()
            && let Some(offset) =
                LineInEdit::start_offset(&bytes[ended..], is_prompt).filter(is_edited)
        {
            let (before, edits) = bytes.split_at(ended + offset);
            screen.feed(before);
            self.add(before);
            let resized = resized.filter(|_| before.is_empty());
            self.edited = resized
                .or_else(|| catch_panic(|| LineInEdit::from_terminal(screen.parser.screen())));
            bytes = edits;
        }
        screen.feed(bytes);
        self.add_or_edit(bytes);
    }

    /// Adds output, or feeds it to the edit in progress.
    pub(super) fn add_or_edit(&mut self, bytes: &[u8]) {
        let Some(edited) = &mut self.edited else {
            return self.add(bytes);
        };
        match catch_panic(|| edited.feed(bytes)) {
            Some(settled) => self.add(&settled),
            None => self.edited = None,
        }
    }

    /// Adds the final text of an edit.
    pub(super) fn end_edit(&mut self, is_last: bool) {
        self.resized = None;
        if let Some(edited) = self.edited.take()
            && let Some(rest) = catch_panic(|| edited.end(is_last))
        {
            self.add(&rest);
        }
    }

    /// Sets a new size of the screen. Ends the edit first, because the resize may cut its rows.
    pub(super) fn resize(&mut self, rows: NonZeroU16, cols: NonZeroU16, screen: &EmulatorState) {
        let before = self.resized.take();
        self.end_edit(false);
        self.resized = catch_panic(|| {
            let mut edited =
                before.unwrap_or_else(|| LineInEdit::from_terminal(screen.parser.screen()));
            edited.resize(rows, cols);
            edited
        });
    }

    /// Adds output for readers.
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        if self.is_after_program {
            let blank = blank_len(bytes);
            self.is_after_program = blank == bytes.len() && !bytes.ends_with(b"\n");
            let (sequences, text) = bytes.split_at(blank);
            if let Some(sequences) = sequences.strip_suffix(b"\n") {
                self.bytes
                    .extend(sequences.iter().filter(|byte| **byte != b'\r'));
                bytes = text;
            }
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds the line that replaces a program that had the whole screen, if there is one.
    pub(super) fn add_program_line(&mut self, program: Option<FullScreenProgram>, now: Duration) {
        let Some(FullScreenProgram { since, line }) = program else {
            return;
        };
        match line {
            FullScreenLine::Empty => {}
            FullScreenLine::Ends => self.add(b"\r\n"),
            FullScreenLine::Continues(_) => self.add(ERASE_LINE),
        }
        let seconds = now.saturating_sub(since).as_secs_f64();
        self.add(format!("[full-screen program, {seconds:.1} s]\r\n").as_bytes());
        match line {
            FullScreenLine::Continues(line) => self.add(line.as_bytes()),
            FullScreenLine::Empty | FullScreenLine::Ends => self.is_after_program = true,
        }
    }
}

/// Returns the length of the output before the first text: sequences, and the line end after them,
/// if there is one. Sequences must be whole.
fn blank_len(bytes: &[u8]) -> usize {
    let mut offset = 0;
    while let Some(byte) = bytes.get(offset) {
        offset += match (byte, bytes.get(offset + 1)) {
            (b'\n', _) => return offset + 1,
            (b'\r', _) => 1,
            (0x1b, Some(b'[' | b'(' | b')' | b'=' | b'>' | b'7' | b'8')) => {
                sequence_len(&bytes[offset..])
            }
            _ => return offset,
        };
    }
    bytes.len()
}

/// Returns the length of the line end at the beginning of output; 0 if the output begins with text.
fn line_end_len(bytes: &[u8]) -> usize {
    let returns = bytes.iter().take_while(|byte| **byte == b'\r').count();
    match bytes.get(returns) {
        Some(b'\n') => returns + 1,
        _ => 0,
    }
}
