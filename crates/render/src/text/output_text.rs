//! [`OutputText`]: command output as styled lines. It processes raw chunks, split anywhere, and
//! holds a bounded part of them, so drawing ten megabytes costs no more than ten kilobytes.
//!
//! SGR sequences become styles. Sequences that edit a line are applied ([`LineEdit`]); all others
//! are dropped. Text after a lone carriage return replaces the line.

use crate::Theme;
use crate::text::line_cursor::LineCursor;
use crate::text::sgr;
use crate::text::styled_line::StyledLine;
use agent_bash_core::LineEdit;
use ratatui::style::Style;
use ratatui::text::Line;
use std::collections::VecDeque;
use std::fmt;
use vte::{Params, Parser, Perform};

/// Limits of the output that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Bytes of text. To bound memory, the number of lines is limited to an eighth of this number,
    /// and the number of style changes to a fourth.
    pub bytes: usize,
    /// Characters per line. A longer line shows the number of omitted characters.
    pub line_chars: usize,
    /// True to hold the end of a longer line (up to twice as many characters) instead of its
    /// beginning.
    pub line_ends: bool,
}

impl OutputLimits {
    /// For a tool call: more than the text of a result can hold.
    pub const CARD: Self = Self {
        bytes: 256 << 10,
        line_chars: 16 << 10,
        line_ends: true,
    };

    /// For a page of a text. The page itself is bounded.
    pub const PAGE: Self = Self {
        bytes: usize::MAX,
        line_chars: 16 << 10,
        line_ends: false,
    };

    /// For a bang command: a line has at most 4000 characters.
    pub const BANG: Self = Self {
        bytes: 256 << 10,
        line_chars: 4000,
        line_ends: false,
    };
}

/// The last lines of a command's output.
pub struct OutputText {
    parser: Parser,
    lines: ParsedLines,
    /// A text shown instead of the lines.
    replacement: Option<Box<OutputText>>,
}

/// The state that the parser updates.
#[derive(Debug)]
struct ParsedLines {
    limits: OutputLimits,
    /// The last lines; the final one is still open.
    held: VecDeque<StyledLine>,
    /// Bytes, and changes of style, of all lines but the open one.
    size: usize,
    changes: usize,
    /// Number of dropped lines.
    dropped: u64,
    style: Style,
    /// The position of the next character on the open line.
    cursor: LineCursor,
}

/// A part of an output, wrapped into rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputRows {
    /// The rows.
    pub rows: Vec<Line<'static>>,
    /// The number of hidden rows before `rows`, plus the number of dropped lines.
    pub earlier: u64,
    /// Number of hidden rows after `rows`.
    pub below: u64,
}

impl OutputText {
    /// An empty output.
    pub fn new(limits: OutputLimits) -> Self {
        Self {
            parser: Parser::new(),
            lines: ParsedLines {
                limits,
                held: VecDeque::from([StyledLine::default()]),
                size: 0,
                changes: 0,
                dropped: 0,
                style: Style::new(),
                cursor: LineCursor::default(),
            },
            replacement: None,
        }
    }

    /// A complete text.
    pub fn of(limits: OutputLimits, text: &str) -> Self {
        let mut output = Self::new(limits);
        output.push(text.as_bytes());
        output
    }

