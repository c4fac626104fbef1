//! A choice of short texts, in columns, at the bottom of an area.

use crate::Theme;
use crate::text::visible_text::{shortened, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use std::ops::Range;

/// Maximum number of rows, without the line below them.
const MAX_ROWS: usize = 8;

/// Blank columns between two texts in a row.
const GAP_COLUMNS: usize = 2;

/// The texts to choose from.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceGrid<'a> {
    /// The texts, in column order.
    pub labels: &'a [String],
    /// Index of the selected text.
    pub selected: usize,
    /// True if there are more texts than `labels` holds.
    pub is_cut: bool,
}

/// The positions of the drawn texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoicePositions {
    area: Rect,
    /// Rows of a column.
    rows: usize,
    /// Screen columns of one column of the grid.
    column_width: usize,
    /// Indices of the visible texts.
    shown: Range<usize>,
}

impl ChoiceGrid<'_> {
    /// Draws the grid at the bottom of `area`. Returns the positions of the texts.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> ChoicePositions {
        let area = area.intersection(buffer.area);
        let room = usize::from(area.height).saturating_sub(2).min(MAX_ROWS);
        if room == 0 || area.width < 8 || self.labels.is_empty() {
            return ChoicePositions::default();
        }
        let columns = usize::from(area.width) - 2;
        let widest = self.labels.iter().map(|label| width(label)).max();
        let column_width = (widest.unwrap_or(0) + GAP_COLUMNS).min(columns);
        let column_count = (columns / column_width).max(1);
        let rows = self.labels.len().div_ceil(column_count).min(room);
        // The grid scrolls by whole columns.
        let column = self.selected / rows;
        let first = column.saturating_sub(column_count - 1) * rows;
        let grid = Rect {
            y: area.bottom() - u16::try_from(rows + 1).unwrap_or(area.height),
            height: u16::try_from(rows + 1).unwrap_or(area.height),
            ..area
        };
        Clear.render(grid, buffer);
        for (at, label) in self
            .labels
            .iter()
            .enumerate()
            .skip(first)
            .take(rows * column_count)
        {
            let (column, row) = ((at - first) / rows, (at - first) % rows);
            let style = if at == self.selected {
                theme.title.patch(theme.selected)
            } else if label.ends_with('/') {
                theme.accent
            } else {
                theme.text
            };
            let text = shortened(label, column_width - GAP_COLUMNS);
            let x = grid.x + 2 + u16::try_from(column * column_width).unwrap_or(0);
            let y = grid.y + u16::try_from(row).unwrap_or(0);
            buffer.set_stringn(x, y, text, column_width, style);
        }
        let count = self.labels.len();
        let more = if self.is_cut { " and more" } else { "" };
        let text = format!(
            "  {} of {count}{more} · tab ↑↓←→ select · enter take · esc close",
            self.selected + 1
        );
        let text = shortened(&text, usize::from(grid.width));
        let line = Line::from(Span::styled(text, Style::new().patch(theme.dim)));
        buffer.set_line(grid.x, grid.bottom() - 1, &line, grid.width);
        let shown = rows * column_count;
        ChoicePositions {
            area: grid,
            rows,
            column_width,
            shown: first..(first + shown).min(count),
        }
    }
}

impl Default for ChoicePositions {
    fn default() -> Self {
        Self {
            area: Rect::default(),
            rows: 1,
            column_width: 1,
            shown: 0..0,
        }
    }
}

impl ChoicePositions {
    /// The number of rows of a column.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The index of the text in a cell of the screen.
    pub fn at(&self, x: u16, y: u16) -> Option<usize> {
        let row = usize::from(y.checked_sub(self.area.y)?);
        let column = usize::from(x.checked_sub(self.area.x + 2)?) / self.column_width;
        let at = self.shown.start + column * self.rows + row;
        (row < self.rows && self.shown.contains(&at)).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_text_is_visible() {
        let labels: Vec<String> = (0..100).map(|at| format!("file{at:02}")).collect();
        for selected in [0, 37, 99] {
            let area = Rect::new(0, 0, 40, 6);
            let mut buffer = Buffer::empty(area);
            let grid = ChoiceGrid {
                labels: &labels,
                selected,
                is_cut: false,
            };
            let positions = grid.render(area, &mut buffer, &Theme::plain());
            assert_eq!(positions.rows(), 4);
            // Each text is at its reported position, and other positions have none.
            for (x, y) in (0..40).flat_map(|x| (0..6).map(move |y| (x, y))) {
                let cells = (x..40).map(|x| buffer[(x, y)].symbol()).collect::<String>();
                let at = positions.at(x, y);
                if cells.starts_with("file") {
                    assert_eq!(at.map(|at| &*labels[at]), cells.get(..6), "{x} {y}");
                }
                assert!(at.is_none() || ((1..5).contains(&y) && x > 1), "{x} {y}");
            }
            let text: String = buffer
                .content()
                .iter()
                .map(ratatui::buffer::Cell::symbol)
                .collect();
            assert!(text.contains(&labels[selected]), "{text}");
            assert!(text.contains(&format!("{} of 100", selected + 1)), "{text}");
        }
    }
}
