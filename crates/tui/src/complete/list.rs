//! The open list of candidates.

use super::completion::Completion;
use agent_bash_render::{ChoiceGrid, ChoicePositions, Theme};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;

/// The list and its selection.
#[derive(Debug)]
pub(crate) struct CandidateList {
    completion: Completion,
    labels: Vec<String>,
    selected: usize,
    /// The positions of the drawn candidates.
    positions: ChoicePositions,
}

/// A request of the list after a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ListRequest {
    Nothing,
    Close,
    /// Close the list, and pass the key to the prompt.
    Pass,
    /// Replace the text between this byte and the cursor.
    Replace(usize, String),
}

impl CandidateList {
    pub(crate) fn new(completion: Completion) -> Self {
        let labels = completion.candidates.iter();
        Self {
            labels: labels.map(|candidate| candidate.label.clone()).collect(),
            completion,
            selected: 0,
            positions: ChoicePositions::default(),
        }
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> ListRequest {
        match (key.code, key.modifiers) {
            (KeyCode::Tab | KeyCode::Down, _) | (KeyCode::Char('n'), KeyModifiers::CONTROL) => {
                self.move_selection(1);
            }
            (KeyCode::BackTab | KeyCode::Up, _) | (KeyCode::Char('p'), KeyModifiers::CONTROL) => {
                self.move_selection(-1);
            }
            (KeyCode::Right, _) => self.move_selection(self.positions.rows().cast_signed()),
            (KeyCode::Left, _) => self.move_selection(-self.positions.rows().cast_signed()),
            (KeyCode::Enter, _) => return self.accept(),
            (KeyCode::Esc, _) | (KeyCode::Char('c'), KeyModifiers::CONTROL) => {
                return ListRequest::Close;
            }
            _ => return ListRequest::Pass,
        }
        ListRequest::Nothing
    }

    /// Handles a click. The first click on a candidate selects it, the second accepts it. A click
    /// outside closes the list and is passed to the prompt.
    pub(crate) fn click(&mut self, x: u16, y: u16) -> ListRequest {
        match self.positions.at(x, y) {
            Some(at) if at == self.selected => return self.accept(),
            Some(at) => self.selected = at,
            None => return ListRequest::Pass,
        }
        ListRequest::Nothing
    }

    fn accept(&self) -> ListRequest {
        let Some(candidate) = self.completion.candidates.get(self.selected) else {
            return ListRequest::Close;
        };
        let (start, text) = self.completion.edit_for(candidate);
        ListRequest::Replace(start, text)
    }

    /// Moves the selection by this many candidates. At an end of the list, it continues at the
    /// other.
    fn move_selection(&mut self, by: isize) {
        let count = self.labels.len().max(1).cast_signed();
        let to = (self.selected.cast_signed() + by).rem_euclid(count);
        self.selected = to.cast_unsigned();
    }

    /// Draws the list at the bottom of `above`.
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, above: Rect, theme: &Theme) {
        let grid = ChoiceGrid {
            labels: &self.labels,
            selected: self.selected,
            is_cut: self.completion.is_cut,
        };
        self.positions = grid.render(above, frame.buffer_mut(), theme);
    }
}
