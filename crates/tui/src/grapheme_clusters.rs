//! Grapheme clusters: a flag, a family or an accented letter consists of several `char`s. The
//! editor component moves by `char`s, so its cursor could stop within a cluster.

use ratatui_textarea::{CursorMove, TextArea};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Deletes the cluster before the cursor if it has more than one `char`. Returns true if it did.
pub(crate) fn delete_before(area: &mut TextArea<'_>) -> bool {
    let column = column(area);
    delete_cluster(area, |cluster| cluster.end == column)
}

/// Deletes the cluster at the cursor if it has more than one `char`. Returns true if it did.
pub(crate) fn delete_at(area: &mut TextArea<'_>) -> bool {
    let column = column(area);
    delete_cluster(area, |cluster| cluster.start == column)
}

fn delete_cluster(area: &mut TextArea<'_>, is_meant: impl Fn(&Range<usize>) -> bool) -> bool {
    let found = clusters(area).find(is_meant);
    let found = found.filter(|found| found.len() > 1 && !area.is_selecting());
    let Some(found) = found else {
        return false;
    };
    move_to_column(area, found.start);
    delete(area, found.len());
    true
}

/// Moves a cursor that is within a cluster to the cluster's end, in the direction of the last
/// movement. `before`: row and column before that movement.
pub(crate) fn leave_cluster(area: &mut TextArea<'_>, before: (usize, usize)) {
    let column = column(area);
    let is_within = |cluster: &Range<usize>| cluster.start < column && column < cluster.end;
    let Some(found) = clusters(area).find(is_within) else {
        return;
    };
    let is_forward = (area.cursor().0, column) > before;
    move_to_column(area, if is_forward { found.end } else { found.start });
}

/// The clusters of the cursor's line, as ranges of columns.
fn clusters(area: &TextArea<'_>) -> impl Iterator<Item = Range<usize>> {
    let line = area.lines().get(area.cursor().0);
    let parts = line.map_or("", String::as_str).graphemes(true);
    parts.scan(0, |at, part| {
        let start = *at;
        *at += part.chars().count();
        Some(start..*at)
    })
}

fn column(area: &TextArea<'_>) -> usize {
    area.cursor().1
}

/// Moves within the line. The selection stays.
pub(crate) fn move_to_column(area: &mut TextArea<'_>, to: usize) {
    while column(area) != to {
        let before = column(area);
        area.move_cursor(if before < to {
            CursorMove::Forward
        } else {
            CursorMove::Back
        });
        if column(area) == before {
            return;
        }
    }
}

/// Deletes in one undo step, without changing the yank buffer, as a single Backspace does.
fn delete(area: &mut TextArea<'_>, chars: usize) {
    let cut = area.yank_text();
    area.delete_str(chars);
    area.set_yank_text(cut);
}
