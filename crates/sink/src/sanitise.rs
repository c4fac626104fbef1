//! Turns raw bytes into clean text: decoding, escape sequences, control characters, carriage
//! returns. The state carries over between chunks, so it does not matter how the bytes were split.
//!
//! The text is passed on piece by piece to a [`TextSink`] (`lines` in an `OutputSink`).

mod line_edit;
mod masked;
mod text_sink;

use crate::escape::{Escape, SequenceStep};
use crate::scan;
use agent_bash_core::visible;

pub(crate) use text_sink::TextSink;

const ESC: u8 = 0x1b;
const REPLACEMENT: &str = "\u{fffd}";

/// The marks that show NUL and CR (Unicode Control Pictures).
const NUL_MARK: &str = "\u{2400}";
const CR_MARK: &str = "\u{240d}";

/// Maximum number of consecutive NULs that are shown, and the stand-in for the rest.
const NULS_SHOWN: u32 = 8;
const MORE_NULS: &str = "…";

/// Minimum number of undecodable bytes that count as binary data.
const MIN_NOISE_BYTES: u64 = 64;

/// How a lone CR is handled. CRLF is always a line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarriageReturn {
    /// The following text overwrites the line, so only the last state of a progress bar is shown.
    #[default]
    Overwrite,
    /// The CR ends the line.
    Newline,
    /// The CR is shown as `␍`, for reading artifacts, where nothing may be lost.
    Marked,
}

/// The decoder and cleaner of one stream.
pub(crate) struct Sanitiser {
    carriage_return: CarriageReturn,
    mode: Mode,
    escape: Escape,
    /// The offset at which the current sequence began.
    escape_from: u64,
    /// An incomplete UTF-8 character.
    partial: PartialChar,
    /// Position of a CR whose effect depends on what comes next.
    pending_cr: Option<u64>,
    /// True if a sequence erased the line after the pending CR, or acts as this CR.
    erased: bool,
    /// Pending backspaces, whose effect depends on what comes next.
    backspaces: usize,
    /// Text right of the cursor: taken back, but not overwritten yet.
    right: String,
    /// Columns between the end of the line and the cursor: blanks, once something is written there.
    blanks: usize,
    /// The last character, if it was not replaced. Decides whether a following joiner is part of
    /// the spelling.
    before: Option<char>,
    /// Length of the current run of NULs, and the position at which the next NUL continues it.
    nuls: (u32, u64),
    /// Number of bytes taken.
    raw: u64,
    /// Number of taken bytes that are not text.
    not_text: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Text,
    Escape,
}

#[derive(Clone, Copy, Default)]
struct PartialChar {
    bytes: [u8; 4],
    len: usize,
}

/// True if a sequence sets colours. A mark before its numbers (`ESC [ > 4 m`) gives it another
/// meaning.
fn is_sgr(sequence: &[u8]) -> bool {
    let inner = sequence
        .strip_prefix(b"\x1b[")
        .and_then(|rest| rest.strip_suffix(b"m"));
    inner.is_some_and(|inner| inner.iter().all(|b| matches!(b, b'0'..=b';')))
}

impl Sanitiser {
    pub(crate) fn new(carriage_return: CarriageReturn) -> Self {
        Self {
            carriage_return,
            mode: Mode::Text,
            escape: Escape::default(),
            escape_from: 0,
            partial: PartialChar::default(),
            pending_cr: None,
            erased: false,
            backspaces: 0,
            right: String::new(),
            blanks: 0,
            before: None,
            nuls: (0, 0),
            raw: 0,
            not_text: 0,
        }
    }

    /// Returns the number of bytes taken.
    pub(crate) fn raw(&self) -> u64 {
        self.raw
    }

    /// Returns the number of bytes taken, except for an incomplete character or escape sequence at
    /// the end.
    pub(crate) fn complete_bytes(&self) -> u64 {
        match self.mode {
            Mode::Escape => self.escape_from,
            Mode::Text => self.raw - self.partial.len as u64,
        }
    }

