//! Draws the screen of a command, cell by cell, into an area of the host's screen.

use crate::Theme;
use crate::text::visible_text;
use agent_bash_core::visible;
use agent_bash_core::{Attributes, Cell, CellColor, Screen};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::Widget;
use std::borrow::Cow;

/// Draws a [`Screen`]. If the area is smaller, the rows around the cursor are shown.
#[derive(Debug, Clone, Copy)]
pub struct ScreenView<'a> {
    screen: &'a Screen,
    theme: &'a Theme,
}

impl<'a> ScreenView<'a> {
    /// A view of `screen`.
    pub fn new(screen: &'a Screen, theme: &'a Theme) -> Self {
        Self { screen, theme }
    }

    /// Position of the cursor, if it is visible.
    pub fn cursor(&self, area: Rect) -> Option<Position> {
        let cursor = self.screen.cursor;
        let row = cursor.row.checked_sub(self.first_row(area))?;
        let position = Position::new(area.x.checked_add(cursor.col)?, area.y.checked_add(row)?);
        (cursor.visible && area.contains(position)).then_some(position)
    }

    /// The first visible row.
    fn first_row(&self, area: Rect) -> u16 {
        let last = self
            .screen
            .cursor
            .row
            .min(self.screen.rows.saturating_sub(1));
        (last + 1).saturating_sub(area.height)
    }

    /// Draws a row of the screen.
    fn render_row(&self, row: u16, area: Rect, buffer: &mut Buffer) {
        let mut x = 0;
        while x < area.width.min(self.screen.cols) {
            let Some(cell) = self.screen.cell(row, x) else {
                return;
            };
            let style = self.theme.of_output(style(cell));
            if cell.text.is_empty() && style == Style::new() {
                x += 1;
                continue;
            }
            let symbol = symbol(cell, usize::from(area.width - x));
            // The remaining columns of a wide character must be empty.
            let empty = (1..visible_text::width(&symbol)).map(|_| " ");
            for text in std::iter::once(&*symbol).chain(empty) {
                if let Some(target) = buffer.cell_mut((area.x + x, area.y)) {
                    target.set_symbol(text).set_style(style);
                }
                x += 1;
            }
        }
    }
}

impl Widget for ScreenView<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let first = self.first_row(area);
        let area = area.intersection(buffer.area);
        for y in 0..area.height.min(self.screen.rows.saturating_sub(first)) {
            let line = Rect {
                y: area.y + y,
                height: 1,
                ..area
            };
            self.render_row(first + y, line, buffer);
        }
    }
}

/// The text for a cell that is `room` columns wide. Hidden characters are left out, because there
/// is no room for marks.
fn symbol(cell: &Cell, room: usize) -> Cow<'_, str> {
    let text = cell.text.as_str();
    if let [byte] = text.as_bytes() {
        let is_ascii = (b' '..=b'~').contains(byte);
        return if is_ascii { text } else { " " }.into();
    }
    let text = visible::without_hidden(text);
    let columns = visible_text::width(&text);
    if columns == 0 || columns > room.min(2) {
        return " ".into();
    }
    text
}

fn style(cell: &Cell) -> Style {
    let Attributes {
        bold,
        dim,
        italic,
        underline,
        inverse,
    } = cell.attributes;
    let mut style = Style::new();
    style.fg = color(cell.foreground);
    style.bg = color(cell.background);
    for (is_set, modifier) in [
        (bold, Modifier::BOLD),
        (dim, Modifier::DIM),
        (italic, Modifier::ITALIC),
        (underline, Modifier::UNDERLINED),
        (inverse, Modifier::REVERSED),
    ] {
        if is_set {
            style.add_modifier.insert(modifier);
        }
    }
    style
}

fn color(color: CellColor) -> Option<Color> {
    match color {
        CellColor::Default => None,
        CellColor::Indexed(index) => Some(Color::Indexed(index)),
        CellColor::Rgb(red, green, blue) => Some(Color::Rgb(red, green, blue)),
    }
}