    /// Adds command output.
    pub fn push(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.lines, bytes);
        if !self.lines.cursor.is_at_end() {
            self.lines.show_line();
        }
    }

    /// Shows a text, such as a note on binary output, instead of the output. `None` shows the
    /// output again.
    pub fn show_instead(&mut self, text: Option<&str>) {
        let limits = self.lines.limits;
        self.replacement = text.map(|text| Box::new(Self::of(limits, text)));
    }

    /// The lines that are shown.
    fn visible_lines(&self) -> &ParsedLines {
        match &self.replacement {
            Some(text) => &text.lines,
            None => &self.lines,
        }
    }

    /// Records `lines` lines that were dropped because output arrived too fast. The next output
    /// starts a new line.
    pub fn skip_lines(&mut self, lines: u64) {
        self.parser = Parser::new();
        self.lines.style = Style::new();
        self.lines.cursor = LineCursor::default();
        if !self.lines.open_line().is_empty() {
            self.lines.new_line();
        }
        self.lines.dropped += lines + self.lines.held.len() as u64 - 1;
        self.lines.held.drain(..self.lines.held.len() - 1);
        (self.lines.size, self.lines.changes) = (0, 0);
    }

    /// Records about `chars` characters of the open line that were dropped because output arrived
    /// too fast. The characters before them are dropped, too.
    pub fn skip_chars(&mut self, chars: u64) {
        self.parser = Parser::new();
        self.lines.style = Style::new();
        self.lines.cursor = LineCursor::default();
        self.lines.open_line().omit_all(chars);
    }

    /// True if the beginning of the output was dropped.
    pub(crate) fn is_beginning_cut(&self) -> bool {
        let first = self.visible_lines().held.front();
        self.visible_lines().dropped > 0 || first.is_some_and(StyledLine::is_beginning_cut)
    }

    /// True if some of the output was dropped.
    pub fn is_cut(&self) -> bool {
        self.visible_lines().dropped > 0 || self.shown_lines().any(StyledLine::is_cut)
    }

    /// The held lines, without their styles.
    pub fn plain(&self) -> String {
        let mut text = String::new();
        for line in self.shown_lines() {
            text.push_str(&line.text());
            text.push('\n');
        }
        text
    }

    /// The last line, if it has no line end.
    pub fn open_line(&self) -> String {
        let open = self.visible_lines().held.back();
        open.map(|line| line.text().into_owned())
            .unwrap_or_default()
    }

    /// True if nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.visible_lines().dropped == 0 && self.shown_lines().next().is_none()
    }

    /// Number of lines, including dropped ones.
    pub fn total_lines(&self) -> u64 {
        self.visible_lines().dropped + self.shown_lines().count() as u64
    }

    /// Number of dropped lines.
    pub fn dropped_lines(&self) -> u64 {
        self.visible_lines().dropped
    }

    /// Returns the last rows, at most `most`, of the last `lines` lines.
    pub fn tail(&self, width: usize, most: usize, lines: usize, theme: &Theme) -> OutputRows {
        let mut rows = Vec::new();
        let count = self.shown_lines().count();
        let mut first = count;
        let mut hidden_of_first = 0;
        let mut room = most;
        while first > 0 && room > 0 && count - first < lines {
            first -= 1;
            let count = self.visible_lines().held[first].row_count(width);
            hidden_of_first = count.saturating_sub(room);
            room -= count - hidden_of_first;
        }
        for (at, line) in self
            .visible_lines()
            .held
            .iter()
            .enumerate()
            .take(count)
            .skip(first)
        {
            let skip = if at == first { hidden_of_first } else { 0 };
            line.draw_rows(width, skip, theme, &mut rows);
        }
        let before: usize = self
            .visible_lines()
            .held
            .iter()
            .take(first)
            .map(|line| line.row_count(width))
            .sum();
        OutputRows {
            rows,
            earlier: self.visible_lines().dropped + (before + hidden_of_first) as u64,
            below: 0,
        }
    }

    /// Returns at most `most` of the held rows, after the first `skip`.
    pub fn window(&self, width: usize, skip: usize, most: usize, theme: &Theme) -> OutputRows {
        let count = self.shown_lines().count();
        let (mut at, mut rows, mut later) = (0, Vec::new(), 0);
        for line in self.visible_lines().held.iter().take(count) {
            let count = line.row_count(width);
            if at + count > skip && rows.len() < most {
                line.draw_rows(width, skip.saturating_sub(at), theme, &mut rows);
                let excess = rows.len().saturating_sub(most);
                rows.truncate(most);
                later += excess as u64;
            } else if at >= skip {
                later += count as u64;
            }
            at += count;
        }
        OutputRows {
            rows,
            earlier: self.visible_lines().dropped + skip.min(at) as u64,
            below: later,
        }
    }

    /// Total number of rows in [`Self::window`].
    pub fn row_count(&self, width: usize) -> usize {
        self.shown_lines().map(|line| line.row_count(width)).sum()
    }

    /// All lines, without the open one if it is empty.
    fn shown_lines(&self) -> impl Iterator<Item = &StyledLine> {
        let open_is_empty = self
            .visible_lines()
            .held
            .back()
            .is_some_and(StyledLine::is_empty);
        let count = self.visible_lines().held.len() - usize::from(open_is_empty);
        self.visible_lines().held.iter().take(count)
    }
}

