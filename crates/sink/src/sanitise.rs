//! From raw bytes to clean text: decoding, escape sequences, control characters, carriage returns. Its state is kept
//! across chunks, so how the bytes were split makes no difference.
//!
//! It does not collect anything: the text goes, piece by piece, to a [`TextSink`] (`lines` in an `OutputSink`).

use crate::escape::{Escape, Step};
use crate::{scan, visible};

const ESC: u8 = 0x1b;
const REPLACEMENT: &str = "\u{fffd}";

/// What a lone CR does; CRLF is a line's end always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarriageReturn {
    /// The text after it takes the place of what stood on the line before it: of a progress bar, the last state is
    /// shown.
    #[default]
    Overwrite,
    /// It ends the line, as seed 000 says for the output of a terminal.
    Newline,
}

/// Takes clean text: valid UTF-8, whole characters, no control characters but TAB and LF.
pub(crate) trait TextSink {
    /// Text that stands byte for byte at `raw` in the stream.
    fn text(&mut self, text: &[u8], raw: u64);
    /// A character's stand-in, for `raw_len` bytes at `raw`.
    fn stand_in(&mut self, text: &str, raw: u64, raw_len: u64);
    /// A line's end for the CR at `raw`.
    fn line_end(&mut self, raw: u64);
    /// What is on the line so far does not count.
    fn restart_line(&mut self);
}

/// The decoder and cleaner of one stream.
pub(crate) struct Sanitiser {
    carriage_return: CarriageReturn,
    mode: Mode,
    escape: Escape,
    /// Where the sequence began.
    escape_from: u64,
    /// The beginning of a character whose rest has not come yet.
    partial: Partial,
    /// Where the CR stands whose effect is open: it depends on what comes next.
    pending_cr: Option<u64>,
    /// Bytes taken.
    raw: u64,
    not_text: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Text,
    Escape,
}

#[derive(Clone, Copy, Default)]
struct Partial {
    bytes: [u8; 4],
    len: usize,
}

impl Sanitiser {
    pub(crate) fn new(carriage_return: CarriageReturn) -> Self {
        Self {
            carriage_return,
            mode: Mode::Text,
            escape: Escape::default(),
            escape_from: 0,
            partial: Partial::default(),
            pending_cr: None,
            raw: 0,
            not_text: 0,
        }
    }

    /// Bytes taken.
    pub(crate) fn raw(&self) -> u64 {
        self.raw
    }

    /// Bytes taken, but for half a character or half an escape sequence at their end.
    pub(crate) fn settled(&self) -> u64 {
        match self.mode {
            Mode::Escape => self.escape_from,
            Mode::Text => self.raw - self.partial.len as u64,
        }
    }

    /// Bytes that are in no text: undecodable ones, and controls that no program prints for a reader.
    pub(crate) fn not_text(&self) -> u64 {
        self.not_text
    }

    /// Takes a chunk.
    pub(crate) fn push(&mut self, mut bytes: &[u8], out: &mut impl TextSink) {
        while !bytes.is_empty() {
            let taken = match self.mode {
                Mode::Escape => self.in_escape(bytes, out),
                Mode::Text if self.partial.len > 0 => self.complete(bytes, out),
                Mode::Text => self.in_text(bytes, out),
            };
            self.raw += taken as u64;
            bytes = &bytes[taken..];
        }
    }

    /// The stream has ended: what was held back is decided.
    pub(crate) fn finish(&mut self, out: &mut impl TextSink) {
        if self.partial.len > 0 {
            self.give_up_partial(out);
        }
        if self.carriage_return == CarriageReturn::Newline
            && let Some(raw) = self.pending_cr.take()
        {
            out.line_end(raw);
        }
    }

    fn in_text(&mut self, bytes: &[u8], out: &mut impl TextSink) -> usize {
        let plain = scan::plain_len(bytes);
        if plain > 0 {
            self.emit(&bytes[..plain], out);
            return plain;
        }
        match bytes[0] {
            ESC => {
                if let Some(len) = Escape::simple(bytes) {
                    return len;
                }
                self.escape.open();
                self.escape_from = self.raw;
                self.mode = Mode::Escape;
                1
            }
            byte if byte >= 0x80 => self.beyond_ascii(bytes, out),
            byte => {
                self.control(byte, self.raw);
                1
            }
        }
    }

    /// A control byte other than LF, TAB and ESC.
    fn control(&mut self, byte: u8, raw: u64) {
        match byte {
            // Of several CRs in a row the first stands for all.
            b'\r' => self.pending_cr = self.pending_cr.or(Some(raw)),
            // BEL, BS, VT, FF, SO, SI, CAN, SUB: printed by programs that mean something by it.
            0x07 | 0x08 | 0x0b | 0x0c | 0x0e | 0x0f | 0x18 | 0x1a | 0x7f => {}
            _ => self.not_text += 1,
        }
    }

