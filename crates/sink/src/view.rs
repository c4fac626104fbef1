//! Reads a stored output: by lines, by bytes, from its end. `search` searches it.
//!
//! The file contains raw bytes. This module cleans them as the sink cleans the output of a call,
//! and returns pages of limited size.

use crate::cut;
use crate::line_index::LineIndex;
use crate::lines::StreamLines;
use crate::report::CleanPiece;
use crate::sanitise::{CarriageReturn, Sanitiser};
use crate::scan;
use crate::wording::truncated_at;
use agent_bash_core::{
    MASK_CONTEXT_BYTES, OutputMask, OutputPiece, Truncation, Window, masked_text,
};
use agent_bash_os::open_regular;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Maximum size of a page, in bytes of text.
pub const MAX_PAGE_BYTES: usize = 250 * 1024;

/// Lines of a page if no limit is given.
pub const DEFAULT_LINES: u64 = 2000;

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A file that is read page by page. The file may grow during reading.
#[derive(Debug)]
pub struct FileView {
    file: File,
    index: LineIndex,
    /// LF, or CR in a file that has CRs but no LF.
    line_end: u8,
    /// True if the file was capped: the output continued after its end.
    capped: bool,
    /// Size limit of a page.
    max_page_bytes: usize,
    /// Maximum number of lines of a page.
    max_lines: u64,
    mask: Option<Arc<dyn OutputMask>>,
}

/// A page of text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The clean text; [`CleanPiece::marked`] shows where a line longer than a page was cut.
    pub piece: CleanPiece,
    /// Number of lines of the file.
    pub total_lines: u64,
    /// Length of the file in bytes.
    pub total_bytes: u64,
    /// The position to continue at.
    pub next: NextPage,
    /// The file's size in bytes if the page reaches the end of a capped file.
    pub capped_at: Option<u64>,
}

/// The position at which the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextPage {
    /// The file ends with the page.
    End,
    /// The next page begins at this line.
    Line(u64),
    /// The next page begins at this byte of the file: the page ended inside a line.
    Byte(u64),
}

impl Page {
    /// Returns one line with the shown range and the next position; `None` if the page has the
    /// whole output.
    pub fn hint(&self) -> Option<String> {
        let shown = self.shown()?;
        let next = match self.next {
            NextPage::End => String::new(),
            NextPage::Line(line) => format!(" Use offset={line} to go on."),
            NextPage::Byte(byte) => format!(" The line goes on: use byte={byte}."),
        };
        Some(format!("[{shown}{next}]"))
    }

    /// Returns the sentence about the shown part; `None` if the page has the whole output.
    pub fn shown(&self) -> Option<String> {
        let total = self.total_lines;
        let shown = match self.piece.lines {
            None if self.total_bytes == 0 => None,
            None => Some(format!("Nothing to show: {total} lines in all.")),
            Some([1, last]) if last == total && self.next == NextPage::End => None,
            Some([first, last]) => Some(format!("Showing lines {first}-{last} of {total}.")),
        };
        match (shown, self.capped_at.map(capped_sentence)) {
            (Some(shown), Some(capped)) => Some(format!("{shown} {capped}")),
            (shown, capped) => shown.or(capped),
        }
    }
}

/// Returns the sentence for a file that was capped.
pub(crate) fn capped_sentence(bytes: u64) -> String {
    let truncated = truncated_at(bytes);
    format!("The stored output ends here ({truncated}); the command printed more.")
}

