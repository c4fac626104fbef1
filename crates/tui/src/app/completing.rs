//! Completion in the prompt: inserts what was found, or lists it.

use super::{App, Effect};
use crate::complete::{CandidateList, Commands, Completion, ListRequest};
use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use std::sync::Arc;

impl App {
    /// Takes in the commands that exist. A list read without the user's configuration never
    /// replaces one read with it.
    pub(super) fn commands_read(&mut self, commands: Arc<Commands>) {
        let known = self.prompt.commands.take();
        let was_configured = known.as_ref().is_some_and(|known| known.is_configured);
        if was_configured && !commands.is_configured {
            self.prompt.commands = known;
            return;
        }
        self.prompt.commands = Some(commands);
        if let Some(known) = known {
            self.defines(known.defined.iter().map(String::as_str));
        }
    }

    /// Adds functions that a line defines in the prompt's shell.
    pub(super) fn defines<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        if let Some(commands) = &mut self.prompt.commands {
            for name in names {
                Arc::make_mut(commands).define(name);
            }
        }
    }

    /// Starts looking up the typed command if it is a path. `again`: looks it up even if it was
    /// looked up before.
    pub(super) fn look_up(&mut self, again: bool) {
        let path = self.prompt.wanted_path(again);
        self.effects.extend(path.map(Effect::LookUp));
    }

    /// Takes in the result of [`Self::look_up`].
    pub(super) fn looked_up(&mut self, path: &str, is_program: bool) {
        let next = self.prompt.looked_up(path, is_program);
        self.effects.extend(next.map(Effect::LookUp));
    }

    /// Starts looking for completions at the cursor. At the beginning of a further line, Tab is a
    /// tab.
    pub(super) fn complete(&mut self) {
        let before = self.prompt.before();
        let line = before.rsplit('\n').next().unwrap_or_default();
        if line.trim().is_empty() {
            if before.contains('\n') {
                self.prompt.insert("\t");
            }
            return;
        }
        self.effects.push(Effect::Complete { before });
    }

    /// Takes in completions.
    pub(super) fn completed(&mut self, completion: Completion) {
        // The user has typed on.
        if completion.before != self.prompt.before() {
            return;
        }
        if let Some((start, text)) = completion.insertion() {
            self.prompt.replace_word(start, &text);
        } else if completion.candidates.is_empty() {
            self.message = Some("nothing completes this".to_owned());
        } else {
            self.listed = Some(CandidateList::new(completion));
        }
    }

    /// Returns true if the key was for the list.
    pub(super) fn list_key(&mut self, key: KeyEvent) -> bool {
        let Some(listed) = &mut self.listed else {
            return false;
        };
        let request = listed.key(key);
        self.list_asks(request)
    }

    /// Returns true if the click was for the list.
    pub(super) fn list_click(&mut self, x: u16, y: u16) -> bool {
        let Some(listed) = &mut self.listed else {
            return false;
        };
        let request = listed.click(x, y);
        self.list_asks(request)
    }

    fn list_asks(&mut self, request: ListRequest) -> bool {
        match request {
            ListRequest::Nothing => {}
            ListRequest::Close => self.listed = None,
            ListRequest::Pass => {
                self.listed = None;
                return false;
            }
            ListRequest::Put(start, text) => {
                self.listed = None;
                self.prompt.replace_word(start, &text);
            }
        }
        true
    }

    /// Draws the list above the prompt.
    pub(crate) fn draw_list(&mut self, frame: &mut Frame<'_>, above: Rect) {
        if let Some(listed) = &mut self.listed {
            listed.draw(frame, above, &self.theme);
        }
    }
}
