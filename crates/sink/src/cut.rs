//! The truncation policies: select the pieces to show from the window of a finished stream.
//!
//! All four policies work on positions within the clean text and on line numbers. The window then
//! gives the number of raw bytes that a cut drops.

use crate::lines::StreamText;
use crate::report::{CleanPiece, ShownOutput};
use crate::scan;
use crate::window::{ShrinkLimit, TextPart, Window};
use agent_bash_core::{Direction, TruncatedBy, Truncation, whole_characters};

/// The shown pieces, and the number of bytes that are not shown.
pub(crate) struct CutText {
    pub(crate) shown: ShownOutput,
    pub(crate) truncated_by: Option<TruncatedBy>,
    pub(crate) direction: Direction,
    /// Number of raw bytes that are not shown.
    pub(crate) dropped_bytes: u64,
}

/// Returns the sizes of the [`Window`]: the largest head and tail, in bytes, that a policy may
/// show. `tail`: only last lines are shown.
pub(crate) fn window_sizes(policy: Truncation, tail: bool) -> (usize, usize) {
    // One byte more than is shown at the end, to tell whether a line starts exactly there.
    match policy {
        Truncation::Tail { bytes } => (0, bytes.saturating_add(1)),
        Truncation::Middle { max, ends } => (ends, max.max(ends).saturating_add(1)),
        Truncation::HeadTail { max_bytes, .. } => (max_bytes, max_bytes.saturating_add(1)),
        Truncation::Head { bytes, .. } if tail => (bytes, bytes.saturating_add(1)),
        Truncation::Head { bytes, .. } => (bytes, 0),
    }
}

/// Returns the limit above which a policy needs a smaller window; `None` without such a limit.
pub(crate) fn shrink_limit(policy: Truncation, tail: bool) -> Option<ShrinkLimit> {
    match policy {
        Truncation::Middle { max, ends } if !tail => Some(ShrinkLimit {
            over: max as u64,
            tail: ends.saturating_add(1),
        }),
        _ => None,
    }
}

/// Cuts the text of a stream of `raw` bytes to the last `tail` lines (if given) and then by the
/// policy.
pub(crate) fn cut(text: &StreamText, policy: Truncation, tail: Option<u64>, raw: u64) -> CutText {
    cut_within(text, policy, usize::MAX, tail, raw)
}

/// Returns the same view as [`cut`], with at most `max_lines_shown` lines regardless of the policy.
pub(crate) fn cut_within(
    text: &StreamText,
    policy: Truncation,
    max_lines_shown: usize,
    tail: Option<u64>,
    raw: u64,
) -> CutText {
    let bounds = bounds(policy, max_lines_shown);
    let (shown, truncated_by, direction) = match tail {
        Some(wanted) if wanted < text.lines => last_lines(text, bounds, wanted),
        _ => match policy {
            _ if fits(text, bounds) => whole(text),
            Truncation::Tail { .. } if text.lines > max_lines_shown as u64 => {
                last_lines(text, bounds, text.lines)
            }
            Truncation::Tail { bytes } => by_bytes(ShownOutput::Tail(last_bytes(text, bytes))),
            Truncation::Head { bytes, whole_lines } => {
                let head = text.window.head.bytes();
                let whole = whole_lines.then(|| whole_lines_len(head, bytes));
                first_lines(text, whole.flatten().unwrap_or(bytes), max_lines_shown)
            }
            Truncation::Middle { ends, .. } => by_bytes(middle(text, ends, max_lines_shown / 2)),
            Truncation::HeadTail {
                max_bytes,
                max_lines,
                head_lines,
                tail_lines,
            } => {
                // Head and tail together must not have more lines than a text that is shown whole,
                // or they would overlap.
                let head_lines = head_lines.min(max_lines.div_ceil(2));
                let tail_lines = tail_lines.min(max_lines / 2);
                let shown = head_and_tail(text, max_bytes, head_lines, tail_lines);
                let by = if text.window.total > max_bytes as u64 {
                    TruncatedBy::Bytes
                } else {
                    TruncatedBy::Lines
                };
                (shown, Some(by), Direction::HeadTail)
            }
        },
    };
    let (shown, truncated_by, direction) = match (shown, truncated_by) {
        (ShownOutput::Whole(piece), None) if text.head_cut => {
            let by = Some(TruncatedBy::HeadTail);
            (ShownOutput::Head(piece), by, Direction::Head)
        }
        (shown, None) => {
            let by = text.clamped.then_some(TruncatedBy::LineLength);
            (shown, by, policy.direction())
        }
        (shown, by) => (shown, by, direction),
    };
    let dropped_bytes = raw.saturating_sub(shown_raw(text, &shown, raw));
    CutText {
        shown,
        truncated_by,
        direction,
        dropped_bytes,
    }
}

