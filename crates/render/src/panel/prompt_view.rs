//! The text that a user types: one or more lines, wrapped, in colours, with the cursor.

use crate::text::visible_text;
use crate::{BashStyles, Theme, shortened};
use agent_bash_core::visible::one_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;

/// Distance of tab stops in columns.
const TAB_COLUMNS: usize = 8;

/// The typed text.
#[derive(Debug, Clone, Copy)]
pub struct PromptView<'a> {
    /// The text; newlines begin rows.
    pub text: &'a str,
    /// The byte offset of the cursor.
    pub cursor: usize,
    /// The selection, in bytes.
    pub selected: Option<(usize, usize)>,
    /// The colours.
    pub styles: &'a BashStyles,
    /// The byte offset of the text at which `styles` begins.
    pub styled_from: usize,
    /// A suggestion, shown on the rest of the last row.
    pub suggested: &'a str,
}

/// A character and its position.
struct PlacedChar<'a> {
    text: &'a str,
    at: usize,
    row: usize,
    column: usize,
    width: usize,
}

impl PromptView<'_> {
    /// The number of rows of the text.
    pub fn rows(text: &str, width: u16) -> usize {
        let (_, (row, _)) = placed(text, width);
        row + 1
    }

    /// Returns the byte that a cell of the screen shows after [`Self::render`] has drawn the text
    /// in `area`. Right of a row, returns the row's end.
    pub fn byte_at(text: &str, cursor: usize, area: Rect, (x, y): (u16, u16)) -> usize {
        let (characters, end) = placed(text, area.width);
        let found = characters.iter().find(|character| character.at >= cursor);
        let cursor = found.map_or(end.0, |character| character.row);
        let first = (cursor + 1).saturating_sub(usize::from(area.height));
        let row = first + usize::from(y.saturating_sub(area.y));
        let column = usize::from(x.saturating_sub(area.x));
        let is_at_cell = |character: &&PlacedChar<'_>| {
            let is_end = character.text == "\n";
            character.row > row
                || (character.row == row && (is_end || character.column + character.width > column))
        };
        let found = characters.iter().find(is_at_cell);
        found.map_or(text.len(), |character| character.at)
    }

    /// Draws the text. If there is too little room, draws the rows around the cursor.
    pub fn render(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let (characters, end) = placed(self.text, area.width);
        let cursor = characters
            .iter()
            .find(|character| character.at >= self.cursor)
            .map_or(end, |character| (character.row, character.column));
        let height = usize::from(area.height);
        let first = (cursor.0 + 1).saturating_sub(height);
        for character in &characters {
            if character.row < first || character.row >= first + height || character.text == "\n" {
                continue;
            }
            let script_style = match character.at.checked_sub(self.styled_from) {
                Some(at) => self.styles.at(at),
                None => theme.accent,
            };
            let is_selected = self
                .selected
                .is_some_and(|(from, to)| (from..to).contains(&character.at));
            let mut style = theme.text.patch(script_style);
            if is_selected {
                style = style.patch(theme.selected);
            }
            let (x, y) = position(area, character.row - first, character.column);
            let shown = if character.text == "\t" {
                " ".into()
            } else {
                one_line(character.text)
            };
            buffer.set_stringn(x, y, shown, character.width, style);
        }
        if (first..first + height).contains(&end.0) {
            let (x, y) = position(area, end.0 - first, end.1);
            let room = usize::from(area.width).saturating_sub(end.1);
            let suggested = shortened(self.suggested, room);
            buffer.set_stringn(x, y, suggested, room, theme.dim);
        }
        let (x, y) = position(area, cursor.0 - first, cursor.1);
        let block = Style::new().add_modifier(Modifier::REVERSED);
        if let Some(cell) = buffer.cell_mut((x, y)) {
            cell.set_style(block);
        }
    }
}

fn position(area: Rect, row: usize, column: usize) -> (u16, u16) {
    let right = area.width.saturating_sub(1);
    let x = u16::try_from(column).unwrap_or(right).min(right);
    let y = u16::try_from(row).unwrap_or(0);
    (area.x + x, area.y + y)
}

