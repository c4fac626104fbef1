//! [`TerminalText`]: cleans live output so that it is safe to write to a terminal. Raw output is
//! not safe: an escape sequence can write the clipboard, set the title, or inject input.

use crate::sanitise::{CarriageReturn, Sanitiser, TextSink};
use agent_bash_core::LineEdit;
use std::io::Write as _;

/// Maximum number of consecutive backspaces that are written. More backspaces are written as one
/// sequence, so that a few bytes of output do not become thousands of bytes.
const MAX_BACKSPACES: usize = 8;

/// Length in bytes of the longest colour sequence that is held back until it is complete.
const MAX_SEQUENCE_BYTES: usize = 64;

/// Cleans a stream chunk by chunk. Keeps text, TAB, LF and CR. Sequences that edit the line or move
/// the cursor within it (`\b`, `ESC[nC`, `D`, `G`, `@`, `P`, `X`, `ESC[K`) are rewritten. An
/// incomplete character is held back until it is complete.
pub struct TerminalText {
    sanitiser: Sanitiser,
    /// True if colour sequences (SGR) are kept, too.
    coloured: bool,
    /// The beginning of an incomplete control sequence.
    incomplete: Vec<u8>,
}

impl Default for TerminalText {
    fn default() -> Self {
        Self {
            sanitiser: Sanitiser::new(CarriageReturn::Overwrite),
            coloured: false,
            incomplete: Vec::new(),
        }
    }
}

impl TerminalText {
    /// Returns a cleaner that keeps SGR sequences (colours), for a view that draws colours.
    pub fn coloured() -> Self {
        Self {
            coloured: true,
            ..Self::default()
        }
    }

    /// True if the input so far is mostly not text, so that a result would not show the output.
    pub fn is_binary(&self) -> bool {
        self.sanitiser.is_noise()
    }

    /// Returns the part of a complete text that may be shown.
    pub fn of(text: &[u8]) -> Vec<u8> {
        let mut stream = Self::default();
        let mut clean = stream.push(text);
        clean.extend(stream.finish());
        clean
    }

    /// Returns the part of the next chunk that may be shown.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut clean = CleanText {
            text: Vec::with_capacity(chunk.len()),
            coloured: self.coloured,
        };
        if self.coloured {
            // A sequence can be recognised as SGR only once it is complete.
            let mut whole = std::mem::take(&mut self.incomplete);
            whole.extend_from_slice(chunk);
            self.incomplete = whole.split_off(whole.len() - incomplete_len(&whole));
            self.sanitiser.push(&whole, &mut clean);
        } else {
            self.sanitiser.push(chunk, &mut clean);
        }
        clean.text
    }

    /// Ends the stream: returns the bytes that were held back.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut clean = CleanText {
            text: Vec::new(),
            coloured: self.coloured,
        };
        let incomplete = std::mem::take(&mut self.incomplete);
        self.sanitiser.push(&incomplete, &mut clean);
        self.sanitiser.finish(&mut clean);
        clean.text
    }
}

/// Returns the number of bytes at the end that may be the beginning of a control sequence.
pub(crate) fn incomplete_len(bytes: &[u8]) -> usize {
    let last = &bytes[bytes.len().saturating_sub(MAX_SEQUENCE_BYTES)..];
    match memchr::memrchr(b'\x1b', last).map(|at| &last[at..]) {
        Some([_]) => 1,
        Some(incomplete @ [_, b'[', rest @ ..])
            if rest.iter().all(|b| (0x20..0x40).contains(b)) =>
        {
            incomplete.len()
        }
        _ => 0,
    }
}

impl std::fmt::Debug for TerminalText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalText").finish_non_exhaustive()
    }
}

/// The cleaned part of a chunk.
struct CleanText {
    text: Vec<u8>,
    coloured: bool,
}

impl CleanText {
    /// Writes a control sequence with one parameter.
    fn sequence(&mut self, number: usize, last: char) {
        // Writing to a Vec cannot fail.
        let _ = write!(self.text, "\x1b[{number}{last}");
    }
}

