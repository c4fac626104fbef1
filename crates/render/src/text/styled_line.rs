//! A line of output with its styles, and its rows.

use crate::Theme;
use crate::text::row_breaks::break_rows;
use crate::text::visible_text;
use agent_bash_core::visible;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Distance of tab stops in columns.
const TAB_COLUMNS: usize = 8;

/// The character that stands in a line's text for each column of a tab after the first. Printed
/// text contains no control characters, so this one is free.
const TAB_COLUMN: char = '\u{1}';

/// A line without its newline and without control characters, except tabs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledLine {
    text: String,
    /// The styles, each with the byte offset at which it ends. Text after the last style is plain.
    runs: Vec<(usize, Style)>,
    /// True if some character may take more or less than one column, so that wrapping must measure.
    is_uneven: bool,
    has_tabs: bool,
    /// True if the beginning of the line was omitted.
    is_beginning_cut: bool,
    /// Number of held characters, and number of omitted characters.
    chars: usize,
    omitted: u64,
}

impl StyledLine {
    /// Adds a character, unless the line already has `most` characters.
    pub(crate) fn push(&mut self, c: char, style: Style, most: usize) {
        if c.is_control() {
            return;
        }
        if visible::is_hidden(c) && !visible::is_spelling(self.text.chars().next_back(), c) {
            for c in visible::mark(c).chars() {
                self.add(c, style, most);
            }
            return;
        }
        self.is_uneven |= !takes_one_column(c);
        self.add(c, style, most);
    }

    fn add(&mut self, c: char, style: Style, most: usize) {
        if self.chars >= most {
            self.omitted += 1;
            return;
        }
        self.chars += 1;
        self.text.push(c);
        match self.runs.last_mut() {
            Some((end, last)) if *last == style => *end = self.text.len(),
            _ => self.runs.push((self.text.len(), style)),
        }
    }

    /// Adds a tab, which is drawn as spaces up to the next tab stop.
    pub(crate) fn push_tab(&mut self, style: Style, most: usize) {
        let columns = if self.is_uneven {
            visible_text::width(&self.text_with_spaces())
        } else {
            self.chars
        };
        self.has_tabs = true;
        self.add('\t', style, most);
        for _ in 1..TAB_COLUMNS - columns % TAB_COLUMNS {
            self.add(TAB_COLUMN, style, most);
        }
    }

    /// Drops the beginning if the line has twice as many characters as `most`. Keeps `most`
    /// characters.
    pub(crate) fn omit_beginning(&mut self, most: usize) {
        if self.chars < most.saturating_mul(2) {
            return;
        }
        let cut = self.text.char_indices().nth(self.chars - most);
        let cut = cut.map_or(self.text.len(), |(at, _)| at);
        self.text.drain(..cut);
        self.runs.retain_mut(|(end, _)| {
            let remains = *end > cut;
            *end = end.saturating_sub(cut);
            remains
        });
        self.omitted += (self.chars - most) as u64;
        self.chars = most;
        self.is_beginning_cut = true;
    }

    /// Drops the whole line so far, and counts `chars` further characters that were never received
    /// as omitted.
    pub(crate) fn omit_all(&mut self, chars: u64) {
        let omitted = self.omitted + self.chars as u64 + chars;
        *self = Self {
            omitted,
            is_beginning_cut: true,
            ..Self::default()
        };
    }

    /// Completes the line: releases unused memory.
    pub(crate) fn finish(&mut self) {
        if self.runs.iter().all(|(_, style)| *style == Style::new()) {
            self.runs.clear();
        }
        self.text.shrink_to_fit();
        self.runs.shrink_to_fit();
    }

    /// Removes the last character and returns it with its style; a blank for a column of a tab.
    pub(crate) fn pop(&mut self) -> Option<(char, Style)> {
        let c = self.text.pop()?;
        let style = self.runs.last().map_or(Style::new(), |(_, style)| *style);
        self.chars -= 1;
        while let Some((end, _)) = self.runs.last_mut() {
            *end = (*end).min(self.text.len());
            let before = self
                .runs
                .len()
                .checked_sub(2)
                .map_or(0, |at| self.runs[at].0);
            if self.runs.last().is_some_and(|(end, _)| *end > before) {
                break;
            }
            self.runs.pop();
        }
        let is_tab = matches!(c, '\t' | TAB_COLUMN);
        Some((if is_tab { ' ' } else { c }, style))
    }

    /// Adds a character that [`Self::pop`] returned, or a blank.
    pub(crate) fn put(&mut self, c: char, style: Style, most: usize) {
        self.is_uneven |= !takes_one_column(c);
        self.add(c, style, most);
    }

    /// Number of characters printed on the line, held or omitted.
    pub(crate) fn printed(&self) -> u64 {
        self.chars as u64 + self.omitted
    }

    /// Number of held characters.
    pub(crate) fn char_count(&self) -> usize {
        self.chars
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.omitted == 0
    }

    /// True if some of the line was omitted.
    pub(crate) fn is_cut(&self) -> bool {
        self.omitted > 0
    }

    /// True if the beginning was omitted.
    pub(crate) fn is_beginning_cut(&self) -> bool {
        self.is_beginning_cut
    }