    fn in_escape(&mut self, bytes: &[u8], out: &mut impl TextSink) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            match self.escape.byte(byte) {
                Step::Inside => {}
                Step::Control if byte == b'\n' || byte == b'\t' => {
                    let raw = self.raw + at as u64;
                    self.emit_at(&[byte], raw, out);
                }
                Step::Control => self.control(byte, self.raw + at as u64),
                Step::Last => {
                    self.mode = Mode::Text;
                    return at + 1;
                }
                Step::After => {
                    self.mode = Mode::Text;
                    return at;
                }
            }
        }
        bytes.len()
    }

    /// A run that begins beyond ASCII; takes ASCII on the way along, since the two are mixed in most texts. The whole run
    /// at once: it would be searched for its end anew behind every byte that is no text.
    fn beyond_ascii(&mut self, bytes: &[u8], out: &mut impl TextSink) -> usize {
        let run = scan::uncontrolled_len(bytes);
        let mut at = 0;
        while at < run {
            let raw = self.raw + at as u64;
            let error = match std::str::from_utf8(&bytes[at..run]) {
                Ok(text) => {
                    self.decoded_at(text, raw, out);
                    break;
                }
                Err(error) => error,
            };
            let valid = error.valid_up_to();
            if let Ok(text) = std::str::from_utf8(&bytes[at..at + valid]) {
                self.decoded_at(text, raw, out);
            }
            let Some(len) = error.error_len() else {
                // Whatever comes next, in this chunk or another, decides.
                let left = &bytes[at + valid..run];
                self.partial.bytes[..left.len()].copy_from_slice(left);
                self.partial.len = left.len();
                break;
            };
            self.undecodable(raw + valid as u64, len, out);
            at += valid + len;
        }
        run
    }

    /// Goes on with a character that an earlier chunk began. Takes a byte, or none where it does not belong to it.
    fn complete(&mut self, bytes: &[u8], out: &mut impl TextSink) -> usize {
        let Partial {
            bytes: mut begun,
            len,
        } = self.partial;
        begun[len] = bytes[0];
        match std::str::from_utf8(&begun[..=len]) {
            Ok(text) => {
                self.partial.len = 0;
                let raw = self.raw - len as u64;
                self.decoded_at(text, raw, out);
                1
            }
            Err(error) if error.error_len().is_none() => {
                self.partial = Partial {
                    bytes: begun,
                    len: len + 1,
                };
                1
            }
            Err(_) => {
                self.give_up_partial(out);
                0
            }
        }
    }

    fn give_up_partial(&mut self, out: &mut impl TextSink) {
        let len = std::mem::take(&mut self.partial.len);
        self.undecodable(self.raw - len as u64, len, out);
    }

    fn undecodable(&mut self, raw: u64, len: usize, out: &mut impl TextSink) {
        self.not_text += len as u64;
        self.before_text(b'.', out);
        out.stand_in(REPLACEMENT, raw, len as u64);
    }

    /// Emits valid text of which only C1 controls and invisible characters need care.
    fn decoded_at(&mut self, text: &str, raw: u64, out: &mut impl TextSink) {
        let bytes = text.as_bytes();
        let mut from = 0;
        let mut at = 0;
        loop {
            at += scan::unsuspicious_len(&bytes[at..], visible::is_suspicious_lead);
            let Some(c) = text[at..].chars().next() else {
                break;
            };
            let end = at + c.len_utf8();
            let invisible = visible::is_invisible(c);
            if invisible || c.is_control() {
                self.emit_at(&bytes[from..at], raw + from as u64, out);
                if invisible {
                    self.before_text(b'.', out);
                    let raw = raw + at as u64;
                    out.stand_in(&visible::form(c), raw, c.len_utf8() as u64);
                }
                from = end;
            }
            at = end;
        }
        self.emit_at(&bytes[from..], raw + from as u64, out);
    }

    fn emit(&mut self, text: &[u8], out: &mut impl TextSink) {
        self.emit_at(text, self.raw, out);
    }

    fn emit_at(&mut self, text: &[u8], raw: u64, out: &mut impl TextSink) {
        if let Some(&first) = text.first() {
            self.before_text(first, out);
            out.text(text, raw);
        }
    }

    /// The next byte of text decides what an open CR meant.
    fn before_text(&mut self, first: u8, out: &mut impl TextSink) {
        let Some(raw) = self.pending_cr.take() else {
            return;
        };
        match self.carriage_return {
            _ if first == b'\n' => {}
            CarriageReturn::Overwrite => out.restart_line(),
            CarriageReturn::Newline => out.line_end(raw),
        }
    }
}