impl fmt::Debug for OutputText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputText")
            .field("lines", &self.total_lines())
            .finish_non_exhaustive()
    }
}

impl ParsedLines {
    fn open_line(&mut self) -> &mut StyledLine {
        if self.held.is_empty() {
            self.held.push_back(StyledLine::default());
        }
        let last = self.held.len() - 1;
        &mut self.held[last]
    }

    fn new_line(&mut self) {
        if !self.cursor.is_at_end() {
            self.show_line();
            self.cursor = LineCursor::default();
        }
        let line = self.open_line();
        line.finish();
        let (size, changes) = (line.size(), line.style_changes());
        self.size += size;
        self.changes += changes;
        while self.exceeds_limits()
            && self.held.len() > 1
            && let Some(first) = self.held.pop_front()
        {
            self.size -= first.size();
            self.changes -= first.style_changes();
            self.dropped += 1;
        }
        self.held.push_back(StyledLine::default());
    }

    fn exceeds_limits(&self) -> bool {
        let most = self.limits.bytes;
        // `>=` counts the next line too: a `VecDeque` has room for a power of two, and one more
        // line could double it.
        self.size > most || self.held.len() >= most / 8 || self.changes > most / 4
    }

    /// Makes room on the open line. Returns the line, its maximum number of characters, and its
    /// cursor.
    fn with_room(&mut self) -> (&mut StyledLine, usize, &mut LineCursor) {
        if self.held.is_empty() {
            self.held.push_back(StyledLine::default());
        }
        let last = self.held.len() - 1;
        let line = &mut self.held[last];
        let OutputLimits {
            line_chars,
            line_ends,
            ..
        } = self.limits;
        if !line_ends {
            return (line, line_chars, &mut self.cursor);
        }
        line.omit_beginning(line_chars);
        (line, usize::MAX, &mut self.cursor)
    }

    fn show_line(&mut self) {
        let (line, most, cursor) = self.with_room();
        cursor.show_line(line, most);
    }

    /// Runs `add` on the line at the cursor.
    fn write(&mut self, add: impl FnOnce(&mut StyledLine, Style, usize)) {
        let style = self.style;
        let (line, most, cursor) = self.with_room();
        if cursor.is_at_end() {
            add(line, style, most);
            return;
        }
        cursor.before_text(line, most);
        let before = line.printed();
        add(line, style, most);
        cursor.remove_overwritten(line.printed() - before);
    }

    fn edit(&mut self, edit: LineEdit) {
        let (line, most, cursor) = self.with_room();
        cursor.edit(edit, line, most);
    }
}

impl Perform for ParsedLines {
    fn print(&mut self, c: char) {
        self.write(|line, style, most| line.push(c, style, most));
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.new_line(),
            b'\r' => self.cursor.carriage_return(),
            b'\t' => self.write(StyledLine::push_tab),
            0x08 => self.edit(LineEdit::Back(1)),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if ignore || !intermediates.is_empty() {
            return;
        }
        if action == 'm' {
            sgr::apply(&mut self.style, params);
            return;
        }
        let mut numbers = params.iter();
        let number = match (numbers.next(), numbers.next()) {
            (None, _) => 0,
            (Some([number]), None) => *number,
            _ => return,
        };
        if let Some(edit) = LineEdit::of(number, action) {
            self.edit(edit);
        }
    }
}

#[cfg(test)]
#[path = "output_text_tests.rs"]
mod tests;