    /// The text as it was printed, without the omitted part.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        if self.has_tabs {
            self.text.replace(TAB_COLUMN, "").into()
        } else {
            (&*self.text).into()
        }
    }

    /// The text with every tab column as a space. It has as many bytes as the text.
    fn text_with_spaces(&self) -> Cow<'_, str> {
        if self.has_tabs {
            self.text.replace(['\t', TAB_COLUMN], " ").into()
        } else {
            (&*self.text).into()
        }
    }

    /// Bytes of the text, with the newline.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + 1
    }

    /// Number of changes of style.
    pub(crate) fn style_changes(&self) -> usize {
        self.runs.len()
    }

    /// Number of rows at this width; an empty line takes one row.
    pub(crate) fn row_count(&self, width: usize) -> usize {
        if self.fits(width) {
            return 1;
        }
        self.rows(width).len()
    }

    /// True if the line certainly takes one row.
    fn fits(&self, width: usize) -> bool {
        !self.is_uneven && self.omitted == 0 && self.chars <= width.max(1)
    }

    /// The byte ranges of the rows in [`Self::text_with_note`].
    fn rows(&self, width: usize) -> Vec<Range<usize>> {
        let shown = self.text_with_note();
        if self.is_uneven {
            let parts = shown.grapheme_indices(true);
            let parts = parts.map(|(at, part)| (at, visible_text::width(part), part == " "));
            return break_rows(parts, shown.len(), width);
        }
        let parts = shown.char_indices().map(|(at, c)| (at, 1, c == ' '));
        break_rows(parts, shown.len(), width)
    }

    /// The text, with a note about the omitted part.
    fn text_with_note(&self) -> Cow<'_, str> {
        let drawn = self.text_with_spaces();
        match self.omission_note() {
            None => drawn,
            Some(note) if self.is_beginning_cut => format!("{note}{drawn}").into(),
            Some(note) => format!("{drawn}{note}").into(),
        }
    }

    /// The note about the omitted part.
    fn omission_note(&self) -> Option<String> {
        match self.omitted {
            0 => None,
            omitted if self.is_beginning_cut => Some(format!("[{omitted} chars omitted] …")),
            omitted => Some(format!("… [{omitted} chars omitted]")),
        }
    }

    /// Draws the rows from `first` on.
    pub(crate) fn draw_rows(
        &self,
        width: usize,
        first: usize,
        theme: &Theme,
        rows: &mut Vec<Line<'static>>,
    ) {
        let shown = self.text_with_note();
        let before = match self.omission_note() {
            Some(note) if self.is_beginning_cut => note.len(),
            _ => 0,
        };
        let plain = (self.text.len(), Style::new());
        for row in self.rows(width).into_iter().skip(first) {
            let mut spans = Vec::new();
            let mut start = row.start;
            let (head, tail) = ((before, theme.dim), (shown.len(), theme.dim));
            let styled = self.runs.iter().chain([&plain]);
            let styled = styled.map(|(end, style)| (before + end, theme.of_output(*style)));
            for (end, style) in [head].into_iter().chain(styled).chain([tail]) {
                let end = end.min(row.end);
                if end > start {
                    spans.push(Span::styled(shown[start..end].to_owned(), style));
                    start = end;
                }
            }
            rows.push(Line::from(spans));
        }
    }
}

/// Wraps a text into rows; newlines start new rows. Escape sequences are not interpreted: control
/// or hidden characters are shown as marks.
pub fn wrapped(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let plain = Theme::dark();
    for line in visible::shown(text).lines() {
        let mut styled = StyledLine::default();
        for c in line.chars() {
            match c {
                '\t' => styled.push_tab(style, usize::MAX),
                c => styled.push(c, style, usize::MAX),
            }
        }
        styled.draw_rows(width, 0, &plain, &mut rows);
    }
    rows
}

/// True if a printable character certainly takes one column in any context: ASCII, Latin, box
/// drawing.
fn takes_one_column(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{2500}'..='\u{259f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_where_possible() {
        let rows = |text: &str, width| -> Vec<String> {
            let rows = wrapped(text, width, Style::new());
            rows.iter().map(ToString::to_string).collect()
        };
        assert_eq!(rows("one two three", 8), ["one two", "three"]);
        assert_eq!(rows("one two three", 7), ["one two", "three"]);
        assert_eq!(rows("one\n\ntwo", 9), ["one", "", "two"]);
        assert_eq!(rows("  in dented", 6), ["  in", "dented"]);
        assert_eq!(rows("a longlonglong b", 6), ["a", "longlo", "nglong", "b"]);
    }

    #[test]
    fn characters_listed_as_one_column_take_one() {
        let wrong: Vec<char> = ('\0'..'\u{3000}')
            .filter(|c| takes_one_column(*c) && visible_text::width(&c.to_string()) != 1)
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn popped_characters_have_their_styles() {
        let red = Style::new().fg(ratatui::style::Color::Red);
        let mut line = StyledLine::default();
        for (c, style) in [('a', Style::new()), ('b', red), ('c', red)] {
            line.push(c, style, 10);
        }
        assert_eq!(line.pop(), Some(('c', red)));
        assert_eq!(line.pop(), Some(('b', red)));
        assert_eq!(line.pop(), Some(('a', Style::new())));
        assert_eq!(line.pop(), None);
        assert_eq!(line, StyledLine::default());
    }

    #[test]
    fn end_of_a_long_line_is_held_with_its_styles() {
        let red = Style::new().fg(ratatui::style::Color::Red);
        let mut line = StyledLine::default();
        for (c, style) in "äbcdefghij"
            .chars()
            .zip([Style::new(); 7].into_iter().chain([red; 3]))
        {
            line.omit_beginning(4);
            line.push(c, style, usize::MAX);
        }
        let drawn = |line: &StyledLine| {
            let mut rows = Vec::new();
            line.draw_rows(99, 0, &Theme::dark(), &mut rows);
            let spans = rows.remove(0).spans;
            spans
                .iter()
                .map(|span| span.content.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(&line), ["[4 chars omitted] …", "efg", "hij"]);
        line.omit_all(90);
        line.push('x', red, usize::MAX);
        assert_eq!(drawn(&line), ["[100 chars omitted] …", "x"]);
        assert!(line.is_cut());
    }
}
