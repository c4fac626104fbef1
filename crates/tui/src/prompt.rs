//! The prompt: one or more lines of text, with a history.

mod arguments;
mod delete_word;
mod edit_steps;
mod program;
mod prompt_memory;
mod suggestion;
mod undo;

use self::edit_steps::{EditSteps, StepKind};
use self::prompt_memory::{Argument, LookedUpProgram, is_plain};
use crate::complete::Commands;
use crate::grapheme_clusters;
use crate::history::History;
use agent_bash_render::syntax::tokens::needs_more_lines;
use agent_bash_render::{BashStyles, PromptView, Theme, abridged};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use std::sync::Arc;

/// Columns in front of the text.
const MARK_COLUMNS: u16 = 2;

/// Maximum height of the prompt in rows.
const MAX_ROWS: u16 = 12;

/// Minimum width at which the hint names both `!` and `!!`.
const BOTH_MARKS_COLUMNS: usize = 58;

/// The text being edited, and the history.
#[derive(Debug)]
pub(crate) struct Prompt {
    area: TextArea<'static>,
    /// The steps that can be undone.
    steps: EditSteps,
    pub(crate) history: History,
    /// True if the line was a trial before it returned to the prompt. Enter then runs it as a
    /// trial again.
    pub(crate) is_trial: bool,
    /// The argument of an earlier line that was inserted last.
    argument: Option<Argument>,
    /// The command that was looked up, if it is a path.
    program: Option<LookedUpProgram>,
    /// The commands that exist, once they are known.
    pub(crate) commands: Option<Arc<Commands>>,
    theme: Theme,
    /// The area in which the prompt was drawn.
    drawn_area: Rect,
}

impl Prompt {
    pub(crate) fn new(theme: &Theme) -> Self {
        let mut prompt = Self {
            area: TextArea::default(),
            steps: EditSteps::default(),
            history: History::default(),
            is_trial: false,
            argument: None,
            program: None,
            commands: None,
            theme: theme.clone(),
            drawn_area: Rect::default(),
        };
        prompt.clear();
        prompt
    }

    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Empties the prompt for the next line. Undo does not bring the text back.
    pub(crate) fn clear(&mut self) {
        self.history.end_recall();
        self.set_text("");
        self.steps = EditSteps::default();
        self.is_trial = false;
    }

    /// Deletes the text. Undo brings the text back.
    pub(crate) fn wipe(&mut self) {
        self.replace("", false);
    }

