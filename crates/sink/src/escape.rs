//! Finds the end of escape sequences with `vte`, the parser that terminals use (ECMA-48, Paul
//! Williams' state machine). Sequences are removed without interpretation, except for those with
//! which programs redraw and edit a line ([`LineEdit`]).
//!
//! This module adds two rules. String sequences (OSC, DCS, SOS, PM, APC) are not passed to `vte`,
//! which buffers an OSC of any length. And an unterminated string ends after [`MAX_STRING_BYTES`]
//! bytes, or at the end of a line, so that it does not swallow the rest of an output. (Sixels with
//! line breaks are therefore shown as text, but programs hardly print them.)

use agent_bash_core::LineEdit;
use vte::{Params, Parser, Perform};

/// Cancel: ends any sequence, also in `vte`.
const CAN: u8 = 0x18;
/// Substitute: like [`CAN`].
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
/// Bell: ends an OSC string.
const BEL: u8 = 0x07;
/// Delete: ignored.
const DEL: u8 = 0x7f;

/// Longest body of a string sequence, in bytes. In practice, the longest bodies are inline images.
const MAX_STRING_BYTES: u32 = 1 << 20;

/// The meaning of a byte within a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SequenceStep {
    /// Part of the sequence, which continues.
    Inside,
    /// The last byte of the sequence.
    Last(Option<LineEdit>),
    /// A C0 control inside the sequence: executed, as terminals do, and the sequence continues.
    Control,
    /// Not part of the sequence, which ended before this byte.
    After,
}

/// An escape sequence that is being skipped.
#[derive(Default)]
pub(crate) struct Escape {
    parser: Parser,
    state: EscapeState,
}

#[derive(Clone, Copy, Default)]
enum EscapeState {
    /// No byte after the ESC yet.
    #[default]
    Opened,
    /// In the middle of an ESC or CSI sequence.
    Sequence,
    /// In the body of a string sequence.
    Body { is_osc: bool, remaining: u32 },
}

impl Escape {
    /// Returns the length and effect of a complete control sequence (`ESC [ … final`) at the start
    /// of `bytes`, if it is well-formed: parameter and intermediate bytes, in any order, up to a
    /// byte from `@` to `~`. Most sequences take this fast path without the parser.
    pub(crate) fn simple(bytes: &[u8]) -> Option<(usize, Option<LineEdit>)> {
        let [ESC, b'[', rest @ ..] = bytes else {
            return None;
        };
        let end = rest.iter().position(|b| !(0x20..0x40).contains(b))?;
        if !(0x40..0x7f).contains(&rest[end]) {
            return None;
        }
        let effect = match &rest[..end] {
            parameter if parameter.iter().all(u8::is_ascii_digit) => {
                let number = parameter.iter().fold(0u16, |number, digit| {
                    number
                        .saturating_mul(10)
                        .saturating_add(u16::from(digit - b'0'))
                });
                LineEdit::of(number, char::from(rest[end]))
            }
            _ => None,
        };
        Some((end + 3, effect))
    }

    /// Begins a sequence at an ESC.
    pub(crate) fn open(&mut self) {
        self.feed(ESC);
        self.state = EscapeState::Opened;
    }

    /// Takes the next byte. [`SequenceStep::Last`] and [`SequenceStep::After`] end the sequence.
    pub(crate) fn byte(&mut self, byte: u8) -> SequenceStep {
        match self.state {
            EscapeState::Body { is_osc, remaining } => self.in_body(is_osc, remaining, byte),
            EscapeState::Opened | EscapeState::Sequence => self.in_sequence(byte),
        }
    }

    fn in_sequence(&mut self, byte: u8) -> SequenceStep {
        if byte == ESC {
            self.open();
            return SequenceStep::Inside;
        }
        // Text inside a sequence: the sequence is broken, and must not contain a part of a UTF-8
        // character.
        if byte >= 0x80 {
            return self.cancel(SequenceStep::After);
        }
        if matches!(self.state, EscapeState::Opened)
            && matches!(byte, b']' | b'P' | b'X' | b'^' | b'_')
        {
            self.feed(byte);
            self.state = EscapeState::Body {
                is_osc: byte == b']',
                remaining: MAX_STRING_BYTES,
            };
            return SequenceStep::Inside;
        }
        // `vte` ignores DEL here, so the state must not change.
        if byte == DEL {
            return SequenceStep::Inside;
        }
        let report = self.feed(byte);
        if report.printed {
            // `vte` ends an ill-formed control sequence silently; this byte is the text after it.
            return SequenceStep::After;
        }
        match report.control {
            _ if report.ended => SequenceStep::Last(report.effect),
            Some(CAN | SUB) => SequenceStep::Last(None),
            Some(_) => SequenceStep::Control,
            None => {
                self.state = EscapeState::Sequence;
                SequenceStep::Inside
            }
        }
    }

    fn in_body(&mut self, is_osc: bool, remaining: u32, byte: u8) -> SequenceStep {
        match byte {
            ESC => {
                self.open();
                SequenceStep::Inside
            }
            CAN | SUB => self.cancel(SequenceStep::Last(None)),
            BEL if is_osc => self.cancel(SequenceStep::Last(None)),
            b'\n' => self.cancel(SequenceStep::After),
            _ if remaining == 0 => self.cancel(SequenceStep::After),
            _ => {
                let remaining = remaining - 1;
                self.state = EscapeState::Body { is_osc, remaining };
                SequenceStep::Inside
            }
        }
    }

    fn cancel(&mut self, step: SequenceStep) -> SequenceStep {
        self.feed(CAN);
        step
    }

    fn feed(&mut self, byte: u8) -> ByteEffect {
        let mut report = ByteEffect::default();
        self.parser.advance(&mut report, &[byte]);
        report
    }
}

/// The report of `vte` for a byte.
#[derive(Default)]
struct ByteEffect {
    /// True if the byte ended a sequence.
    ended: bool,
    /// True if the byte is text.
    printed: bool,
    /// The C0 control that the byte is.
    control: Option<u8>,
    /// The effect of the sequence that the byte ended.
    effect: Option<LineEdit>,
}

impl Perform for ByteEffect {
    fn print(&mut self, _: char) {
        self.printed = true;
    }

    fn execute(&mut self, byte: u8) {
        self.control = Some(byte);
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignored: bool, last: char) {
        self.ended = true;
        let mut parameters = params.iter();
        self.effect = match (parameters.next(), parameters.next()) {
            _ if ignored || !intermediates.is_empty() => None,
            (None, _) => LineEdit::of(0, last),
            (Some([number]), None) => LineEdit::of(*number, last),
            _ => None,
        };
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.ended = true;
    }
}
