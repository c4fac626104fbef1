//! [`SecretMaskStream`]: masks one stream. Bytes that may begin a secret are held until further
//! output decides.

use super::forms::{FormMatcher, FormState};
use super::found::FoundSecret;
use super::known::KnownValues;
use agent_bash_core::{MaskStream, OutputPiece};
use std::sync::Arc;

/// Maximum number of held bytes. A secret that is longer is masked in parts.
const MAX_HELD_BYTES: usize = 16 * 1024;

/// Maximum length of an escape sequence that is skipped.
const MAX_SEQUENCE_BYTES: usize = 1024;

/// Bytes before a text that decide whether a word begins with it.
const BYTES_BEFORE: usize = 3;

const ESC: u8 = 0x1b;

/// The compiled matchers.
#[derive(Debug)]
pub(super) struct SecretFinder {
    pub(super) known: Option<KnownValues>,
    pub(super) forms: Option<FormMatcher>,
}

/// The state of one stream.
#[derive(Debug)]
pub(super) struct SecretMaskStream {
    finder: Arc<SecretFinder>,
    held: Vec<u8>,
    /// The last bytes that were passed on, without escape sequences.
    before: Vec<u8>,
    forms: FormState,
}

impl SecretMaskStream {
    pub(super) fn new(finder: Arc<SecretFinder>) -> Self {
        Self {
            finder,
            held: Vec::new(),
            before: Vec::new(),
            forms: FormState::default(),
        }
    }

    /// Passes on the settled part of `text`. Returns the length of that part.
    fn pass_on(
        &mut self,
        text: &[u8],
        is_end: bool,
        out: &mut dyn FnMut(OutputPiece<'_>),
    ) -> usize {
        let (found, settled) = if text.contains(&ESC) {
            self.find_between_sequences(text, is_end)
        } else {
            self.find(text, is_end)
        };
        let mut from = 0;
        for FoundSecret { range, mask } in found {
            if from < range.start {
                out(OutputPiece::Printed(&text[from..range.start]));
            }
            let sequences = sequences_in(&text[range.clone()]);
            out(OutputPiece::Masked {
                text: &mask,
                bytes: range.len() - sequences.len(),
            });
            if !sequences.is_empty() {
                out(OutputPiece::Printed(&sequences));
            }
            from = range.end;
        }
        if from < settled {
            out(OutputPiece::Printed(&text[from..settled]));
        }
        settled
    }

    /// Returns the secrets in order, which do not overlap, and the length of the settled text.
    fn find(&mut self, text: &[u8], is_end: bool) -> (Vec<FoundSecret>, usize) {
        let mut found = Vec::new();
        let mut settled = text.len();
        if let Some(known) = &self.finder.known {
            settled = known.find(self.before.last().copied(), text, is_end, &mut found);
        }
        if let Some(forms) = &self.finder.forms {
            let is_end = is_end && settled == text.len();
            let text = &text[..settled];
            settled = forms.find(&mut self.forms, &self.before, text, is_end, &mut found);
        }
        found.retain(|secret| secret.range.start < settled);
        join_overlapping(&mut found);
        let last = found.last().map_or(0, |secret| secret.range.end);
        let settled = settled.max(last);
        let kept = settled.saturating_sub(BYTES_BEFORE)..settled;
        self.before.extend_from_slice(&text[kept]);
        let surplus = self.before.len().saturating_sub(BYTES_BEFORE);
        self.before.drain(..surplus);
        (found, settled)
    }

    /// Returns the same as [`Self::find`] for a text with escape sequences. So a coloured secret
    /// is found, too.
    fn find_between_sequences(&mut self, text: &[u8], is_end: bool) -> (Vec<FoundSecret>, usize) {
        let (mut plain, mut original) = (Vec::with_capacity(text.len()), Vec::new());
        let mut at = 0;
        while at < text.len() {
            match sequence_len(&text[at..], is_end) {
                None => break,
                Some(0) => {
                    plain.push(text[at]);
                    original.push(at);
                    at += 1;
                }
                Some(length) => at += length,
            }
        }
        let is_end = is_end && at == text.len();
        original.push(at);
        let (mut found, settled) = self.find(&plain, is_end);
        for FoundSecret { range, .. } in &mut found {
            // Sequences after the last byte are not part of the secret.
            *range = original[range.start]..original[range.end - 1] + 1;
        }
        // The sequences before a held byte are held, too: they set its colour.
        let settled = match settled.checked_sub(1) {
            _ if settled == plain.len() => at,
            Some(last) => original[last] + 1,
            None => 0,
        };
        (found, settled)
    }
}

impl MaskStream for SecretMaskStream {
    fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(OutputPiece<'_>)) {
        if self.held.is_empty() {
            let settled = self.pass_on(bytes, false, out);
            self.held.extend_from_slice(&bytes[settled..]);
        } else {
            let mut text = std::mem::take(&mut self.held);
            text.extend_from_slice(bytes);
            let settled = self.pass_on(&text, false, out);
            text.drain(..settled);
            self.held = text;
        }
        if self.held.len() > MAX_HELD_BYTES {
            self.finish(out);
        }
    }

    fn finish(&mut self, out: &mut dyn FnMut(OutputPiece<'_>)) {
        let text = std::mem::take(&mut self.held);
        let settled = self.pass_on(&text, true, out);
        debug_assert_eq!(settled, text.len());
    }

    fn held_bytes(&self) -> usize {
        self.held.len()
    }
}

/// Sorts secrets by their beginning and joins those that overlap: the first one names them.
fn join_overlapping(found: &mut Vec<FoundSecret>) {
    found.sort_by_key(|secret| secret.range.start);
    found.dedup_by(|next, previous| {
        let overlaps = next.range.start < previous.range.end;
        if overlaps {
            previous.range.end = previous.range.end.max(next.range.end);
        }
        overlaps
    });
}

/// Returns the length of the escape sequence at the beginning of `text`, `None` if the sequence is
/// incomplete. The length is 0 if `text` begins with other output.
fn sequence_len(text: &[u8], is_end: bool) -> Option<usize> {
    if text[0] != ESC {
        return Some(0);
    }
    let open = if is_end || text.len() > MAX_SEQUENCE_BYTES {
        Some(0)
    } else {
        None
    };
    let end = match text.get(1) {
        None => return open,
        Some(b'[') => text[2..]
            .iter()
            .position(|byte| !(0x20..0x40).contains(byte)),
        // OSC ends with BEL or ST.
        Some(b']') => {
            let bell = text.iter().position(|byte| *byte == 0x07);
            let terminator = text.windows(2).position(|two| two == b"\x1b\\");
            let end = match (bell, terminator) {
                (Some(bell), Some(st)) => Some(bell.min(st + 1)),
                (bell, st) => bell.or(st.map(|at| at + 1)),
            };
            return end
                .filter(|end| *end < MAX_SEQUENCE_BYTES)
                .map_or(open, |end| Some(end + 1));
        }
        Some(_) => return Some(2),
    };
    end.map_or(open, |end| Some(2 + end + 1))
}

/// Returns the escape sequences in a text.
fn sequences_in(text: &[u8]) -> Vec<u8> {
    let mut sequences = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == ESC) {
        let length = sequence_len(&rest[at..], true).unwrap_or(0).max(1);
        sequences.extend_from_slice(&rest[at..at + length]);
        rest = &rest[at + length..];
    }
    sequences
}
