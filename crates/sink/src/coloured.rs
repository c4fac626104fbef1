//! A page of a stored output with its colours, for a view that draws colours. Without the colours,
//! the text equals the text of [`FileView::lines`].

use crate::sanitise::TextSink;
use crate::terminal_text::incomplete_len;
use crate::view::{FileView, MAX_PAGE_BYTES, Page};
use std::io;

/// Bytes that are read before a page, because a colour that began there may still apply.
const COLOUR_LOOKBACK_BYTES: u64 = 64 << 10;

/// Maximum bytes of colour sequences on a page. Later sequences are dropped.
const MAX_COLOUR_BYTES: usize = MAX_PAGE_BYTES;

impl FileView {
    /// Returns the marked text of a page with its colour sequences (SGR). At the beginning are the
    /// earlier sequences that still apply. All other control sequences are removed.
    ///
    /// # Errors
    /// I/O errors.
    pub fn coloured(&self, page: &Page) -> io::Result<String> {
        let marked = page.piece.marked();
        let Some([first, _]) = page.piece.lines else {
            return Ok(marked);
        };
        let Some(start) = self.line_start(first)? else {
            return Ok(marked);
        };
        let mut before = ColouredText::default();
        self.clean_range(
            start.saturating_sub(COLOUR_LOOKBACK_BYTES),
            start,
            usize::MAX,
            &mut before,
        )?;
        let mut coloured = ColouredText::default();
        coloured.add(&before.active_sequences());
        let text = &page.piece.text;
        self.clean_range(start, u64::MAX, text.len(), &mut coloured)?;
        // The file may have been replaced meanwhile.
        let is_same = coloured.text.starts_with(text.as_str());
        Ok(match marked.strip_prefix(text.as_str()) {
            Some(after) if is_same => coloured.with_sequences(text.len()) + after,
            _ => marked,
        })
    }

    /// Cleans the bytes from `from` to `to`, until `out` has more than `max_text` bytes of text.
    fn clean_range(
        &self,
        from: u64,
        to: u64,
        max_text: usize,
        out: &mut ColouredText,
    ) -> io::Result<()> {
        let mut sanitiser = self.sanitiser();
        let mut left = to - from;
        // A sequence is recognised only if one chunk contains it whole.
        let mut incomplete = Vec::new();
        self.each_chunk(from, |chunk| {
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            left -= wanted as u64;
            incomplete.extend_from_slice(&chunk[..wanted]);
            let rest = incomplete.split_off(incomplete.len() - incomplete_len(&incomplete));
            sanitiser.push(&std::mem::replace(&mut incomplete, rest), out);
            left > 0 && out.text.len() <= max_text
        })?;
        sanitiser.push(&incomplete, out);
        sanitiser.finish(out);
        Ok(())
    }
}

/// Text, and the colour sequences in it.
#[derive(Debug, Default)]
struct ColouredText {
    text: String,
    /// Each sequence with its offset in the text.
    sequences: Vec<(usize, String)>,
    /// Total bytes of the sequences.
    size: usize,
}

impl ColouredText {
    fn add(&mut self, sequence: &str) {
        if !sequence.is_empty() && self.size + sequence.len() <= MAX_COLOUR_BYTES {
            self.size += sequence.len();
            self.sequences.push((self.text.len(), sequence.to_owned()));
        }
    }

    /// Returns the sequences that apply after the text.
    fn active_sequences(&self) -> String {
        let is_reset = |sequence: &str| matches!(sequence, "\x1b[m" | "\x1b[0m");
        let all = &self.sequences;
        let last = all.iter().rposition(|(_, sequence)| is_reset(sequence));
        let from = last.map_or(0, |last| last + 1);
        all[from..]
            .iter()
            .map(|(_, sequence)| &**sequence)
            .collect()
    }

