//! The prompt: one or more lines of text, with a history.

use agent_bash_render::Theme;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

/// Columns in front of the text.
const MARK: u16 = 2;

/// Maximum height of the prompt in rows.
const MOST_ROWS: u16 = 12;

/// Maximum number of history entries.
const MOST_HISTORY: usize = 1000;

/// The text being edited, and the history.
#[derive(Debug)]
pub(crate) struct Prompt {
    area: TextArea<'static>,
    history: Vec<String>,
    /// The history entry being shown; one past the last is the text being edited.
    at: usize,
    /// The text being edited, while a history entry is shown.
    draft: String,
    theme: Theme,
}

impl Prompt {
    pub(crate) fn new(theme: &Theme) -> Self {
        let mut prompt = Self {
            area: TextArea::default(),
            history: Vec::new(),
            at: 0,
            draft: String::new(),
            theme: theme.clone(),
        };
        prompt.set("");
        prompt
    }

    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Empties the prompt; its text goes into the history.
    pub(crate) fn clear(&mut self) {
        self.at = self.history.len();
        self.set("");
    }

    /// The text was submitted: adds it to the history.
    pub(crate) fn sent(&mut self) {
        let text = self.text();
        if self.history.last() != Some(&text) {
            self.history.push(text);
        }
        if self.history.len() > MOST_HISTORY {
            self.history.remove(0);
        }
        self.clear();
    }

    /// Puts another text in place of what is there.
    pub(crate) fn replace(&mut self, text: &str) {
        self.at = self.history.len();
        self.set(text);
    }

    /// Inserts pasted text, without control characters.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text: String = text
            .chars()
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            .collect();
        self.area.insert_str(text);
    }

    /// Handles an editing key.
    pub(crate) fn key(&mut self, key: KeyEvent) {
        let (first, last) = self.edges();
        match (key.code, key.modifiers) {
            (KeyCode::Up, KeyModifiers::NONE) if first => self.recall(-1),
            (KeyCode::Down, KeyModifiers::NONE) if last => self.recall(1),
            (KeyCode::Enter, held) if !held.is_empty() => self.area.insert_newline(),
            (KeyCode::Char('j'), KeyModifiers::CONTROL) => self.area.insert_newline(),
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => drop(self.area.delete_line_by_head()),
            (KeyCode::Char('p'), KeyModifiers::CONTROL) => self.recall(-1),
            (KeyCode::Char('n'), KeyModifiers::CONTROL) => self.recall(1),
            (KeyCode::Tab, KeyModifiers::NONE) => self.area.insert_char('\t'),
            _ => drop(self.area.input(Event::Key(key))),
        }
    }

    /// If the line ends in a backslash, continues on the next one. Returns whether it did.
    pub(crate) fn continues(&mut self) -> bool {
        let cursor = self.area.cursor();
        let lines = self.area.lines();
        let line = lines.get(cursor.0).map_or("", String::as_str);
        if !line.ends_with('\\') || cursor.1 < line.chars().count() {
            return false;
        }
        self.area.insert_newline();
        true
    }

    /// Whether the cursor is on the first line, and whether on the last.
    fn edges(&self) -> (bool, bool) {
        let row = self.area.cursor().0;
        (row == 0, row + 1 >= self.area.lines().len())
    }

    fn recall(&mut self, by: isize) {
        let at = self.at.saturating_add_signed(by).min(self.history.len());
        if at == self.at {
            return;
        }
        if self.at == self.history.len() {
            self.draft = self.text();
        }
        self.at = at;
        let text = self.history.get(at).unwrap_or(&self.draft).clone();
        self.set(&text);
    }

    fn set(&mut self, text: &str) {
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_cursor_line_style(Style::new());
        area.set_cursor_style(Style::new().add_modifier(Modifier::REVERSED));
        area.set_style(self.theme.text);
        area.set_wrap_mode(WrapMode::Glyph);
        area.set_hard_tab_indent(true);
        area.set_placeholder_text("a command · !command is yours · !!command is yours alone");
        area.set_placeholder_style(self.theme.dim);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        self.area = area;
    }

    /// The height it needs, in rows.
    pub(crate) fn height(&self, width: u16) -> u16 {
        let columns = usize::from(width.saturating_sub(MARK).max(1));
        let rows: usize = self
            .area
            .lines()
            .iter()
            // After a full row the cursor is on the next one.
            .map(|line| {
                (Span::raw(line.as_str()).width() + 1)
                    .div_ceil(columns)
                    .max(1)
            })
            .sum();
        u16::try_from(rows).unwrap_or(MOST_ROWS).min(MOST_ROWS)
    }

    pub(crate) fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        if area.is_empty() {
            return;
        }
        let first = self.area.lines().first().map_or("", String::as_str);
        // The user's own commands look different already while they are typed.
        let style = if first.starts_with("!!") {
            self.theme.dim
        } else if first.starts_with('!') {
            self.theme.warning
        } else {
            self.theme.accent
        };
        frame.buffer_mut().set_string(area.x, area.y, "❯ ", style);
        let rest = Rect {
            x: area.x + MARK.min(area.width),
            width: area.width.saturating_sub(MARK),
            ..area
        };
        frame.render_widget(&self.area, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn typed(prompt: &mut Prompt, text: &str) {
        for c in text.chars() {
            prompt.key(key(KeyCode::Char(c)));
        }
    }

    #[test]
    fn the_history_goes_back_and_forth_and_keeps_what_is_being_written() {
        let mut prompt = Prompt::new(&Theme::plain());
        for text in ["one", "two", "two", "three\nlines"] {
            prompt.paste(text);
            prompt.sent();
        }
        typed(&mut prompt, "dra");
        for (code, want) in [
            (KeyCode::Up, "three\nlines"),
            (KeyCode::Up, "three\nlines"),
            (KeyCode::Up, "two"),
            (KeyCode::Up, "one"),
            (KeyCode::Up, "one"),
            (KeyCode::Down, "two"),
            (KeyCode::Down, "three\nlines"),
            (KeyCode::Down, "dra"),
            (KeyCode::Down, "dra"),
        ] {
            prompt.key(key(code));
            assert_eq!(prompt.text(), want, "{code:?}");
        }
        prompt.clear();
        assert!(prompt.is_empty());
    }

    #[test]
    fn lines_are_added_by_modified_enter_and_by_a_backslash() {
        let mut prompt = Prompt::new(&Theme::plain());
        typed(&mut prompt, "a");
        prompt.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT));
        typed(&mut prompt, "b");
        prompt.key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL));
        typed(&mut prompt, "c \\");
        assert!(prompt.continues());
        typed(&mut prompt, "d");
        assert!(!prompt.continues());
        assert_eq!(prompt.text(), "a\nb\nc \\\nd");
        assert_eq!(prompt.height(80), 4);
        assert_eq!(prompt.height(4), 5);
    }

    #[test]
    fn what_is_pasted_does_not_act() {
        let mut prompt = Prompt::new(&Theme::plain());
        prompt.paste("a\r\nb\u{1b}[31m\u{7}\rc");
        assert_eq!(prompt.text(), "a\nb[31m\nc");
    }
}
