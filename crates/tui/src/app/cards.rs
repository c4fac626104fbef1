//! Actions on the selected card by key or mouse: copy, run again, edit, fold.

use super::{App, Effect};
use crate::links::LinkDestinations;
use crate::transcript::{Card, EntryId};
use agent_bash::core::Request;
use agent_bash::core::changes::TrialRequest;
use agent_bash_render::OutputText;
use std::time::Duration;

/// Limit of bytes copied at once: terminals drop longer texts.
const MAX_COPIED_BYTES: usize = 64 << 10;

impl App {
    /// Returns the selected card if it has the keys. A card selected by a click has no keys.
    pub(crate) fn focused_card(&self) -> Option<EntryId> {
        let has_keys = !self.transcript.is_clicked;
        let chosen = self.transcript.selected_entry().filter(|_| has_keys);
        chosen.map(|entry| entry.id)
    }

    /// Ends the selection when the user types a line. Otherwise the line's first letters would be
    /// keys of the card.
    pub(super) fn leave_card(&mut self) {
        if !self.prompt.is_empty() {
            self.transcript.deselect();
        }
    }

    /// The destinations of links on the screen. Empty while a command has the screen.
    pub(crate) fn link_destinations(&self) -> LinkDestinations {
        if self.console.is_some() {
            return LinkDestinations::default();
        }
        LinkDestinations {
            outputs: self.transcript.output_files(),
            directory: self.directory.directory.clone(),
        }
    }

    /// Handles a key of the selected card. Returns true if the key is consumed.
    pub(super) fn card_key(&mut self, pressed: char, now: Duration) -> bool {
        let Some(id) = self.focused_card() else {
            return false;
        };
        let is_bang = matches!(
            self.transcript.get(id).map(|entry| &entry.card),
            Some(Card::Bang(_))
        );
        if !self.prompt.is_empty() && (pressed == 'e' || (pressed == 'R' && is_bang)) {
            self.message =
                Some("the command would replace the line: ctrl+c clears the line".to_owned());
            return true;
        }
        if matches!(pressed, 'R' | 'e') && self.is_of_earlier_run() {
            return true;
        }
        match pressed {
            'y' => self.copy(id, false),
            'Y' => self.copy(id, true),
            'R' => self.run_again(id, now),
            'e' => self.edit(id),
            'f' => {
                self.toggle_folded(id);
                return true;
            }
            _ => return false,
        }
        // The next keys belong to the prompt.
        self.transcript.deselect();
        true
    }

    /// Copies the card's output, or its command, into the clipboard of the host's terminal.
    fn copy(&mut self, id: EntryId, command: bool) {
        let Some(entry) = self.transcript.get(id) else {
            return;
        };
        let text = match &entry.card {
            _ if command => entry.command().to_owned(),
            Card::Tool(card) => card.plain(),
            Card::Bang(card) => card.output.plain(),
            Card::Note(_) => return,
        };
        let cut = text.len().saturating_sub(MAX_COPIED_BYTES);
        let from = (cut..text.len()).find(|at| text.is_char_boundary(*at));
        let text = text[from.unwrap_or(0)..].to_owned();
        let is_cut = cut > 0 || (!command && entry.is_cut());
        let rows = text.lines().count();
        let what = match (command, is_cut, rows) {
            (true, false, _) => "the command".to_owned(),
            (true, true, _) => "the end of the command".to_owned(),
            (false, false, _) => "the output".to_owned(),
            (false, true, 0 | 1) => "the end of the output".to_owned(),
            (false, true, rows) => format!("the last {rows} rows"),
        };
        let more = if !command && is_cut && (cut > 0 || entry.file.is_some()) {
            ": ctrl+f shows more"
        } else {
            ""
        };
        self.message = Some(if text.is_empty() {
            "there is nothing to copy".to_owned()
        } else {
            format!("copied {what}{more}")
        });
        if !text.is_empty() {
            self.effects.push(Effect::Copy(text));
        }
    }

    /// Runs the card's command again. A bang command goes through the prompt, as if typed.
    fn run_again(&mut self, id: EntryId, now: Duration) {
        let Some(entry) = self.transcript.get(id) else {
            return;
        };
        match &entry.card {
            Card::Tool(card) => {
                let mut request = Request::new(card.command.clone());
                // A command that ran as a trial runs as a trial again.
                request.trial = entry.is_trial.then_some(TrialRequest::Hold);
                self.run(request, now);
            }
            Card::Bang(_) => {
                self.edit(id);
                self.submit(now);
            }
            Card::Note(_) => {}
        }
    }

    /// Puts the card's command into the prompt. A trial's command runs as a trial again.
    fn edit(&mut self, id: EntryId) {
        let Some(entry) = self.transcript.get(id) else {
            return;
        };
        let text = match &entry.card {
            Card::Tool(card) => card.command.clone(),
            Card::Bang(card) if card.excluded_from_context => format!("!!{}", card.command),
            Card::Bang(card) => format!("!{}", card.command),
            Card::Note(_) => return,
        };
        let is_trial = entry.is_trial;
        self.prompt.replace(&text, is_trial);
        self.transcript.go_to_bottom();
    }

    fn toggle_folded(&mut self, id: EntryId) {
        let output = self
            .transcript
            .get(id)
            .and_then(|entry| entry.card.output());
        if output.is_none_or(OutputText::is_empty) {
            self.message = Some("the command printed nothing: there is nothing to fold".to_owned());
            return;
        }
        self.transcript.hold_selected();
        self.transcript.change(id, |entry| {
            let folded = match &mut entry.card {
                Card::Tool(card) => &mut card.folded,
                Card::Bang(card) => &mut card.folded,
                Card::Note(_) => return,
            };
            *folded = !*folded;
            entry.expanded = false;
        });
    }

    /// Handles a press of the mouse. In the prompt, moves the cursor there and gives the prompt the
    /// keys. Returns true if the position is in the prompt.
    pub(super) fn prompt_click(&mut self, x: u16, y: u16) -> bool {
        let is_in_prompt = self.prompt.click(x, y);
        if is_in_prompt {
            self.transcript.deselect();
        }
        is_in_prompt
    }

    /// Handles a press of the mouse in a row: selects the card there. If the card is selected
    /// already, expands or folds it. The prompt keeps the keys.
    pub(super) fn click(&mut self, row: u16) {
        match self.transcript.at_row(row) {
            Some(id) if self.transcript.selected == Some(id) => self.toggle_expanded(),
            clicked => {
                self.transcript.selected = clicked;
                self.transcript.is_clicked = clicked.is_some();
            }
        }
    }
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;
