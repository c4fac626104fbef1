//! Cards for trials of earlier runs that await a decision.

use crate::app::{App, Effect};
use crate::transcript::{Card, CardEntry};
use agent_bash::core::changes::{Changes, ChangesId};
use agent_bash_render::{CardChanges, CardState, ToolCard};
use std::time::Duration;

/// Number of trials that become cards at once.
const MAX_TRIALS: usize = 20;

/// The message if a key would run or type the command of a trial of an earlier run: the stored
/// command may be cut, and its secrets are removed.
const CUT_COMMAND_MESSAGE: &str = "the stored command may be cut: type it";

impl App {
    /// Starts reading trials of earlier runs if none has a card yet, or if the first undecided
    /// trial is selected. Returns true if it reads.
    pub(in crate::app) fn read_held_trials(&mut self) -> bool {
        let has_some = self.transcript.has_earlier();
        if self.held_trials.is_empty() || (has_some && !self.transcript.is_first_undecided()) {
            return false;
        }
        let from = self.held_trials.len().saturating_sub(MAX_TRIALS);
        let wanted = self.held_trials[from..].to_vec();
        self.effects.push(Effect::ReadHeldTrials(wanted));
        true
    }

    /// Adds cards for the trials that still await a decision. Then selects one, if
    /// `selects_trial_when_read` is set.
    pub(in crate::app) fn held_trials_read(&mut self, wanted: &[ChangesId], trials: Vec<Changes>) {
        self.held_trials.retain(|id| !wanted.contains(id));
        let shown = trials.len();
        for trial in trials.into_iter().rev() {
            self.transcript.add_earlier(trial_card(trial));
        }
        let shows_more =
            !std::mem::take(&mut self.selects_trial_when_read) || self.select_next_trial();
        if shows_more && !self.held_trials.is_empty() {
            let (newest, all) = (shown, shown + self.held_trials.len());
            self.message = Some(format!(
                "{newest} of {all} trials of earlier runs are cards now: f6 beyond them shows more"
            ));
        }
    }

    /// Selects the next trial, and starts checking undecided trials for conflicts. Returns false,
    /// with a message, if there is none.
    pub(in crate::app) fn select_next_trial(&mut self) -> bool {
        if !self.transcript.select_undecided() {
            self.message = Some("no trial waits for your decision".to_owned());
            return false;
        }
        self.read_undecided();
        true
    }

    /// Returns true if the selected card is of an earlier run. In that case, sets a message that
    /// the command cannot be run again.
    pub(in crate::app) fn is_of_earlier_run(&mut self) -> bool {
        let is_earlier = self
            .transcript
            .current()
            .is_some_and(CardEntry::is_of_earlier_run);
        if is_earlier {
            self.message = Some(CUT_COMMAND_MESSAGE.to_owned());
        }
        is_earlier
    }
}

fn trial_card(trial: Changes) -> Card {
    let command = trial.command.clone();
    let mut card = ToolCard::new(command.unwrap_or_else(|| format!("# trial {}", trial.id)));
    card.state = CardState::Earlier;
    card.elapsed = Duration::ZERO;
    card.changes = Some(CardChanges::new(trial));
    Card::Tool(Box::new(card))
}

#[cfg(test)]
#[path = "earlier_trials_tests.rs"]
mod tests;