    /// Inserts pasted text, without control characters.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text: String = text
            .chars()
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            .collect();
        self.history.end_recall();
        let before = self.area.cursor();
        self.change_as_step(StepKind::Other, |prompt| {
            prompt.area.insert_str(text);
            grapheme_clusters::leave_cluster(&mut prompt.area, (before.0, before.1));
        });
    }

    /// Handles an editing key.
    pub(crate) fn key(&mut self, key: KeyEvent) {
        let (first, last) = self.edges();
        match (key.code, key.modifiers) {
            (KeyCode::Up, KeyModifiers::NONE) if first => self.recall(true),
            (KeyCode::Down, KeyModifiers::NONE) if last => self.recall(false),
            (KeyCode::Char('p'), KeyModifiers::CONTROL) => self.recall(true),
            (KeyCode::Char('n'), KeyModifiers::CONTROL) => self.recall(false),
            (KeyCode::Char('.'), KeyModifiers::ALT) => self.insert_last_argument(),
            _ if self.accept_suggestion(key) => {}
            _ => self.edit(key),
        }
    }

    fn edit(&mut self, key: KeyEvent) {
        let redoes = (key.code, key.modifiers) == (KeyCode::Char('_'), KeyModifiers::ALT);
        if is_undo(key) || redoes {
            return self.edit_and_end_recall(|prompt| prompt.undo_or_redo(!redoes));
        }
        self.edit_and_end_recall(|prompt| {
            prompt.change_as_step(StepKind::of(key), |prompt| {
                let before = prompt.area.cursor();
                prompt.area_key(key);
                grapheme_clusters::leave_cluster(&mut prompt.area, (before.0, before.1));
            });
        });
    }

    fn edit_and_end_recall(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.text();
        change(self);
        // A movement of the cursor does not end the recall.
        if self.text() != before {
            self.history.end_recall();
        }
    }

    fn area_key(&mut self, key: KeyEvent) {
        match (key.code, key.modifiers) {
            (KeyCode::Enter, held) if !held.is_empty() => self.area.insert_newline(),
            (KeyCode::Char('j'), KeyModifiers::CONTROL) => self.area.insert_newline(),
            (KeyCode::Char('w'), KeyModifiers::CONTROL) => {
                delete_word::delete_to_blank(&mut self.area);
            }
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => drop(self.area.delete_line_by_head()),
            // Of the editor component's keys, only the documented ones work.
            (KeyCode::Char(c), KeyModifiers::CONTROL) if !"aedhky".contains(c) => {}
            (KeyCode::Char(c), KeyModifiers::ALT) if !"bdf".contains(c) => {}
            (KeyCode::PageUp | KeyCode::PageDown | KeyCode::F(_), _) => {}
            (KeyCode::Backspace, KeyModifiers::NONE | KeyModifiers::SHIFT)
            | (KeyCode::Char('h'), KeyModifiers::CONTROL)
                if grapheme_clusters::delete_before(&mut self.area) => {}
            (KeyCode::Delete, KeyModifiers::NONE | KeyModifiers::SHIFT)
            | (KeyCode::Char('d'), KeyModifiers::CONTROL)
                if grapheme_clusters::delete_at(&mut self.area) => {}
            _ => drop(self.area.input(Event::Key(key))),
        }
    }

    /// Adds a line if the text ends in a backslash or the script is unfinished. Returns true if so.
    pub(crate) fn continue_line(&mut self) -> bool {
        let cursor = self.area.cursor();
        let lines = self.area.lines();
        let line = lines.get(cursor.0).map_or("", String::as_str);
        let continues = line.ends_with('\\') && cursor.1 >= line.chars().count();
        if !continues && !self.is_unfinished() {
            return false;
        }
        self.history.end_recall();
        self.change_as_step(StepKind::Other, |prompt| prompt.area.insert_newline());
        true
    }

    /// True if bash would read another line.
    pub(crate) fn is_unfinished(&self) -> bool {
        let text = self.text();
        needs_more_lines(text.trim_start_matches('!'))
    }

    /// Returns whether the cursor is on the first line, and whether it is on the last.
    fn edges(&self) -> (bool, bool) {
        let row = self.area.cursor().0;
        (row == 0, row + 1 >= self.area.lines().len())
    }

    /// Replaces the text, with the cursor at its end. The yank buffer stays.
    fn set_text(&mut self, text: &str) {
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_wrap_mode(WrapMode::Glyph);
        area.set_hard_tab_indent(true);
        area.set_max_histories(0);
        area.set_yank_text(self.area.yank_text());
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        self.area = area;
    }

    /// The text in front of the cursor.
    pub(crate) fn text_before_cursor(&self) -> String {
        let mut text = self.text();
        text.truncate(self.cursor());
        text
    }

    /// Inserts a text at the cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        self.history.end_recall();
        self.change_as_step(StepKind::Other, |prompt| {
            prompt.area.insert_str(text);
        });
    }

    /// Replaces the text between a byte and the cursor.
    pub(crate) fn replace_word(&mut self, start: usize, text: &str) {
        let before = self.text_before_cursor();
        let Some(old) = before.get(start..) else {
            return;
        };
        let chars = old.chars().count();
        self.history.end_recall();
        self.change_as_step(StepKind::Other, |prompt| {
            prompt.move_to(start);
            prompt.area.delete_str(chars);
            prompt.area.insert_str(text);
        });
    }

    /// Moves the cursor to a byte of the text.
    fn move_to(&mut self, byte: usize) {
        let text = self.text();
        let before = &text[..byte.min(text.len())];
        let row = before.matches('\n').count();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let number = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let column = number(line.chars().count());
        self.area.move_cursor(CursorMove::Jump(number(row), column));
    }

    /// The byte offset of a row and a character in it.
    fn byte_at(&self, (row, column): (usize, usize)) -> usize {
        let lines = self.area.lines();
        let before: usize = lines.iter().take(row).map(|line| line.len() + 1).sum();
        let line = lines.get(row).map_or("", String::as_str);
        before
            + line
                .char_indices()
                .nth(column)
                .map_or(line.len(), |(at, _)| at)
    }

    /// The byte offset of the cursor.
    pub(crate) fn cursor(&self) -> usize {
        let cursor = self.area.cursor();
        self.byte_at((cursor.0, cursor.1))
    }

    /// True unless the command is known not to exist.
    fn is_known(&self, name: &str) -> bool {
        if name.contains('/') {
            return !self.is_missing(name);
        }
        match &self.commands {
            Some(commands) => name.contains(|c: char| !is_plain(c)) || commands.contains(name),
            None => true,
        }
    }

    /// The height of the prompt in rows.
    pub(crate) fn height(&self, width: u16) -> u16 {
        let columns = width.saturating_sub(MARK_COLUMNS);
        let rows = PromptView::rows(&self.text(), columns);
        u16::try_from(rows).unwrap_or(MAX_ROWS).min(MAX_ROWS)
    }

    /// Returns the numbers of hidden rows above and below. The cursor's row is always drawn.
    pub(crate) fn hidden_rows(&self, area: Rect) -> (usize, usize) {
        let columns = area.width.saturating_sub(MARK_COLUMNS);
        let text = self.text();
        let rows = PromptView::rows(&text, columns);
        let cursor = PromptView::rows(&text[..self.cursor()], columns);
        let height = usize::from(area.height);
        let above = cursor.saturating_sub(height);
        (above, rows.saturating_sub(above + height))
    }

    /// Moves the cursor to a cell of the screen. Returns true if the cell is in the prompt.
    pub(crate) fn click(&mut self, x: u16, y: u16) -> bool {
        if !self.drawn_area.contains((x, y).into()) {
            return false;
        }
        let text = self.text();
        let at = PromptView::byte_at(&text, self.cursor(), text_area(self.drawn_area), (x, y));
        self.area.cancel_selection();
        self.move_to(at);
        true
    }

    /// Draws the prompt. While a selected card has the keys (`has_keys` is false), draws neither a
    /// cursor nor a hint. `suggests`: shows a suggestion.
    pub(crate) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        has_keys: bool,
        suggests: bool,
    ) {
        self.drawn_area = area;
        if area.is_empty() {
            return;
        }
        if !has_keys {
            let hint = "❯  keys are the selected card's · esc comes back to the prompt";
            let hint = abridged(hint, usize::from(area.width).saturating_sub(1));
            let buffer = frame.buffer_mut();
            buffer.set_string(area.x, area.y, hint, self.theme.dim);
            return;
        }
        let text = self.text();
        // Bang commands differ in colour while they are typed.
        let (style, bang_len) = match text.as_str() {
            text if text.starts_with("!!") => (self.theme.dim, 2),
            text if text.starts_with('!') => (self.theme.warning, 1),
            _ => (self.theme.accent, 0),
        };
        // Only the first line has the mark: in front of another line it would mark the wrong
        // command.
        let mark = if self.hidden_rows(area).0 == 0 {
            "❯ "
        } else {
            "⋮ "
        };
        frame.buffer_mut().set_string(area.x, area.y, mark, style);
        let rest = text_area(area);
        if text.is_empty() {
            let hint = if usize::from(rest.width) < BOTH_MARKS_COLUMNS {
                "a command · !command is yours"
            } else {
                "a command · !command is yours · !!command is yours alone"
            };
            let hint = abridged(hint, usize::from(rest.width).saturating_sub(1));
            let style = self.theme.dim;
            frame
                .buffer_mut()
                .set_string(rest.x, rest.y, format!(" {hint}"), style);
        }
        let selected = self.area.selection_range();
        let view = PromptView {
            text: &text,
            cursor: self.cursor(),
            selected: selected.map(|(from, to)| (self.byte_at(from), self.byte_at(to))),
            styles: &BashStyles::typed(&text[bang_len..], &self.theme, |name| self.is_known(name)),
            styled_from: bang_len,
            suggested: self.suggestion().filter(|_| suggests).unwrap_or_default(),
        };
        view.render(rest, frame.buffer_mut(), &self.theme);
    }
}

/// True for the key that undoes. Terminals send the same code for ctrl+_, ctrl+/ and ctrl+7.
fn is_undo(key: KeyEvent) -> bool {
    key.modifiers == KeyModifiers::CONTROL && matches!(key.code, KeyCode::Char('_' | '/' | '7'))
}

/// The area of the text, to the right of the mark.
fn text_area(area: Rect) -> Rect {
    Rect {
        x: area.x + MARK_COLUMNS.min(area.width),
        width: area.width.saturating_sub(MARK_COLUMNS),
        ..area
    }
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
