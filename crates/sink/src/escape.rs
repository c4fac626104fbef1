//! Where an escape sequence ends: the door to `vte`, the parser that terminals use (ECMA-48, Paul Williams' state
//! machine). What a sequence means is nobody's business here, but for the few by which programs draw a line anew
//! ([`LineEffect`]); it is removed.
//!
//! Two things are ours. The bodies of string sequences (OSC, DCS, SOS, PM, APC) never reach `vte`, which keeps an OSC
//! body of any length in memory. And a string that is never closed must not swallow the rest of an output: one that
//! runs past [`MAX_STRING`] is over, and so is one at a line's end (sixels that are broken into lines would show; hardly
//! anything writes them so).

use vte::{Params, Parser, Perform};

/// Cancel: ends any sequence, in `vte` too.
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const DEL: u8 = 0x7f;

/// Longest body of a string sequence, in bytes. Inline images are the longest there are in practice.
const MAX_STRING: u32 = 1 << 20;

/// What became of a byte within a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Belongs to the sequence, which goes on.
    Inside,
    /// Belongs to the sequence, and was its last.
    Last(LineEffect),
    /// A control that takes effect although the sequence goes on, as terminals do it.
    Control,
    /// Does not belong to the sequence, which ended before it.
    After,
}

/// What a sequence does to the line on which it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LineEffect {
    /// Nothing that matters for a text.
    #[default]
    None,
    /// CHA to column 1, or EL of the whole line: as a carriage return.
    Restart,
    /// EL from the cursor on.
    EraseRight,
}

impl LineEffect {
    /// Of a control sequence with one parameter or none (then 0).
    fn of(parameter: u16, last: char) -> Self {
        match (last, parameter) {
            ('G', 0 | 1) | ('K', 2) => Self::Restart,
            ('K', 0) => Self::EraseRight,
            _ => Self::None,
        }
    }
}

/// A sequence being skipped.
#[derive(Default)]
pub(crate) struct Escape {
    parser: Parser,
    state: State,
}

#[derive(Clone, Copy, Default)]
enum State {
    /// ESC was the last byte that mattered.
    #[default]
    Opened,
    /// In the middle of an ESC or CSI sequence.
    Sequence,
    /// In a string's body.
    Body { is_osc: bool, left: u32 },
}

impl Escape {
    /// Length and effect of a whole control sequence (`ESC [ … final`) at the start of `bytes`, if it is all there and
    /// nothing unusual is in it. Most sequences are such, and need no parser: parameter and intermediate bytes, in whatever
    /// order, end with a byte from `@` to `~`.
    pub(crate) fn simple(bytes: &[u8]) -> Option<(usize, LineEffect)> {
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
                LineEffect::of(number, char::from(rest[end]))
            }
            _ => LineEffect::None,
        };
        Some((end + 3, effect))
    }

    /// Begins a sequence with an ESC.
    pub(crate) fn open(&mut self) {
        self.feed(ESC);
        self.state = State::Opened;
    }

    /// Takes the next byte. After [`Step::Last`] and [`Step::After`] the sequence is over.
    pub(crate) fn byte(&mut self, byte: u8) -> Step {
        match self.state {
            State::Body { is_osc, left } => self.in_body(is_osc, left, byte),
            State::Opened | State::Sequence => self.in_sequence(byte),
        }
    }

    fn in_sequence(&mut self, byte: u8) -> Step {
        if byte == ESC {
            self.open();
            return Step::Inside;
        }
        // Text in the middle of a sequence: a broken sequence must not take half a character with it.
        if byte >= 0x80 {
            return self.cancel(Step::After);
        }
        if matches!(self.state, State::Opened) && matches!(byte, b']' | b'P' | b'X' | b'^' | b'_') {
            self.feed(byte);
            self.state = State::Body {
                is_osc: byte == b']',
                left: MAX_STRING,
            };
            return Step::Inside;
        }
        // `vte` ignores DEL here without a word, so it must not change what we know of its state.
        if byte == DEL {
            return Step::Inside;
        }
        let seen = self.feed(byte);
        if seen.printed {
            // `vte` ends an ill-formed control sequence without a word; this is the text after it.
            return Step::After;
        }
        match seen.control {
            _ if seen.ended => Step::Last(seen.effect),
            Some(CAN | SUB) => Step::Last(LineEffect::None),
            Some(_) => Step::Control,
            None => {
                self.state = State::Sequence;
                Step::Inside
            }
        }
    }

    fn in_body(&mut self, is_osc: bool, left: u32, byte: u8) -> Step {
        match byte {
            ESC => {
                self.open();
                Step::Inside
            }
            CAN | SUB => self.cancel(Step::Last(LineEffect::None)),
            BEL if is_osc => self.cancel(Step::Last(LineEffect::None)),
            b'\n' => self.cancel(Step::After),
            _ if left == 0 => self.cancel(Step::After),
            _ => {
                let left = left - 1;
                self.state = State::Body { is_osc, left };
                Step::Inside
            }
        }
    }

    fn cancel(&mut self, step: Step) -> Step {
        self.feed(CAN);
        step
    }

    fn feed(&mut self, byte: u8) -> Seen {
        let mut seen = Seen::default();
        self.parser.advance(&mut seen, &[byte]);
        seen
    }
}

/// What `vte` did with a byte.
#[derive(Default)]
struct Seen {
    ended: bool,
    printed: bool,
    control: Option<u8>,
    effect: LineEffect,
}

impl Perform for Seen {
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
            _ if ignored || !intermediates.is_empty() => LineEffect::None,
            (None, _) => LineEffect::of(0, last),
            (Some([number]), None) => LineEffect::of(*number, last),
            _ => LineEffect::None,
        };
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.ended = true;
    }
}
