//! Breaks a text into rows. The caller supplies the widths of the characters.

use std::ops::Range;

/// Returns the byte ranges of rows of `width` columns. Each character comes with its offset, its
/// columns, and whether it is a space.
///
/// A row ends between words if possible; the spaces at that break belong to no row. A word that is
/// longer than a row is cut.
pub(crate) fn break_rows(
    parts: impl Iterator<Item = (usize, usize, bool)>,
    len: usize,
    width: usize,
) -> Vec<Range<usize>> {
    let width = width.max(1);
    let mut rows = Vec::new();
    let (mut start, mut columns, mut has_word) = (0, 0, false);
    // The end of the last character that fits.
    let mut end = 0;
    let mut gap: Option<WordGap> = None;
    for (at, char_columns, is_space) in parts {
        if is_space {
            match &mut gap {
                Some(gap) if gap.end == at => (gap.end, gap.columns) = (at + 1, columns + 1),
                _ if has_word => gap = Some(WordGap::new(at, columns)),
                _ => {}
            }
            columns += 1;
            end = if columns <= width {
                at + 1
            } else {
                end.min(at)
            };
            continue;
        }
        if columns + char_columns > width && at > start {
            if let Some(gap) = gap.take() {
                rows.push(start..gap.from);
                (start, columns) = (gap.end, columns - gap.columns);
            } else {
                rows.push(start..end.min(at));
                (start, columns) = (at, 0);
            }
        }
        columns += char_columns;
        has_word = true;
        end = len;
    }
    rows.push(start..end.max(start));
    rows
}

/// The spaces after a word.
struct WordGap {
    from: usize,
    end: usize,
    /// Columns of the row up to the end of the gap.
    columns: usize,
}

impl WordGap {
    /// Returns a gap of one space at byte `at`, after `columns` columns.
    fn new(at: usize, columns: usize) -> Self {
        Self {
            from: at,
            end: at + 1,
            columns: columns + 1,
        }
    }
}