    /// Returns the first `len` bytes of the text with the sequences at their offsets.
    fn with_sequences(&self, len: usize) -> String {
        let (mut coloured, mut copied) = (String::with_capacity(len + self.size), 0);
        for (offset, sequence) in self.sequences.iter().take_while(|(at, _)| *at <= len) {
            coloured.push_str(&self.text[copied..*offset]);
            coloured.push_str(sequence);
            copied = *offset;
        }
        coloured.push_str(&self.text[copied..len]);
        coloured
    }
}

impl TextSink for ColouredText {
    fn text(&mut self, text: &[u8], _: u64) {
        self.text.push_str(&String::from_utf8_lossy(text));
    }

    fn stand_in(&mut self, text: &str, _: u64, _: u64) {
        self.text.push_str(text);
    }

    fn line_end(&mut self, _: u64) {
        self.text.push('\n');
    }

    fn restart_line(&mut self, _: u64) {
        let line = self.text.rfind('\n').map_or(0, |end| end + 1);
        self.cut(line);
    }

    fn take_back(&mut self, chars: usize) -> String {
        let line = self.text.rfind('\n').map_or(0, |end| end + 1);
        let taken = self.text[line..].char_indices().rev().take(chars).last();
        let at = taken.map_or(self.text.len(), |(at, _)| line + at);
        self.cut(at)
    }

    fn colours(&mut self, sequence: &[u8]) {
        self.add(&String::from_utf8_lossy(sequence));
    }
}

impl ColouredText {
    /// Removes the text from `end` on, and returns it. Its colours still apply.
    fn cut(&mut self, end: usize) -> String {
        for (offset, _) in self.sequences.iter_mut().rev() {
            if *offset <= end {
                break;
            }
            *offset = end;
        }
        self.text.split_off(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn view(bytes: &[u8]) -> (tempfile::NamedTempFile, FileView) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let view = FileView::open(file.path()).unwrap();
        (file, view)
    }

    #[test]
    fn coloured_page_has_only_colour_sequences() {
        for (bytes, wanted) in [
            (&b"a \x1b[31mred\x1b[0m b\n"[..], "a \x1b[31mred\x1b[0m b\n"),
            (
                b"\x1b]52;c;eA==\x07\x1b[2J\x1b[1mbold\x1b[5;5H",
                "\x1b[1mbold",
            ),
            (b"\x1b[?25h\x1b[>4m\x1b[38;5;9mx\x1b[", "\x1b[38;5;9mx"),
            // Manual pages print bold text by overstriking.
            (b"\x1b[4mb\x08bc\n", "\x1b[4mbc\n"),
            (b"10%\r\x1b[32m20%\n", "10%\x1b[32m\u{240d}20%\n"),
            (b"plain\n", "plain\n"),
            (b"", ""),
        ] {
            let (_file, view) = view(bytes);
            let page = view.lines(1, None).unwrap();
            let coloured = view.coloured(&page).unwrap();
            assert_eq!(coloured, wanted, "{bytes:?}");
        }
    }

    #[test]
    fn colours_continue_over_lines_and_chunks() {
        let mut bytes = b"\x1b[1mbold\x1b[0m\x1b[31m\nred\n".to_vec();
        let (_file, short) = view(&bytes);
        let page = short.lines(2, Some(1)).unwrap();
        assert_eq!(short.coloured(&page).unwrap(), "\x1b[31mred\n");
        // The sequence is complete, wherever the chunks end.
        bytes.truncate(0);
        for _ in 0..30_000 {
            bytes.extend_from_slice(b"\x1b[32mx\x1b[0m");
        }
        let (_file, long) = view(&bytes);
        let page = long.lines(1, None).unwrap();
        let coloured = long.coloured(&page).unwrap();
        let all: usize = coloured.matches("\x1b[32mx").count();
        assert!(all * 9 > MAX_COLOUR_BYTES - 9, "{all}");
        assert!(
            !coloured
                .replace("\x1b[32m", "")
                .replace("\x1b[0m", "")
                .contains('\x1b')
        );
    }
}
