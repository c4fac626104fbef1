//! Output in which secrets are masked.

use super::{Mode, Sanitiser, TextSink};
use agent_bash_core::OutputPiece;

impl Sanitiser {
    /// Takes a piece of masked output.
    pub(crate) fn piece(&mut self, piece: OutputPiece<'_>, out: &mut impl TextSink) {
        match piece {
            OutputPiece::Printed(bytes) => self.push(bytes, out),
            OutputPiece::Masked { text, bytes } => self.masked(text, bytes as u64, out),
        }
    }

    /// Takes the stand-in for the next `bytes` bytes.
    fn masked(&mut self, text: &str, bytes: u64, out: &mut impl TextSink) {
        if self.partial.len > 0 {
            self.give_up_partial(out);
        }
        if self.mode == Mode::Text && !text.is_empty() {
            self.stand_in(text, self.raw, bytes, out);
        }
        self.raw += bytes;
    }
}