impl FileView {
    /// Opens any regular file.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        Self::indexed(file, LineIndex::default(), false)
    }

    /// Opens a file whose beginning is indexed. `capped`: the output continued after the end of the
    /// file.
    pub(crate) fn indexed(file: File, index: LineIndex, capped: bool) -> io::Result<Self> {
        let mut view = Self {
            file,
            index,
            line_end: b'\n',
            capped,
            max_page_bytes: MAX_PAGE_BYTES,
            max_lines: u64::MAX,
            mask: None,
        };
        let mut has_cr = false;
        let mut has_lf = false;
        view.each_chunk(0, |chunk| {
            has_lf = memchr::memchr(b'\n', chunk).is_some();
            has_cr |= memchr::memchr(b'\r', chunk).is_some();
            !has_lf
        })?;
        if has_cr && !has_lf {
            // The index counts LFs only.
            view.line_end = b'\r';
            view.index = LineIndex::default();
        }
        Ok(view)
    }

    /// Returns the cleaner for reading. It discards no visible text, so that text omitted from a
    /// result can be read in a view.
    pub(crate) fn sanitiser(&self) -> Sanitiser {
        Sanitiser::new(match self.line_end {
            b'\r' => CarriageReturn::Newline,
            _ => CarriageReturn::Marked,
        })
    }

    fn line_ends(&self, bytes: &[u8]) -> u64 {
        memchr::memchr_iter(self.line_end, bytes).count() as u64
    }

    /// Limits pages to a window; they never exceed [`MAX_PAGE_BYTES`].
    #[must_use]
    pub fn limit_pages(mut self, window: Window) -> Self {
        self.max_page_bytes = window.bytes.min(MAX_PAGE_BYTES);
        self.max_lines = window.lines as u64;
        self
    }

    /// Masks secrets in pages and in searches. Offsets still refer to the file.
    #[must_use]
    pub fn masked(mut self, mask: Option<Arc<dyn OutputMask>>) -> Self {
        self.mask = mask;
        self
    }

    /// Returns the size limit of a page, in bytes of text.
    pub(crate) fn page_limit(&self) -> usize {
        self.max_page_bytes
    }

    /// Returns the current length in bytes.
    ///
    /// # Errors
    /// I/O errors.
    pub fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// True if the file is empty now.
    ///
    /// # Errors
    /// I/O errors.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns the number of lines as `wc -l` counts them, plus one for a last line without a line
    /// end.
    ///
    /// # Errors
    /// I/O errors.
    pub fn total_lines(&self) -> io::Result<u64> {
        let (from, mut lines) = self.index.before(u64::MAX);
        let mut last = self.line_end;
        if let Some(before) = from.checked_sub(1) {
            let mut byte = [0];
            self.file.read_exact_at(&mut byte, before)?;
            last = byte[0];
        }
        self.each_chunk(from, |chunk| {
            lines += self.line_ends(chunk);
            last = chunk.last().copied().unwrap_or(last);
            true
        })?;
        Ok(lines + u64::from(last != self.line_end))
    }

    /// Returns `limit` lines (default [`DEFAULT_LINES`]) from line `offset`, counted from 1. A page
    /// never exceeds [`MAX_PAGE_BYTES`]: it then ends after a whole line, or inside a line that is
    /// longer than a page.
    ///
    /// # Errors
    /// I/O errors.
    pub fn lines(&self, offset: u64, limit: Option<u64>) -> io::Result<Page> {
        let first = offset.max(1);
        let total_lines = self.total_lines()?;
        let Some(start) = self.line_start(first)? else {
            return self.page(CleanPiece::default(), total_lines, NextPage::End);
        };
        let limit = limit.unwrap_or(DEFAULT_LINES).max(1);
        let (mut piece, raw) = self.read_page(start, limit, u64::MAX)?;
        set_line_numbers(&mut piece, first);
        let last = piece.lines.map_or(first - 1, |[_, last]| last);
        let whole_lines = piece.text.ends_with('\n');
        let next = match () {
            () if whole_lines && last < total_lines => NextPage::Line(last + 1),
            () if !whole_lines && start + raw < self.len()? => NextPage::Byte(start + raw),
            () => NextPage::End,
        };
        self.page(piece, total_lines, next)
    }

    /// Returns the text of at most `len` bytes from byte `offset` on, up to [`MAX_PAGE_BYTES`].
    ///
    /// # Errors
    /// I/O errors.
    pub fn bytes(&self, offset: u64, len: u64) -> io::Result<Page> {
        let (mut piece, raw) =
            self.read_page(offset, u64::MAX, len.min(self.max_page_bytes as u64))?;
        let mut line = 1;
        let mut seen = 0;
        self.each_chunk(0, |chunk| {
            let wanted = usize::try_from(offset - seen)
                .unwrap_or(usize::MAX)
                .min(chunk.len());
            line += self.line_ends(&chunk[..wanted]);
            seen += wanted as u64;
            seen < offset
        })?;
        set_line_numbers(&mut piece, line);
        let next = match offset.saturating_add(raw) {
            end if end < self.len()? => NextPage::Byte(end),
            _ => NextPage::End,
        };
        self.page(piece, self.total_lines()?, next)
    }

    /// Returns the last `lines` lines, limited to their last [`MAX_PAGE_BYTES`] bytes.
    ///
    /// # Errors
    /// I/O errors.
    pub fn tail(&self, lines: u64) -> io::Result<Page> {
        let total_lines = self.total_lines()?;
        let lines = lines.clamp(1, self.max_lines.max(1));
        let first = total_lines.saturating_sub(lines) + 1;
        let start = self.line_start(first)?.unwrap_or(0);
        let policy = Truncation::Tail {
            bytes: self.max_page_bytes,
        };
        let mut sanitiser = self.sanitiser();
        let mut text = StreamLines::new(cut::window_sizes(policy, false), None, None, None);
        self.each_piece(start, u64::MAX, |piece| {
            sanitiser.piece(piece, &mut text);
            true
        })?;
        sanitiser.finish(&mut text);
        let raw = sanitiser.raw();
        let cut = cut::cut(&text.finish(raw), policy, None, raw);
        let mut piece = cut.shown.pieces().next().cloned().unwrap_or_default();
        if let Some(range) = &mut piece.lines {
            *range = range.map(|line| line + first - 1);
        }
        self.page(piece, total_lines, NextPage::End)
    }

    fn page(&self, mut piece: CleanPiece, total_lines: u64, next: NextPage) -> io::Result<Page> {
        let total_bytes = self.len()?;
        self.mask_clean_text(&mut piece.text);
        Ok(Page {
            piece,
            total_lines,
            total_bytes,
            next,
            capped_at: (self.capped && next == NextPage::End).then_some(total_bytes),
        })
    }

    /// Masks the secrets that only the clean text contains: in the file, control characters divide
    /// them.
    pub(crate) fn mask_clean_text(&self, text: &mut String) {
        if let Cow::Owned(masked) = masked_text(self.mask.as_deref(), text) {
            *text = masked;
        }
    }

    /// Returns the file's length, if the file was capped.
    pub(crate) fn capped_at(&self) -> io::Result<Option<u64>> {
        Ok(if self.capped { Some(self.len()?) } else { None })
    }

    /// Returns the offset at which line number `line`, from 1, begins; `None` beyond the end.
    pub(crate) fn line_start(&self, line: u64) -> io::Result<Option<u64>> {
        let ended = line - 1;
        let (from, mut lines) = self.index.before(ended);
        if lines == ended {
            return Ok((from < self.len()?).then_some(from));
        }
        let mut at = from;
        let mut found = None;
        self.each_chunk(from, |chunk| {
            let in_chunk = self.line_ends(chunk);
            if lines + in_chunk >= ended {
                let nth = (ended - lines - 1) as usize;
                found = memchr::memchr_iter(self.line_end, chunk)
                    .nth(nth)
                    .map(|end| at + end as u64 + 1);
                return false;
            }
            lines += in_chunk;
            at += chunk.len() as u64;
            true
        })?;
        let len = self.len()?;
        Ok(found.filter(|&start| start < len))
    }

    /// Cleans the file from byte `start` on, limited to `lines` lines, `raw_limit` raw bytes and a
    /// page of text. Returns the text and the number of raw bytes it accounts for.
    fn read_page(&self, start: u64, lines: u64, raw_limit: u64) -> io::Result<(CleanPiece, u64)> {
        let lines = lines.min(self.max_lines);
        let policy = Truncation::Head {
            bytes: self.max_page_bytes,
            whole_lines: false,
        };
        let mut sanitiser = self.sanitiser();
        let mut text = StreamLines::new(cut::window_sizes(policy, false), None, Some(lines), None);
        let mut left = raw_limit;
        self.each_piece(start, raw_limit, |piece| {
            sanitiser.piece(piece, &mut text);
            left -= piece.printed_bytes() as u64;
            left > 0 && !text.head_satisfied() && text.len() <= self.max_page_bytes as u64
        })?;
        // If the requested range ends inside a character or an escape sequence, its bytes are left
        // for the next read.
        let raw = match sanitiser.complete_bytes() {
            complete if left == 0 && complete > 0 => {
                sanitiser.append_right(&mut text);
                complete
            }
            _ => {
                sanitiser.finish(&mut text);
                sanitiser.raw()
            }
        };
        let text = text.finish(raw);
        let fits = text.window.total <= self.max_page_bytes as u64;
        let cut = cut::cut(&text, policy, None, raw);
        let mut piece = cut.shown.pieces().next().cloned().unwrap_or_default();
        if !fits && let Some(end) = piece.text.rfind('\n') {
            piece.text.truncate(end + 1);
        }
        let raw_bytes = match piece.text.len() as u64 {
            len if fits && len == text.window.total && !text.head_cut => raw,
            len => text.window.raw_before(len).unwrap_or(raw),
        };
        Ok((piece, raw_bytes))
    }

    /// Passes `length` bytes of the file from byte `from` on to `take`, with masked secrets, until
    /// the end or until `take` returns false. A secret that is only partly in the
    /// range is masked, too.
    pub(crate) fn each_piece(
        &self,
        from: u64,
        length: u64,
        mut take: impl FnMut(OutputPiece<'_>) -> bool,
    ) -> io::Result<()> {
        let Some(mask) = &self.mask else {
            let mut left = length;
            return self.each_chunk(from, |chunk| {
                let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
                left -= wanted as u64;
                take(OutputPiece::Printed(&chunk[..wanted])) && left > 0
            });
        };
        let mut at = from.saturating_sub(MASK_CONTEXT_BYTES as u64);
        let start = at;
        let end = from.saturating_add(length);
        let mut is_wanted = true;
        let mut clipped = |piece: OutputPiece<'_>| {
            if is_wanted && let Some(piece) = piece.clipped(at, from..end) {
                is_wanted = take(piece);
            }
            at += piece.printed_bytes() as u64;
            is_wanted &= at < end;
            is_wanted
        };
        let mut stream = mask.stream();
        self.each_chunk(start, |chunk| {
            let mut continues = true;
            stream.push(chunk, &mut |piece| continues = clipped(piece));
            continues
        })?;
        stream.finish(&mut |piece| {
            clipped(piece);
        });
        Ok(())
    }

    /// Passes the file from byte `from` on to `take`, in chunks, until the end or until `take`
    /// returns false.
    pub(crate) fn each_chunk(
        &self,
        mut from: u64,
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let read = match self.file.read_at(&mut buffer, from) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 || !take(&buffer[..read]) {
                return Ok(());
            }
            from += read as u64;
        }
    }
}

/// Sets the line numbers of a piece whose first line is `first`.
fn set_line_numbers(piece: &mut CleanPiece, first: u64) {
    let count = scan::newlines(piece.text.as_bytes());
    let open = !piece.text.is_empty() && !piece.text.ends_with('\n');
    let count = count + u64::from(open);
    piece.lines = (count > 0).then_some([first, first + count - 1]);
}
