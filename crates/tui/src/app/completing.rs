//! Completion in the prompt: inserts the only candidate, or lists several.

use super::{App, Effect};
use crate::complete::{CandidateList, Commands, Completion, ListRequest};
use crossterm::event::KeyEvent;
use std::sync::Arc;

impl App {
    /// Stores the names of all commands. A list read without the user's configuration never
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
            self.add_functions(known.defined.iter().map(String::as_str));
        }
    }

    /// Adds functions that a line defines in the prompt's shell.
    pub(super) fn add_functions<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
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

    /// Handles the result of [`Self::look_up`].
    pub(super) fn looked_up(&mut self, path: &str, is_program: bool) {
        let next = self.prompt.looked_up(path, is_program);
        self.effects.extend(next.map(Effect::LookUp));
    }

    /// Starts a completion at the cursor. In an empty line after the first, Tab inserts a
    /// tab.
    pub(super) fn complete(&mut self) {
        let before = self.prompt.text_before_cursor();
        let line = before.rsplit('\n').next().unwrap_or_default();
        if line.trim().is_empty() {
            if before.contains('\n') {
                self.prompt.insert("\t");
            }
            return;
        }
        self.effects.push(Effect::Complete { before });
    }

    /// Handles the result of a completion.
    pub(super) fn completed(&mut self, completion: Completion) {
        // The text has changed since the completion started.
        if completion.before != self.prompt.text_before_cursor() {
            return;
        }
        if let Some((start, text)) = completion.insertion() {
            self.prompt.replace_word(start, &text);
        } else if completion.candidates.is_empty() {
            self.message = Some("no completion found".to_owned());
        } else {
            self.candidates = Some(CandidateList::new(completion));
        }
    }

    /// Passes a key to the list. Returns true if the list consumes it.
    pub(super) fn list_key(&mut self, key: KeyEvent) -> bool {
        let Some(listed) = &mut self.candidates else {
            return false;
        };
        let request = listed.key(key);
        self.handle_list_request(request)
    }

    /// Passes a click to the list. Returns true if the list consumes it.
    pub(super) fn list_click(&mut self, x: u16, y: u16) -> bool {
        let Some(listed) = &mut self.candidates else {
            return false;
        };
        let request = listed.click(x, y);
        self.handle_list_request(request)
    }

    fn handle_list_request(&mut self, request: ListRequest) -> bool {
        match request {
            ListRequest::Nothing => {}
            ListRequest::Close => self.candidates = None,
            ListRequest::Pass => {
                self.candidates = None;
                return false;
            }
            ListRequest::Replace(start, text) => {
                self.candidates = None;
                self.prompt.replace_word(start, &text);
            }
        }
        true
    }
}