/// The shown pieces, the limit that truncated them, and the kept part. The direction has no meaning
/// if nothing was truncated.
type ShownChoice = (ShownOutput, Option<TruncatedBy>, Direction);

/// Returns the whole text as shown.
fn whole(text: &StreamText) -> ShownChoice {
    let total = text.window.total;
    let piece = span(&text.window, 0, total).unwrap_or_default();
    let piece = number_from_start(piece);
    (ShownOutput::Whole(piece), None, Direction::Tail)
}

/// Returns a choice that a limit on bytes truncated.
fn by_bytes(shown: ShownOutput) -> ShownChoice {
    let direction = match shown {
        ShownOutput::Head(_) => Direction::Head,
        ShownOutput::Ends { .. } => Direction::Middle,
        _ => Direction::Tail,
    };
    (shown, Some(TruncatedBy::Bytes), direction)
}

/// True if the policy leaves a text uncut.
fn fits(text: &StreamText, (max_bytes, max_lines): (usize, usize)) -> bool {
    text.window.total <= max_bytes as u64 && text.lines <= max_lines as u64
}

/// Returns the size, in bytes and lines, of the largest text that a policy leaves uncut, if at most
/// `max_lines_shown` lines may be shown.
fn bounds(policy: Truncation, max_lines_shown: usize) -> (usize, usize) {
    match policy {
        Truncation::Tail { bytes } | Truncation::Head { bytes, .. } => (bytes, max_lines_shown),
        Truncation::Middle { max, .. } => (max, max_lines_shown),
        Truncation::HeadTail {
            max_bytes,
            max_lines,
            ..
        } => (max_bytes, max_lines.min(max_lines_shown)),
    }
}

/// Returns the last `wanted` lines of a text that has more lines. If they exceed the policy's
/// limits, their end is shown: the caller asked for the end of the text, and the start of the
/// wanted lines is known only at the end of the stream.
fn last_lines(
    text: &StreamText,
    (max_bytes, max_lines): (usize, usize),
    wanted: u64,
) -> ShownChoice {
    let lines = wanted.min(max_lines as u64);
    let by = if wanted > lines {
        TruncatedBy::Lines
    } else {
        TruncatedBy::HeadTail
    };
    let StreamText {
        window, lines: all, ..
    } = text;
    let from = nth_last_line(&window.tail, lines);
    match from.filter(|from| window.total - from <= max_bytes as u64) {
        Some(from) => {
            let piece = span(window, from, window.total).unwrap_or_default();
            let piece = number_from_end(piece, *all);
            (ShownOutput::Tail(piece), Some(by), Direction::Tail)
        }
        None => by_bytes(ShownOutput::Tail(last_bytes(text, max_bytes))),
    }
}

/// Returns the offset at which the `n`-th line from the end begins. `None` if the part does not
/// contain the beginning.
fn nth_last_line(part: &TextPart, n: u64) -> Option<u64> {
    let start = part.start;
    let bytes = part.bytes();
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let Some(nth) = n.checked_sub(1) else {
        return Some(start + bytes.len() as u64);
    };
    let nth = usize::try_from(nth).ok()?;
    memchr::memrchr_iter(b'\n', body)
        .nth(nth)
        .map(|end| start + end as u64 + 1)
}