    /// True if more than half of the input is not text (undecodable bytes, controls that no program
    /// prints for a reader), or more than a third of a long input. About half of random bytes can
    /// be decoded by chance, but hardly any bytes beyond ASCII of a text in another encoding.
    pub(crate) fn is_noise(&self) -> bool {
        let (not_text, raw) = (self.not_text, self.raw);
        not_text > raw / 2 || (not_text >= MIN_NOISE_BYTES && not_text > raw / 3)
    }

    /// Takes a chunk.
    pub(crate) fn push(&mut self, mut bytes: &[u8], out: &mut impl TextSink) {
        while !bytes.is_empty() {
            let taken = match self.mode {
                Mode::Escape => self.in_escape(bytes, out),
                Mode::Text if self.partial.len > 0 => self.complete_partial(bytes, out),
                Mode::Text => self.in_text(bytes, out),
            };
            self.raw += taken as u64;
            bytes = &bytes[taken..];
        }
    }

    /// Ends the stream: applies all pending effects.
    pub(crate) fn finish(&mut self, out: &mut impl TextSink) {
        if self.partial.len > 0 {
            self.give_up_partial(out);
        }
        self.append_right(out);
        match (self.carriage_return, self.pending_cr.take()) {
            (CarriageReturn::Newline, Some(raw)) => out.line_end(raw),
            (CarriageReturn::Marked, Some(raw)) => out.stand_in(CR_MARK, raw, 1),
            _ => {}
        }
    }

    /// Appends the text right of the cursor to the line again, as at its end.
    pub(crate) fn append_right(&mut self, out: &mut impl TextSink) {
        self.append_right_at(self.raw, out);
    }

