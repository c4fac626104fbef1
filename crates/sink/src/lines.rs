//! Lines: overwriting by carriage returns, the limit on line length, the call's `head`, and the
//! counts.
//!
//! The open line is stored separately from finished ones: a carriage return may remove it, and must
//! not remove earlier lines. `cut` decides what is shown.

use crate::sanitise::TextSink;
use crate::scan;
use crate::window::{ShrinkLimit, Window};

/// Bytes of the open line that are kept regardless of the window: the range that backspaces can
/// reach.
const MAX_OPEN_BYTES: usize = 4096;

/// The text of a stream, line by line, within a window.
pub(crate) struct StreamLines {
    finished: Window,
    open: Window,
    clamp: Option<Clamping>,
    /// Remaining lines of `head`; `None` without such a limit.
    wanted: Option<u64>,
    /// Number of line ends so far in the wanted text, including line ends that are no longer
    /// stored.
    ended: u64,
    /// Start of the last line of the finished text.
    last_start: u64,
    /// Length of the first line in bytes, once it has ended.
    first_len: Option<u64>,
    /// True if a line was clamped.
    clamped: bool,
    /// True if visible text was overwritten or erased.
    overwritten: bool,
    /// True until the first LF. Until then, CRs end lines, so that a file with CR line ends has
    /// lines. The first LF shows that the CRs overwrote a line instead.
    cr_ends: bool,
    /// True if such a CR-ended line had visible text.
    cr_text_seen: bool,
    beyond: UnstoredLines,
}

/// Lines after those of `head`: counted, not stored.
#[derive(Default)]
struct UnstoredLines {
    ended: u64,
    open: bool,
}

/// The limit on line length and the open line's state with respect to it.
#[derive(Default)]
struct Clamping {
    max: u64,
    /// Number of characters of the open line that were stored.
    chars: u64,
    /// Number of characters of the open line that were omitted.
    omitted: u64,
    /// Position in the stream where the omission begins.
    from: u64,
}

/// The text and counts of a stream that has ended.
pub(crate) struct StreamText {
    pub(crate) window: Window,
    /// Number of lines of the stream.
    pub(crate) total_lines: u64,
    /// Number of lines of the window's text: all lines, or the lines that `head` keeps.
    pub(crate) lines: u64,
    /// Start of the last of these lines.
    pub(crate) last_start: u64,
    /// Length of the first line in bytes, without its LF.
    pub(crate) first_len: u64,
    /// True if output followed the lines that `head` keeps.
    pub(crate) head_cut: bool,
    /// True if a line was clamped.
    pub(crate) clamped: bool,
    /// True if visible text was overwritten or erased.
    pub(crate) overwritten: bool,
}

impl StreamLines {
    /// Keeps `head` lines of at most `max_chars` characters, in windows of the given sizes.
    pub(crate) fn new(
        (head_cap, tail_cap): (usize, usize),
        max_chars: Option<usize>,
        head: Option<u64>,
        shrink: Option<ShrinkLimit>,
    ) -> Self {
        let shrink_open = shrink.map(|shrink| ShrinkLimit {
            tail: shrink.tail.max(MAX_OPEN_BYTES),
            ..shrink
        });
        Self {
            finished: Window::new(head_cap, tail_cap, shrink),
            open: Window::new(head_cap, tail_cap.max(MAX_OPEN_BYTES), shrink_open),
            clamp: max_chars.map(|max| Clamping {
                max: max as u64,
                ..Clamping::default()
            }),
            wanted: head,
            ended: 0,
            last_start: 0,
            first_len: None,
            clamped: false,
            overwritten: false,
            cr_ends: false,
            cr_text_seen: false,
            beyond: UnstoredLines::default(),
        }
    }

    /// Lets CRs end the lines of a text without any LF. Has no effect with `head`, which counts
    /// lines at once.
    pub(crate) fn with_cr_line_ends(mut self) -> Self {
        self.cr_ends = self.wanted.is_none();
        self
    }

    /// True if `head` has all its lines.
    pub(crate) fn head_satisfied(&self) -> bool {
        self.wanted == Some(0)
    }

    /// Returns the length of the text so far, in bytes. The length shrinks when a carriage return
    /// removes text.
    pub(crate) fn len(&self) -> u64 {
        self.finished.total + self.open.total
    }

    /// Ends the stream, which is `raw` bytes long; returns its text and counts.
    pub(crate) fn finish(mut self, raw: u64) -> StreamText {
        self.mark_omission(raw);
        let open = u64::from(self.open.total > 0);
        let lines = self.ended + open;
        if open > 0 {
            self.last_start = self.finished.total;
            self.first_len.get_or_insert(self.open.total);
            self.finished.take(&mut self.open);
        }
        let beyond = self.beyond.ended + u64::from(self.beyond.open);
        StreamText {
            window: self.finished,
            total_lines: lines + beyond,
            lines,
            last_start: self.last_start,
            first_len: self.first_len.unwrap_or(0),
            head_cut: beyond > 0,
            clamped: self.clamped,
            overwritten: self.overwritten,
        }
    }