/// Returns the last `max` bytes, from the first line start in them on if they have one.
fn last_bytes(text: &StreamText, max: usize) -> CleanPiece {
    let StreamText {
        window,
        lines,
        last_start,
        ..
    } = text;
    let total = window.total;
    let earliest = total.saturating_sub(max as u64);
    let line_start = line_start_at_or_after(&window.tail, earliest);
    let piece = span(window, line_start.unwrap_or(earliest), total).unwrap_or_default();
    let mut piece = number_from_end(piece, *lines);
    if line_start.is_none() {
        let begin = total - piece.text.len() as u64;
        piece.missing_before = begin.saturating_sub(*last_start);
    }
    piece
}

/// Returns the first line start at or after `earliest`, unless it is the end of the text.
fn line_start_at_or_after(part: &TextPart, earliest: u64) -> Option<u64> {
    let (start, end) = (part.start, part.end());
    if earliest == 0 {
        return Some(0);
    }
    let from = usize::try_from((earliest - 1).checked_sub(start)?).ok()?;
    let bytes = part.bytes().get(from..)?;
    memchr::memchr(b'\n', bytes)
        .map(|at| earliest + at as u64)
        .filter(|&at| at < end)
}

/// Returns the first `max` bytes.
fn first_bytes(text: &StreamText, max: usize) -> CleanPiece {
    let to = text.window.total.min(max as u64);
    let piece = span(&text.window, 0, to).unwrap_or_default();
    number_from_start(piece)
}

/// Returns the first `max` bytes, limited to `max_lines` lines.
fn first_lines(text: &StreamText, max: usize, max_lines: usize) -> ShownChoice {
    match first_lines_len(text.window.head.bytes(), max_lines) {
        Some(len) if len <= max => (
            ShownOutput::Head(first_bytes(text, len)),
            Some(TruncatedBy::Lines),
            Direction::Head,
        ),
        _ => by_bytes(ShownOutput::Head(first_bytes(text, max))),
    }
}

/// Returns the first and the last `ends` bytes, each limited to `max_lines` lines.
fn middle(text: &StreamText, ends: usize, max_lines: usize) -> ShownOutput {
    let first = first_lines_len(text.window.head.bytes(), max_lines).unwrap_or(usize::MAX);
    let head = first_bytes(text, ends.min(first));
    let total = text.window.total;
    let last = nth_last_line(&text.window.tail, max_lines as u64).unwrap_or(0);
    let from = total.saturating_sub(ends as u64).max(last);
    let tail = span(&text.window, from, total).unwrap_or_default();
    let tail = number_from_end(tail, text.lines);
    ShownOutput::Ends { head, tail }
}

/// Returns the first and the last lines, trimmed from the inside until both fit in `max` bytes.
fn head_and_tail(
    text: &StreamText,
    max: usize,
    head_lines: usize,
    tail_lines: usize,
) -> ShownOutput {
    let window = &text.window;
    let total = window.total;
    let head_len = first_lines_len(window.head.bytes(), head_lines).unwrap_or(usize::MAX);
    let tail_from = nth_last_line(&window.tail, tail_lines as u64).unwrap_or(0);
    let tail_len = usize::try_from(total - tail_from).unwrap_or(usize::MAX);
    let half = max / 2;
    let (head_max, tail_max) = match () {
        () if head_len <= half => (head_len, (max - head_len).min(tail_len)),
        () if tail_len <= half => ((max - tail_len).min(head_len), tail_len),
        () => (half.min(head_len), half.min(tail_len)),
    };
    let head = whole_lines_len(window.head.bytes(), head_max).unwrap_or(head_max);
    let head = span(window, 0, head as u64).unwrap_or_default();
    let earliest = total - tail_max as u64;
    let from = line_start_at_or_after(&window.tail, earliest).unwrap_or(earliest);
    let tail = span(window, from, total).unwrap_or_default();
    let mut head = number_from_start(head);
    let mut tail = number_from_end(tail, text.lines);
    mark_cut_lines(text, &mut head, &mut tail);
    ShownOutput::Ends { head, tail }
}

