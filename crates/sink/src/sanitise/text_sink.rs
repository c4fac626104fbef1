//! The receiver of clean text.

use agent_bash_core::LineEdit;

/// Receives clean text: valid UTF-8, whole characters, no control characters except TAB and LF.
pub(crate) trait TextSink {
    /// Receives text that is identical, byte for byte, to the stream at `raw`.
    fn text(&mut self, text: &[u8], raw: u64);
    /// Receives a stand-in for the `raw_len` bytes at `raw`. `raw_len` is 0 if the bytes were
    /// counted before, or if the cursor only moved over the text.
    fn stand_in(&mut self, text: &str, raw: u64, raw_len: u64);
    /// Receives a line end for the CR at `raw`.
    fn line_end(&mut self, raw: u64);
    /// Discards the open line: other text replaces it, because of the CR at `raw`.
    fn restart_line(&mut self, raw: u64);
    /// Removes up to `chars` characters from the end of the line, as far as they are available, and
    /// returns them.
    fn take_back(&mut self, chars: usize) -> String;
    /// Removes the line, as far as it is available, and returns it: the cursor moves to its
    /// beginning.
    fn take_line(&mut self) -> String {
        self.take_back(LineEdit::MAX_RIGHT_CHARS)
    }
    /// Passes on an effect if the sink does not store the line. Returns true if it did.
    fn pass_on_effect(&mut self, _effect: LineEdit) -> bool {
        false
    }
    /// Records that visible text, which was taken back before, was replaced or erased.
    fn written_over(&mut self) {}
    /// Receives an SGR sequence (colours), which is not part of the text.
    fn colours(&mut self, _sequence: &[u8]) {}
}