    /// Takes text of the lines that `head` keeps.
    fn wanted_text(&mut self, text: &[u8], raw: u64) {
        let Some(last) = memchr::memrchr(b'\n', text) else {
            self.open_text(text, raw);
            return;
        };
        if self.cr_ends {
            self.forget_cr_ends();
        }
        let (mut lines, rest) = text.split_at(last + 1);
        let mut at = raw;
        if self.line_is_open()
            && let Some(end) = memchr::memchr(b'\n', lines)
        {
            self.open_text(&lines[..end], at);
            self.end_line(at + end as u64);
            lines = &lines[end + 1..];
            at += end as u64 + 1;
        }
        if self.fits(lines) {
            self.whole_lines(lines, at);
        } else {
            self.lines_one_by_one(lines, at);
        }
        self.open_text(rest, raw + last as u64 + 1);
    }

    /// Handles the first LF: the lines that CRs had ended were successive states of one line.
    fn forget_cr_ends(&mut self) {
        self.cr_ends = false;
        if self.ended > 0 {
            self.finished.clear();
            self.ended = 0;
            self.last_start = 0;
            self.first_len = None;
            self.clamped = false;
            self.overwritten |= self.cr_text_seen;
        }
    }

    /// True only if none of these lines needs clamping.
    fn fits(&self, lines: &[u8]) -> bool {
        self.clamp.as_ref().is_none_or(|clamp| {
            scan::lines_fit(lines, usize::try_from(clamp.max).unwrap_or(usize::MAX))
        })
    }

    /// Takes whole lines that need no clamping.
    fn whole_lines(&mut self, lines: &[u8], raw: u64) {
        let Some(before_last) = lines.len().checked_sub(1) else {
            return;
        };
        let last = memchr::memrchr(b'\n', &lines[..before_last]).map_or(0, |end| end + 1);
        self.last_start = self.finished.total + last as u64;
        if self.first_len.is_none() {
            let first = memchr::memchr(b'\n', lines).unwrap_or(before_last);
            self.first_len = Some(first as u64);
        }
        self.finished.append(lines, raw, lines.len() as u64);
        self.count_lines(scan::newlines(lines));
    }

    /// Takes whole lines. Clamps the long ones.
    fn lines_one_by_one(&mut self, lines: &[u8], raw: u64) {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', lines) {
            self.open_text(&lines[from..end], raw + from as u64);
            self.end_line(raw + end as u64);
            from = end + 1;
        }
    }

    fn line_is_open(&self) -> bool {
        self.open.total > 0 || self.clamp.as_ref().is_some_and(|clamp| clamp.omitted > 0)
    }

    /// Adds to the open line.
    fn open_text(&mut self, text: &[u8], raw: u64) {
        let fitting = match &mut self.clamp {
            Some(clamp) => clamp.admit(text, raw),
            None => text.len(),
        };
        self.open.append(&text[..fitting], raw, fitting as u64);
    }

    /// Ends the open line with the line end at `raw` in the stream.
    fn end_line(&mut self, raw: u64) {
        self.mark_omission(raw);
        self.first_len.get_or_insert(self.open.total);
        self.open.append(b"\n", raw, 1);
        self.last_start = self.finished.total;
        self.finished.take(&mut self.open);
        if let Some(clamp) = &mut self.clamp {
            clamp.restart();
        }
        self.count_lines(1);
    }

    /// Appends the mark of the omitted characters to the open line, if there are any.
    fn mark_omission(&mut self, raw: u64) {
        if let Some(clamp) = &mut self.clamp
            && clamp.omitted > 0
        {
            let mark = format!("… [{} characters omitted]", clamp.omitted);
            self.open.append_clamp(&mark, clamp.from, raw - clamp.from);
            self.clamped = true;
        }
    }

    fn count_lines(&mut self, lines: u64) {
        self.ended += lines;
        if let Some(wanted) = &mut self.wanted {
            *wanted -= lines.min(*wanted);
        }
    }

    /// Returns the length of the part of `text` that `head` keeps.
    fn wanted_len(&self, text: &[u8]) -> usize {
        let Some(wanted) = self.wanted else {
            return text.len();
        };
        let Some(last_wanted) = wanted.checked_sub(1) else {
            return 0;
        };
        let nth = usize::try_from(last_wanted).unwrap_or(usize::MAX);
        memchr::memchr_iter(b'\n', text)
            .nth(nth)
            .map_or(text.len(), |end| end + 1)
    }
}

