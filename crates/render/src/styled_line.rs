//! A line of output with its styles, and how it is wrapped into rows.

use crate::Theme;
use crate::visible_text;
use agent_bash_core::visible;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Distance of tab stops in columns.
const TAB: usize = 8;

/// A line without its newline and without control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledLine {
    text: String,
    /// Byte offset where each style ends.
    runs: Vec<(usize, Style)>,
    /// Some character may not take exactly one column, so wrapping has to measure.
    is_uneven: bool,
    /// Number of characters, and of omitted ones.
    chars: usize,
    omitted: u64,
}

impl StyledLine {
    /// Adds a character, unless the line already has `most`.
    pub(crate) fn push(&mut self, c: char, style: Style, most: usize) {
        if c.is_control() {
            return;
        }
        if self.chars >= most {
            self.omitted += 1;
            return;
        }
        if visible::is_hidden(c) && !visible::is_spelling(self.text.chars().next_back(), c) {
            for c in visible::mark(c).chars() {
                self.push(c, style, most);
            }
            return;
        }
        self.chars += 1;
        self.is_uneven |= !takes_one_column(c);
        self.text.push(c);
        match self.runs.last_mut() {
            Some((end, last)) if *last == style => *end = self.text.len(),
            _ => self.runs.push((self.text.len(), style)),
        }
    }

    /// Adds spaces up to the next tab stop.
    pub(crate) fn push_tab(&mut self, style: Style, most: usize) {
        let columns = if self.is_uneven {
            visible_text::width(&self.text)
        } else {
            self.chars
        };
        for _ in 0..TAB - columns % TAB {
            self.push(' ', style, most);
        }
    }

    /// Removes the last character.
    pub(crate) fn backspace(&mut self) {
        if self.text.pop().is_none() {
            return;
        }
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
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Its text, without what was omitted.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.runs.len() * size_of::<(usize, Style)>() + size_of::<Self>()
    }

    /// Number of rows at that width; an empty line takes one.
    pub(crate) fn row_count(&self, width: usize) -> usize {
        if self.fits(width) {
            return 1;
        }
        self.rows(width).len()
    }

    /// Whether it certainly takes one row.
    fn fits(&self, width: usize) -> bool {
        !self.is_uneven && self.omitted == 0 && self.chars <= width.max(1)
    }

    /// Where it wraps, in bytes of [`Self::shown`].
    fn rows(&self, width: usize) -> Vec<Range<usize>> {
        let shown = self.shown();
        if self.is_uneven {
            let parts = shown.grapheme_indices(true);
            let parts = parts.map(|(at, part)| (at, visible_text::width(part), part == " "));
            return broken(parts, shown.len(), width);
        }
        let parts = shown.char_indices().map(|(at, c)| (at, 1, c == ' '));
        broken(parts, shown.len(), width)
    }

    /// The text, with a note on how much was omitted.
    fn shown(&self) -> std::borrow::Cow<'_, str> {
        if self.omitted == 0 {
            return (&*self.text).into();
        }
        format!("{}… [{} chars omitted]", self.text, self.omitted).into()
    }

    /// Its rows from `first` on.
    pub(crate) fn draw_rows(
        &self,
        width: usize,
        first: usize,
        theme: &Theme,
        into: &mut Vec<Line<'static>>,
    ) {
        let shown = self.shown();
        for row in self.rows(width).into_iter().skip(first) {
            let mut spans = Vec::new();
            let mut start = row.start;
            let tail = (shown.len(), theme.dim);
            let styled = self
                .runs
                .iter()
                .map(|(end, style)| (*end, theme.of_output(*style)));
            for (end, style) in styled.chain([tail]) {
                let end = end.min(row.end);
                if end > start {
                    spans.push(Span::styled(shown[start..end].to_owned(), style));
                    start = end;
                }
            }
            into.push(Line::from(spans));
        }
    }
}

/// A text of ours or of a caller, wrapped into rows; newlines start new ones. Escape sequences are not interpreted: a
/// command is shown literally, and control or hidden characters in it are marked.
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

/// Where rows of `width` columns begin and end in a text, of whose characters place, columns and whether it is a space are
/// given. A row ends between words if it can, so that none is cut; the spaces there are on no row. A word that is longer
/// than a row is cut.
fn broken(
    parts: impl Iterator<Item = (usize, usize, bool)>,
    len: usize,
    width: usize,
) -> Vec<Range<usize>> {
    let width = width.max(1);
    let mut rows = Vec::new();
    let (mut start, mut columns, mut has_word) = (0, 0, false);
    // Behind the last character that there is room for.
    let mut end = 0;
    let mut gap: Option<Gap> = None;
    for (at, wide, is_space) in parts {
        if is_space {
            match &mut gap {
                Some(gap) if gap.end == at => (gap.end, gap.columns) = (at + 1, columns + 1),
                _ if has_word => gap = Some(Gap::new(at, columns)),
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
        if columns + wide > width && at > start {
            if let Some(gap) = gap.take() {
                rows.push(start..gap.from);
                (start, columns) = (gap.end, columns - gap.columns);
            } else {
                rows.push(start..end.min(at));
                (start, columns) = (at, 0);
            }
        }
        columns += wide;
        has_word = true;
        end = len;
    }
    rows.push(start..end.max(start));
    rows
}

/// The spaces behind a word.
struct Gap {
    from: usize,
    end: usize,
    /// Columns of the row up to its end.
    columns: usize,
}

impl Gap {
    /// One space.
    fn new(at: usize, columns: usize) -> Self {
        Self {
            from: at,
            end: at + 1,
            columns: columns + 1,
        }
    }
}

/// Whether a printable character certainly takes one column in any context: ASCII, Latin, box drawing.
fn takes_one_column(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{2500}'..='\u{259f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_where_they_can() {
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
    fn what_is_said_to_take_one_column_does() {
        let wrong: Vec<char> = ('\0'..'\u{3000}')
            .filter(|c| takes_one_column(*c) && visible_text::width(&c.to_string()) != 1)
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn backspace_takes_styles_back_with_their_text() {
        let red = Style::new().fg(ratatui::style::Color::Red);
        let mut line = StyledLine::default();
        for (c, style) in [('a', Style::new()), ('b', red), ('c', red)] {
            line.push(c, style, 10);
        }
        line.backspace();
        line.backspace();
        line.backspace();
        line.backspace();
        assert_eq!(line, StyledLine::default());
    }
}