impl TextSink for CleanText {
    fn text(&mut self, text: &[u8], _: u64) {
        self.text.extend_from_slice(text);
    }

    fn stand_in(&mut self, text: &str, _: u64, _: u64) {
        self.text.extend_from_slice(text.as_bytes());
    }

    fn line_end(&mut self, _: u64) {
        self.text.push(b'\n');
    }

    fn restart_line(&mut self, _: u64) {
        self.text.push(b'\r');
    }

    fn colours(&mut self, sequence: &[u8]) {
        if self.coloured {
            self.text.extend_from_slice(sequence);
        }
    }

    /// The terminal itself moves its cursor back, beyond the text that is stored here.
    fn take_back(&mut self, chars: usize) -> String {
        if chars > MAX_BACKSPACES {
            self.sequence(chars, 'D');
        } else {
            self.text.extend(std::iter::repeat_n(b'\x08', chars));
        }
        String::new()
    }

    fn take_line(&mut self) -> String {
        self.text.push(b'\r');
        String::new()
    }

    /// Passes on a rewritten sequence, which acts only on the line.
    fn pass_on_effect(&mut self, effect: LineEdit) -> bool {
        match effect {
            LineEdit::Forward(columns) => self.sequence(columns, 'C'),
            LineEdit::Column(column) => self.sequence(column, 'G'),
            LineEdit::Insert(columns) => self.sequence(columns, '@'),
            LineEdit::Delete(columns) => self.sequence(columns, 'P'),
            LineEdit::Erase(columns) => self.sequence(columns, 'X'),
            LineEdit::EraseRight => self.text.extend_from_slice(b"\x1b[K"),
            LineEdit::EraseLine | LineEdit::Back(_) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_text_is_independent_of_chunks() {
        for (raw, wanted) in [
            (&b"\x1b]52;c;ZXZpbA==\x07x\n"[..], &b"x\n"[..]),
            (b"\x1b]0;title\x1b\\a\x1b[31mred\x1b[0m", b"ared"),
            (b"\xc2\x9b31mc1", b"31mc1"),
            (b"\x1bP1$r\x1b\\d\x1b_x\x1b\\e", b"de"),
            (b"10%\r20%\rdone\r\n\tend", b"10%\r20%\rdone\n\tend"),
            ("ä\u{202e}b".as_bytes(), "ä<U+202E>b".as_bytes()),
            (b"bell\x07 bs\x08", b"bell bs"),
        ] {
            assert_eq!(TerminalText::of(raw), wanted, "{raw:?}");
            for at in 0..raw.len() {
                let mut stream = TerminalText::default();
                let mut clean = stream.push(&raw[..at]);
                clean.extend(stream.push(&raw[at..]));
                clean.extend(stream.finish());
                assert_eq!(clean, wanted, "{raw:?} {at}");
            }
        }
    }

    #[test]
    fn coloured_mode_passes_only_colour_sequences() {
        let raw = b"\x1b[1;31mred\x1b[0m\x1b[2J\x1b[5;5H\x1b]0;title\x1b\\\0\x1bPopen\nlast\x1b[4";
        let wanted = "\x1b[1;31mred\x1b[0m\u{2400}\nlast".as_bytes();
        for at in 0..raw.len() {
            let mut stream = TerminalText::coloured();
            let mut clean = stream.push(&raw[..at]);
            clean.extend(stream.push(&raw[at..]));
            clean.extend(stream.finish());
            assert_eq!(clean, wanted, "{at}");
        }
    }

    #[test]
    fn binary_output_is_detected_during_the_stream() {
        let noise: Vec<u8> = (0..=255).collect();
        for (raw, is_binary) in [
            (&noise[..], true),
            (b"a\0b\0c\0", false),
            (b"plain", false),
            (b"", false),
        ] {
            let mut stream = TerminalText::coloured();
            stream.push(raw);
            assert_eq!(stream.is_binary(), is_binary, "{raw:?}");
        }
    }
}