    fn append_right_at(&mut self, raw: u64, out: &mut impl TextSink) {
        (self.backspaces, self.blanks) = (0, 0);
        if !self.right.is_empty() {
            let right = std::mem::take(&mut self.right);
            out.stand_in(&right, raw, 0);
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
                if let Some((len, effect)) = Escape::simple(bytes) {
                    if is_sgr(&bytes[..len]) {
                        out.colours(&bytes[..len]);
                    }
                    if let Some(effect) = effect {
                        self.apply(effect, self.raw + len as u64 - 1, out);
                    }
                    return len;
                }
                self.escape.open();
                self.escape_from = self.raw;
                self.mode = Mode::Escape;
                1
            }
            byte if byte >= 0x80 => self.non_ascii_run(bytes, out),
            byte => {
                self.control(byte, self.raw, out);
                1
            }
        }
    }

    /// Handles a control byte other than LF, TAB and ESC.
    fn control(&mut self, byte: u8, raw: u64, out: &mut impl TextSink) {
        match byte {
            0 => self.nul(raw, out),
            // Several CRs in a row count as the first one.
            b'\r' => self.pending_cr = self.pending_cr.or(Some(raw)),
            // At the first column a backspace has no effect.
            0x08 if self.pending_cr.is_none() => self.back(1),
            // BEL, BS, VT, FF, SO, SI, CAN, SUB, DEL: common in text output, so not counted as
            // noise.
            0x07 | 0x08 | 0x0b | 0x0c | 0x0e | 0x0f | 0x18 | 0x1a | 0x7f => {}
            _ => self.not_text += 1,
        }
    }

    /// Single NULs separate texts (`find -print0`); only long runs of them count as binary.
    fn nul(&mut self, raw: u64, out: &mut impl TextSink) {
        let (before, expected) = self.nuls;
        let nuls = if raw == expected { before + 1 } else { 1 };
        self.nuls = (nuls.min(NULS_SHOWN + 2), raw + 1);
        self.not_text += u64::from(nuls > 1);
        if nuls <= NULS_SHOWN {
            self.stand_in(NUL_MARK, raw, 1, out);
        } else if nuls == NULS_SHOWN + 1 {
            self.stand_in(MORE_NULS, raw, 1, out);
        }
    }

    fn in_escape(&mut self, bytes: &[u8], out: &mut impl TextSink) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            match self.escape.byte(byte) {
                SequenceStep::Inside => {}
                SequenceStep::Control if byte == b'\n' || byte == b'\t' => {
                    let raw = self.raw + at as u64;
                    self.emit_at(&[byte], raw, out);
                }
                SequenceStep::Control => self.control(byte, self.raw + at as u64, out),
                SequenceStep::Last(effect) => {
                    self.mode = Mode::Text;
                    if let Some(effect) = effect {
                        self.apply(effect, self.raw + at as u64, out);
                    }
                    return at + 1;
                }
                SequenceStep::After => {
                    self.mode = Mode::Text;
                    return at;
                }
            }
        }
        bytes.len()
    }

    /// Handles a run that begins with non-ASCII. It includes ASCII, as most texts mix the two. It
    /// is decoded as one run, since its end would otherwise be searched for again after every
    /// undecodable byte.
    fn non_ascii_run(&mut self, bytes: &[u8], out: &mut impl TextSink) -> usize {
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
                // The character is incomplete; the next bytes, in this chunk or another, decide.
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

    /// Continues a character that began in an earlier chunk. Consumes one byte, or none if the byte
    /// does not belong to the character.
    fn complete_partial(&mut self, bytes: &[u8], out: &mut impl TextSink) -> usize {
        let PartialChar {
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
                self.partial = PartialChar {
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

    /// Replaces the incomplete character.
    fn give_up_partial(&mut self, out: &mut impl TextSink) {
        let len = std::mem::take(&mut self.partial.len);
        self.undecodable(self.raw - len as u64, len, out);
    }

    fn undecodable(&mut self, raw: u64, len: usize, out: &mut impl TextSink) {
        self.not_text += len as u64;
        self.stand_in(REPLACEMENT, raw, len as u64, out);
    }

    fn stand_in(&mut self, text: &str, raw: u64, raw_len: u64, out: &mut impl TextSink) {
        self.before_text(text.as_bytes(), raw, out);
        self.before = None;
        out.stand_in(text, raw, raw_len);
    }

    /// Emits valid text, in which only C1 controls and invisible characters need handling.
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
            let before = || text[from..at].chars().next_back().or(self.before);
            let hidden = visible::is_hidden(c) && !visible::is_spelling(before(), c);
            if hidden || c.is_control() {
                self.emit_decoded(&text[from..at], raw + from as u64, out);
                if hidden {
                    let raw = raw + at as u64;
                    self.stand_in(&visible::mark(c), raw, c.len_utf8() as u64, out);
                }
                from = end;
            }
            at = end;
        }
        self.emit_decoded(&text[from..], raw + from as u64, out);
    }

    fn emit_decoded(&mut self, text: &str, raw: u64, out: &mut impl TextSink) {
        if let Some(last) = text.chars().next_back() {
            self.emit_at(text.as_bytes(), raw, out);
            self.before = Some(last);
        }
    }

    fn emit(&mut self, text: &[u8], out: &mut impl TextSink) {
        self.emit_at(text, self.raw, out);
    }

    fn emit_at(&mut self, text: &[u8], raw: u64, out: &mut impl TextSink) {
        if text.is_empty() {
            return;
        }
        self.before_text(text, raw, out);
        self.before = text.last().map(|last| char::from(*last));
        let mut text = text;
        let mut raw = raw;
        if !self.right.is_empty()
            && let Some(end) = memchr::memchr(b'\n', text)
        {
            if end > 0 {
                out.text(&text[..end], raw);
            }
            raw += end as u64;
            text = &text[end..];
            let right = std::mem::take(&mut self.right);
            out.stand_in(&right, raw, 0);
        }
        out.text(text, raw);
    }

    /// Applies pending cursor movements before text.
    #[inline]
    fn before_text(&mut self, text: &[u8], raw: u64, out: &mut impl TextSink) {
        let moved = self.backspaces > 0 || self.blanks > 0 || !self.right.is_empty();
        if moved || self.pending_cr.is_some() {
            self.move_cursor(text, raw, out);
        }
    }
}