/// Returns every character with its position, and the position after the last one.
fn placed(text: &str, width: u16) -> (Vec<PlacedChar<'_>>, (usize, usize)) {
    let width = usize::from(width.max(1));
    let (mut row, mut column) = (0, 0);
    let mut characters = Vec::new();
    for (at, grapheme) in text.grapheme_indices(true) {
        let wide = match grapheme {
            "\n" => 0,
            "\t" => (TAB_COLUMNS - column % TAB_COLUMNS).min(width),
            other => visible_text::width(&one_line(other)).min(width),
        };
        if column + wide > width || column == width {
            (row, column) = (row + 1, 0);
        }
        characters.push(PlacedChar {
            text: grapheme,
            at,
            row,
            column,
            width: wide,
        });
        column += wide;
        if grapheme == "\n" {
            (row, column) = (row + 1, 0);
        }
    }
    if column >= width {
        (row, column) = (row + 1, 0);
    }
    (characters, (row, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows, and the position of the cursor.
    fn drawn(text: &str, cursor: usize, width: u16, height: u16) -> (Vec<String>, (u16, u16)) {
        drawn_before(text, "", cursor, [width, height])
    }

    /// Draws the prompt with a suggestion.
    fn drawn_before(
        text: &str,
        suggested: &str,
        cursor: usize,
        [width, height]: [u16; 2],
    ) -> (Vec<String>, (u16, u16)) {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let view = PromptView {
            text,
            cursor,
            selected: None,
            styles: &BashStyles::default(),
            styled_from: 0,
            suggested,
        };
        view.render(area, &mut buffer, &Theme::plain());
        let mut at = (0, 0);
        for y in 0..height {
            for x in 0..width {
                if buffer[(x, y)].modifier.contains(Modifier::REVERSED) {
                    at = (x, y);
                }
            }
        }
        let rows = buffer.content().chunks(usize::from(width));
        let rows = rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect());
        (rows.collect(), at)
    }

    #[test]
    fn text_is_wrapped_and_the_cursor_is_at_the_next_character() {
        for (text, cursor, rows, at) in [
            ("", 0, ["    ", "    "], (0, 0)),
            ("ab", 2, ["ab  ", "    "], (2, 0)),
            ("abcd", 4, ["abcd", "    "], (0, 1)),
            ("abcde", 1, ["abcd", "e   "], (1, 0)),
            ("a\nb", 1, ["a   ", "b   "], (1, 0)),
            ("a\nb", 2, ["a   ", "b   "], (0, 1)),
            ("a\n\nb", 4, ["    ", "b   "], (1, 1)),
            ("abc你", 6, ["abc ", "你   "], (2, 1)),
            ("\ta", 1, ["    ", "a   "], (0, 1)),
        ] {
            let (drawn, found) = drawn(text, cursor, 4, 2);
            assert_eq!(
                (drawn, found),
                (rows.map(str::to_owned).to_vec(), at),
                "{text:?}"
            );
        }
        assert_eq!(PromptView::rows("abcd", 4), 2);
        assert_eq!(PromptView::rows("abc\n\nd", 4), 3);
        // A control character is drawn as a mark.
        assert_eq!(drawn("\u{1b}[", 0, 12, 1).0, ["<U+001B>[   "]);
    }

    #[test]
    fn suggestion_has_the_rest_of_the_last_row() {
        for (text, suggested, rows, at) in [
            ("ab", "cd", ["abcd", "    "], (2, 0)),
            ("ab", "cdef", ["abc…", "    "], (2, 0)),
            ("abcde", "fg", ["abcd", "efg "], (1, 1)),
            ("abcd", "ef", ["abcd", "ef  "], (0, 1)),
        ] {
            let found = drawn_before(text, suggested, text.len(), [4, 2]);
            assert_eq!(found, (rows.map(str::to_owned).to_vec(), at), "{text:?}");
        }
    }
}