/// Records how many bytes are missing of a line that is longer than its half of the window.
fn mark_cut_lines(text: &StreamText, head: &mut CleanPiece, tail: &mut CleanPiece) {
    let head_len = head.text.len() as u64;
    let tail_from = text.window.total - tail.text.len() as u64;
    if !head.text.ends_with('\n') {
        let line_end = text.first_len.min(tail_from);
        head.missing_after = line_end.saturating_sub(head_len);
    }
    let line_start = text.last_start.max(head_len);
    if tail_from > text.last_start && !tail.text.is_empty() {
        tail.missing_before = tail_from.saturating_sub(line_start);
    }
}

/// Returns the length of the first `n` lines, if that many are complete.
fn first_lines_len(bytes: &[u8], n: usize) -> Option<usize> {
    let Some(nth) = n.checked_sub(1) else {
        return Some(0);
    };
    memchr::memchr_iter(b'\n', bytes)
        .nth(nth)
        .map(|end| end + 1)
}

/// Returns the length of the complete lines within the first `max` bytes, if there are any.
fn whole_lines_len(bytes: &[u8], max: usize) -> Option<usize> {
    let bytes = &bytes[..max.min(bytes.len())];
    memchr::memrchr(b'\n', bytes).map(|end| end + 1)
}

/// Returns the text between two positions, trimmed to whole characters. `None` if it was dropped.
fn span(window: &Window, from: u64, to: u64) -> Option<CleanPiece> {
    let part = match &window.tail {
        tail if tail.start <= from && to <= tail.end() => tail,
        _ => &window.head,
    };
    let begin = usize::try_from(from.checked_sub(part.start)?).ok()?;
    let end = usize::try_from(to.checked_sub(part.start)?).ok()?;
    let bytes = part.bytes();
    let at_most = bytes.get(begin..end)?;
    let skipped = at_most
        .iter()
        .take_while(|&&byte| scan::is_continuation(byte))
        .count();
    let text = &at_most[skipped..];
    let text = &text[..whole_characters(text)];
    Some(CleanPiece {
        text: String::from_utf8_lossy(text).into_owned(),
        ..CleanPiece::default()
    })
}

/// Sets the line numbers of a piece that begins the text.
fn number_from_start(mut piece: CleanPiece) -> CleanPiece {
    let count = lines_in(&piece.text);
    piece.lines = (count > 0).then_some([1, count]);
    piece
}

/// Sets the line numbers of a piece that ends with line `last`.
fn number_from_end(mut piece: CleanPiece, last: u64) -> CleanPiece {
    let count = lines_in(&piece.text);
    piece.lines = (count > 0).then_some([last + 1 - count, last]);
    piece
}

/// Returns the number of lines, including a last line without a line end.
fn lines_in(text: &str) -> u64 {
    let open = !text.is_empty() && !text.ends_with('\n');
    scan::newlines(text.as_bytes()) + u64::from(open)
}

/// Returns the number of raw bytes that the shown pieces stand for, including bytes that cleaning
/// removed within and before the pieces.
fn shown_raw(text: &StreamText, shown: &ShownOutput, raw: u64) -> u64 {
    let window = &text.window;
    let total = window.total;
    let before = |at: u64| match at {
        _ if at == total && !text.head_cut => raw,
        _ => window.raw_before(at).unwrap_or(0),
    };
    let spans = match shown {
        ShownOutput::Binary => [(0, 0), (0, 0)],
        ShownOutput::Whole(_) if total == 0 => return raw,
        ShownOutput::Whole(_) => [(0, total), (0, 0)],
        ShownOutput::Head(piece) => [(0, piece.text.len() as u64), (0, 0)],
        ShownOutput::Tail(piece) => [(total - piece.text.len() as u64, total), (0, 0)],
        ShownOutput::Ends { head, tail } => [
            (0, head.text.len() as u64),
            (total - tail.text.len() as u64, total),
        ],
    };
    spans
        .into_iter()
        .filter(|(from, to)| from < to)
        .map(|(from, to)| {
            let part = if window.tail.start <= from {
                &window.tail
            } else {
                &window.head
            };
            before(to).saturating_sub(before(from) + part.clamped(from, to))
        })
        .sum()
}