impl TextSink for StreamLines {
    fn text(&mut self, text: &[u8], raw: u64) {
        if self.wanted.is_none() {
            self.wanted_text(text, raw);
            return;
        }
        let (wanted, beyond) = text.split_at(self.wanted_len(text));
        if !wanted.is_empty() {
            self.wanted_text(wanted, raw);
        }
        self.beyond.count(beyond);
    }

    fn stand_in(&mut self, text: &str, raw: u64, raw_len: u64) {
        if self.head_satisfied() {
            self.beyond.open = true;
            return;
        }
        if raw_len == 0 {
            // The text was on the line already or is blanks, so only the part that fits is added.
            let fitting = match &mut self.clamp {
                Some(clamp) => clamp.admit_printed(text.as_bytes(), raw),
                None => text.len(),
            };
            self.open.append(&text.as_bytes()[..fitting], raw, 0);
            return;
        }
        let admitted = self
            .clamp
            .as_mut()
            .is_none_or(|clamp| clamp.admit_whole(text, raw));
        if admitted {
            self.open.append(text.as_bytes(), raw, raw_len);
        }
    }

    fn line_end(&mut self, raw: u64) {
        if self.head_satisfied() {
            self.beyond.count(b"\n");
        } else {
            self.end_line(raw);
        }
    }

    fn restart_line(&mut self, raw: u64) {
        if self.cr_ends {
            self.cr_text_seen |= self.open.has_visible_text();
            self.end_line(raw);
            return;
        }
        self.overwritten |= self.open.has_visible_text();
        self.open.clear();
        if let Some(clamp) = &mut self.clamp {
            clamp.restart();
        }
    }

    fn take_back(&mut self, chars: usize) -> String {
        let mut omitted = 0;
        if let Some(clamp) = &mut self.clamp {
            omitted = clamp.take_back(chars);
        }
        self.open.take_back(chars - omitted)
    }

    fn written_over(&mut self) {
        self.overwritten = true;
    }
}

impl UnstoredLines {
    fn count(&mut self, text: &[u8]) {
        if let Some(last) = text.last() {
            self.ended += scan::newlines(text);
            self.open = *last != b'\n';
        }
    }
}

impl Clamping {
    /// Returns the length of the part of `text` that still fits on the line.
    fn admit(&mut self, text: &[u8], raw: u64) -> usize {
        let room = self.max - self.chars;
        let chars = scan::chars(text);
        if self.omitted > 0 {
            self.omit(chars, raw);
            return 0;
        }
        if chars <= room {
            self.chars += chars;
            return text.len();
        }
        let fitting = nth_char(text, room);
        self.chars = self.max;
        self.omit(chars - room, raw + fitting as u64);
        fitting
    }

    /// Admits text at offset `raw` that stands for no bytes of the stream, as [`Self::admit`] does.
    fn admit_printed(&mut self, text: &[u8], raw: u64) -> usize {
        let has_omitted = self.omitted > 0;
        let fitting = self.admit(text, raw);
        if !has_omitted {
            self.from = raw;
        }
        fitting
    }

    /// True if a stand-in still fits; stand-ins are never cut.
    fn admit_whole(&mut self, text: &str, raw: u64) -> bool {
        let chars = scan::chars(text.as_bytes());
        if self.omitted == 0 && chars <= self.max - self.chars {
            self.chars += chars;
            return true;
        }
        // The stand-in represents a single character, however long its own text is.
        self.omit(1, raw);
        false
    }

    fn omit(&mut self, chars: u64, raw: u64) {
        if self.omitted == 0 {
            self.from = raw;
        }
        self.omitted += chars;
    }

    /// Removes `chars` characters from the counts: omitted characters first, then stored ones.
    /// Returns the number of removed omitted characters.
    fn take_back(&mut self, chars: usize) -> usize {
        let omitted = self.omitted.min(chars as u64);
        self.omitted -= omitted;
        self.chars -= (chars as u64 - omitted).min(self.chars);
        usize::try_from(omitted).unwrap_or(chars)
    }

    fn restart(&mut self) {
        self.chars = 0;
        self.omitted = 0;
    }
}

/// Returns the offset of character number `n` (from 0) in a piece of UTF-8; its length if it has
/// `n` characters or fewer.
fn nth_char(text: &[u8], n: u64) -> usize {
    let Ok(n) = usize::try_from(n) else {
        return text.len();
    };
    text.iter()
        .enumerate()
        .filter(|&(_, &byte)| !scan::is_continuation(byte))
        .nth(n)
        .map_or(text.len(), |(at, _)| at)
}
