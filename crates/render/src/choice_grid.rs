//! Short texts to choose from, in columns, at the bottom of an area.

use crate::Theme;
use crate::visible_text::{shortened, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

/// Most rows, without the line below them.
const MOST_ROWS: usize = 8;

/// Columns between columns.
const GAP: usize = 2;

/// What can be chosen.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceGrid<'a> {
    /// The texts, which go down the columns.
    pub labels: &'a [String],
    /// Index of the selected one.
    pub selected: usize,
    /// There are more.
    pub is_cut: bool,
}

impl ChoiceGrid<'_> {
    /// Draws it at the bottom of `area`; returns the rows of a column.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> usize {
        let area = area.intersection(buffer.area);
        let room = usize::from(area.height).saturating_sub(2).min(MOST_ROWS);
        if room == 0 || area.width < 8 || self.labels.is_empty() {
            return 1;
        }
        let columns = usize::from(area.width) - 2;
        let widest = self.labels.iter().map(|label| width(label)).max();
        let wide = (widest.unwrap_or(0) + GAP).min(columns);
        let across = (columns / wide).max(1);
        let rows = self.labels.len().div_ceil(across).min(room);
        // Whole columns are scrolled.
        let column = self.selected / rows;
        let first = column.saturating_sub(across - 1) * rows;
        let below = Rect {
            y: area.bottom() - u16::try_from(rows + 1).unwrap_or(area.height),
            height: u16::try_from(rows + 1).unwrap_or(area.height),
            ..area
        };
        Clear.render(below, buffer);
        for (at, label) in self
            .labels
            .iter()
            .enumerate()
            .skip(first)
            .take(rows * across)
        {
            let (column, row) = ((at - first) / rows, (at - first) % rows);
            let style = if at == self.selected {
                theme.title.patch(theme.selected)
            } else if label.ends_with('/') {
                theme.accent
            } else {
                theme.text
            };
            let text = shortened(label, wide - GAP);
            let x = below.x + 2 + u16::try_from(column * wide).unwrap_or(0);
            let y = below.y + u16::try_from(row).unwrap_or(0);
            buffer.set_stringn(x, y, text, wide, style);
        }
        let count = self.labels.len();
        let more = if self.is_cut { " and more" } else { "" };
        let said = format!(
            "  {} of {count}{more} · tab ↑↓←→ select · enter take · esc close",
            self.selected + 1
        );
        let said = shortened(&said, usize::from(below.width));
        let line = Line::from(Span::styled(said, Style::new().patch(theme.dim)));
        buffer.set_line(below.x, below.bottom() - 1, &line, below.width);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_selected_is_shown() {
        let labels: Vec<String> = (0..100).map(|at| format!("file{at:02}")).collect();
        for selected in [0, 37, 99] {
            let area = Rect::new(0, 0, 40, 6);
            let mut buffer = Buffer::empty(area);
            let grid = ChoiceGrid {
                labels: &labels,
                selected,
                is_cut: false,
            };
            assert_eq!(grid.render(area, &mut buffer, &Theme::plain()), 4);
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
