//! What is done with the selected card: copied, run again, edited, folded, by key or by mouse.

use super::{App, Effect};
use crate::links::Targets;
use crate::transcript::{Card, EntryId};
use agent_bash::core::Request;
use std::time::Duration;

/// The most that is copied at once: terminals drop what is longer.
const MOST_COPIED: usize = 64 << 10;

impl App {
    /// The selected card, if nothing is typed, so that keys are for it.
    pub(crate) fn chosen_card(&self) -> Option<EntryId> {
        let chosen = self.transcript.chosen().filter(|_| self.prompt.is_empty());
        chosen.map(|entry| entry.id)
    }

    /// Ends the selection once something is typed: else the first letters of the next line would be keys of that card.
    pub(super) fn leave_card(&mut self) {
        if !self.prompt.is_empty() {
            self.transcript.selected = None;
        }
    }

    /// What links on the screen lead to; nothing while a command has it.
    pub(crate) fn targets(&self) -> Targets {
        if self.console.is_some() {
            return Targets::default();
        }
        Targets {
            outputs: self.transcript.outputs(),
            directory: self.place.directory.clone(),
        }
    }

    /// Handles a key of the selected card. Returns whether it was one.
    pub(super) fn card_key(&mut self, pressed: char, now: Duration) -> bool {
        let Some(id) = self.chosen_card() else {
            return false;
        };
        match pressed {
            'y' => self.copy(id, false),
            'Y' => self.copy(id, true),
            'R' => self.again(id, now),
            'e' => self.edit(id),
            'f' => self.fold(id),
            'o' => self.expand(),
            _ => return false,
        }
        true
    }

    /// Copies what it printed, or its command, into the clipboard of the host's terminal.
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
        let cut = text.len().saturating_sub(MOST_COPIED);
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

    /// Runs it again. A command of the person's own goes through the prompt, as it is typed.
    fn again(&mut self, id: EntryId, now: Duration) {
        match self.transcript.get(id).map(|entry| &entry.card) {
            Some(Card::Tool(card)) => {
                let request = Request::new(card.command.clone());
                self.transcript.selected = None;
                self.run(request, now);
            }
            Some(Card::Bang(_)) => {
                self.edit(id);
                self.submit(now);
            }
            _ => {}
        }
    }

    /// Puts its command into the prompt.
    fn edit(&mut self, id: EntryId) {
        let text = match self.transcript.get(id).map(|entry| &entry.card) {
            Some(Card::Tool(card)) => card.command.clone(),
            Some(Card::Bang(card)) if card.excluded_from_context => format!("!!{}", card.command),
            Some(Card::Bang(card)) => format!("!{}", card.command),
            _ => return,
        };
        self.prompt.replace(&text);
        self.transcript.selected = None;
        self.transcript.go_to_bottom();
    }

    fn fold(&mut self, id: EntryId) {
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

    /// The mouse was pressed in that row: selects the card there; if it is selected already, expands it, or folds it back.
    pub(super) fn click(&mut self, row: u16) {
        match self.transcript.at_row(row) {
            Some(id) if self.transcript.selected == Some(id) => self.expand(),
            clicked => self.transcript.selected = clicked,
        }
    }
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;
