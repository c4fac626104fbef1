//! [`TerminalText`]: output that is passed on while it comes, as a terminal may be given it. A terminal obeys what it is given:
//! a sequence in an output can write the clipboard, the title, or what is typed next.

use crate::sanitise::{CarriageReturn, Sanitiser, TextSink};

/// Cleans a stream chunk by chunk. Text, TAB, LF and CR come through; half a character waits for the rest of it.
pub struct TerminalText {
    sanitiser: Sanitiser,
}

impl Default for TerminalText {
    fn default() -> Self {
        Self {
            sanitiser: Sanitiser::new(CarriageReturn::Overwrite),
        }
    }
}

impl TerminalText {
    /// What of a text may be shown.
    pub fn of(text: &[u8]) -> Vec<u8> {
        let mut stream = Self::default();
        let mut clean = stream.push(text);
        clean.extend(stream.finish());
        clean
    }

    /// What may be shown of the next chunk.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut clean = Clean(Vec::with_capacity(chunk.len()));
        self.sanitiser.push(chunk, &mut clean);
        clean.0
    }

    /// What was held back until now: the stream has ended.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut clean = Clean(Vec::new());
        self.sanitiser.finish(&mut clean);
        clean.0
    }
}

impl std::fmt::Debug for TerminalText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalText").finish_non_exhaustive()
    }
}

struct Clean(Vec<u8>);

impl TextSink for Clean {
    fn text(&mut self, text: &[u8], _: u64) {
        self.0.extend_from_slice(text);
    }

    fn stand_in(&mut self, text: &str, _: u64, _: u64) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn line_end(&mut self, _: u64) {
        self.0.push(b'\n');
    }

    fn restart_line(&mut self, _: u64) {
        self.0.push(b'\r');
    }

    /// A terminal goes back by itself, further than to what is at hand here.
    fn take_back(&mut self, chars: usize) -> String {
        self.0.extend(std::iter::repeat_n(b'\x08', chars));
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_text_however_it_is_split() {
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
}
