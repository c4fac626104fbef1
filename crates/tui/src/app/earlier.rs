//! Cards for trials of earlier runs that await a decision.

use super::{App, Effect};
use crate::transcript::{Card, CardEntry};
use agent_bash::core::changes::{Changes, ChangesId};
use agent_bash_render::{CardChanges, CardState, ToolCard};
use std::time::Duration;

/// Number of trials that become cards at once.
const MAX_TRIALS: usize = 20;

/// Message where the command of such a card would be run or typed: the stored command may be cut,
/// and has no secrets.
const CUT_COMMAND_MESSAGE: &str = "the stored command may be cut: type it";

impl App {
    /// Returns true if trials of earlier runs must be read before one is selected: at first, and
    /// when the last card is reached.
    pub(super) fn reads_held(&mut self) -> bool {
        let has_some = self.transcript.has_earlier();
        if self.held.is_empty() || (has_some && !self.transcript.is_first_undecided()) {
            return false;
        }
        let from = self.held.len().saturating_sub(MAX_TRIALS);
        let wanted = self.held[from..].to_vec();
        self.effects.push(Effect::ReadHeld(wanted));
        true
    }

    /// Takes in trials that were read. Those that still await a decision become cards, and a
    /// selection that was put off takes place.
    pub(super) fn held_read(&mut self, wanted: &[ChangesId], trials: Vec<Changes>) {
        self.held.retain(|id| !wanted.contains(id));
        let shown = trials.len();
        for trial in trials.into_iter().rev() {
            self.transcript.add_earlier(card(trial));
        }
        let shows_more = !std::mem::take(&mut self.awaits_held) || self.select_held();
        if shows_more && !self.held.is_empty() {
            let (newest, all) = (shown, shown + self.held.len());
            self.message = Some(format!(
                "{newest} of {all} trials of earlier runs are cards now: f6 beyond them shows more"
            ));
        }
    }

    /// Selects the next trial, and starts finding out the conflicts of undecided trials. If there
    /// is none, a message says so.
    pub(super) fn select_held(&mut self) -> bool {
        if !self.transcript.select_undecided() {
            self.message = Some("no trial waits for your decision".to_owned());
            return false;
        }
        self.look_at_undecided();
        true
    }

    /// Returns true if the selected card is of an earlier run. Sets a message that its command
    /// cannot be run again.
    pub(super) fn is_of_earlier_run(&mut self) -> bool {
        let is_it = self
            .transcript
            .current()
            .is_some_and(CardEntry::is_of_earlier_run);
        if is_it {
            self.message = Some(CUT_COMMAND_MESSAGE.to_owned());
        }
        is_it
    }
}

fn card(trial: Changes) -> Card {
    let command = trial.command.clone();
    let mut card = ToolCard::new(command.unwrap_or_else(|| format!("# trial {}", trial.id)));
    card.state = CardState::Earlier;
    card.elapsed = Duration::ZERO;
    card.changes = Some(CardChanges::new(trial));
    Card::Tool(Box::new(card))
}

#[cfg(test)]
#[path = "earlier_tests.rs"]
mod tests;
