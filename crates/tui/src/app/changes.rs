//! Changes that calls made to files: the diff, and actions on change sets.

mod earlier_trials;

use super::{App, Effect, NO_COMMAND};
use crate::action_outcome::ActionOutcome;
use crate::change_actions::{self, ProposedAction};
use crate::change_work::{ChangeWork, ChangeWorkResult};
use crate::diff_state::{DiffRequest, DiffState};
use crate::questions::OpenQuestion;
use crate::transcript::{CardEntry, EntryId};
use agent_bash::ChangesAct;
use agent_bash::change_sets::ListedChanges;
use agent_bash::core::Request;
use agent_bash::core::changes::{Changes, ChangesId, ChangesState, TrialRequest};
use agent_bash::session::parse_bang;
use agent_bash_render::{CardChanges, DiffLine};
use crossterm::event::Event;
use std::time::Duration;

/// Hints for a trial that can no longer be committed. The stored command of an earlier run may be
/// cut, so the interface does not run it.
const TRY_AGAIN_HINT: &str = "→ `R` tries it again, on the files as they are now";
const COPY_OR_DISCARD_HINT: &str = "→ `Y` copies its command, `d` discards it";

/// Message while an action on a change set runs.
const BUSY_MESSAGE: &str = "Wait until the running action on changes is done.";

impl App {
    /// Returns the card that has the keys, and its changes.
    pub(crate) fn focused_changes(&self) -> Option<(EntryId, &CardChanges)> {
        let entry = self.focused_card()?;
        Some((entry, self.changes_of(entry)?))
    }

    /// Returns the present changes of a card.
    fn changes_of(&self, entry: EntryId) -> Option<&CardChanges> {
        self.transcript.get(entry)?.card.changes()
    }

    /// Stores the change sets of background processes on the cards of the commands that started
    /// them.
    pub(super) fn set_background_changes(
        &mut self,
        cards: Vec<(EntryId, ChangesId)>,
        background: &[ListedChanges],
    ) {
        for (entry, id) in cards {
            let sets = background.iter().filter(|set| set.after == Some(id));
            let sets = sets.map(|set| (set.changes.clone(), set.maybe_earlier));
            self.transcript
                .set_background_changes(entry, sets.collect());
        }
    }

    /// Opens the diff of the selected card. Returns true if the key is consumed.
    pub(super) fn show_diff(&mut self) -> bool {
        let Some((entry, set)) = self.focused_changes() else {
            let is_chosen = self.focused_card().is_some();
            if is_chosen {
                self.message =
                    Some("the call changed no file; esc goes back to the line".to_owned());
            }
            return is_chosen;
        };
        let is_undecided = change_actions::is_undecided(&set.set);
        // The change set of a call that changed nothing may no longer exist.
        let all = set
            .sets()
            .filter(|set| change_actions::no_diff_reason(set).is_none());
        let all: Vec<ChangesId> = all.map(|set| set.id).collect();
        if all.is_empty() {
            self.message = change_actions::no_diff_reason(&set.set);
            return true;
        }
        let (id, work) = (set.set.id, ChangeWork::Diff(all));
        self.effects.push(Effect::Changes { entry, id, work });
        if is_undecided {
            let work = ChangeWork::ReadState;
            self.effects.push(Effect::Changes { entry, id, work });
        }
        true
    }

    pub(super) fn change_work_done(
        &mut self,
        entry: EntryId,
        id: ChangesId,
        done: ChangeWorkResult,
        now: Duration,
    ) {
        match done {
            ChangeWorkResult::Diff(lines) => self.diff_read(entry, id, lines),
            ChangeWorkResult::StateRead(set) => self.trial_read(entry, set),
            ChangeWorkResult::Planned(planned) => self.action_proposed(entry, planned, now),
            ChangeWorkResult::ActionDone(outcome) => {
                self.is_changing = false;
                self.show_outcome(entry, *outcome);
            }
        }
    }

    /// Updates the card of a trial: shows the conflicts of an undecided trial, or the decision that
    /// another program has made.
    pub(super) fn trial_read(&mut self, entry: EntryId, set: Option<Box<Changes>>) {
        // A decision made in this interface is reported when it is carried out.
        let Some(set) = set.filter(|_| !self.is_changing) else {
            return;
        };
        let is_undecided = self
            .transcript
            .get(entry)
            .is_some_and(CardEntry::is_undecided);
        if !is_undecided {
            return;
        }
        if change_actions::is_undecided(&set) {
            self.transcript.change(entry, |entry| {
                if let Some(changes) = entry.card.changes_mut() {
                    changes.set = *set;
                }
            });
            return;
        }
        let line = change_actions::decided_text(&set);
        if self.focused_card() == Some(entry) {
            self.message = Some(line.trim_matches(['[', ']', '.']).to_owned());
        }
        let is_discarded = set.state == ChangesState::Discarded;
        let diff = self.diff.take();
        let outcome = ActionOutcome {
            lines: vec![line],
            sets: vec![*set],
            ..ActionOutcome::default()
        };
        self.show_outcome(entry, outcome);
        self.diff = diff.filter(|diff| diff.entry != entry || !is_discarded);
    }

    /// Starts checking whether trials with a card still await a decision: another program may
    /// decide about them.
    pub(super) fn read_undecided(&mut self) {
        let undecided = self.transcript.undecided();
        let id = |entry| Some((entry, self.changes_of(entry)?.set.id));
        let all: Vec<_> = undecided.filter_map(id).collect();
        if !all.is_empty() {
            self.effects.push(Effect::ReadUndecided(all));
        }
    }

    fn diff_read(&mut self, entry: EntryId, id: ChangesId, lines: Result<Vec<DiffLine>, String>) {
        match lines {
            Ok(lines) => {
                let command = self.transcript.get(entry).map_or("", CardEntry::command);
                self.diff = Some(DiffState::new(entry, id, command.to_owned(), lines));
            }
            Err(error) => self.message = Some(error),
        }
    }

    pub(super) fn diff_event(&mut self, event: &Event) {
        let Some(mut diff) = self.diff.take() else {
            return;
        };
        let entry = diff.entry;
        match diff.event(event, self.changes_of(entry)) {
            DiffRequest::Close => return,
            DiffRequest::Nothing => {}
            DiffRequest::Act(act) => {
                if let Some(busy) = self.propose_action(entry, act) {
                    diff.scroll.message = Some(busy);
                }
            }
        }
        self.diff = Some(diff);
    }

    /// Handles a key for the changes of the selected card. Returns true if the key is consumed. If
    /// the action is not available, a message says why.
    pub(super) fn act_on_key(&mut self, pressed: char) -> bool {
        let (Some(entry), Some(act)) =
            (self.focused_card(), change_actions::action_of_key(pressed))
        else {
            return false;
        };
        let set = self.changes_of(entry);
        self.message = match change_actions::unavailable_reason(act, set) {
            None => self.propose_action(entry, act),
            reason => reason,
        };
        true
    }

    /// Starts planning an action, about which a question follows. Returns a message if the action
    /// is not available.
    fn propose_action(&mut self, entry: EntryId, act: ChangesAct) -> Option<String> {
        if self.is_changing {
            return Some(BUSY_MESSAGE.to_owned());
        }
        let changes = self.changes_of(entry)?;
        let id = change_actions::target_set(act, changes).id;
        let work = if id == changes.set.id {
            ChangeWork::Plan(act)
        } else {
            ChangeWork::PlanForBackground(act, change_actions::background_sets(act, changes))
        };
        self.is_changing = true;
        self.effects.push(Effect::Changes { entry, id, work });
        None
    }

    /// Handles the key that undoes the selected card's changes and all later ones, or redoes them.
    /// Returns true if the key is consumed.
    pub(super) fn undo_since_card(&mut self) -> bool {
        let Some(entry) = self.focused_card() else {
            return false;
        };
        let changes = self.changes_of(entry);
        let Some((act, id)) = changes.and_then(change_actions::action_since) else {
            self.message = change_actions::unavailable_reason(ChangesAct::Undo, changes);
            return true;
        };
        if self.is_changing {
            self.message = Some(BUSY_MESSAGE.to_owned());
            return true;
        }
        self.is_changing = true;
        let work = ChangeWork::PlanSince(act);
        self.effects.push(Effect::Changes { entry, id, work });
        true
    }

    fn action_proposed(
        &mut self,
        entry: EntryId,
        planned: Result<Box<ProposedAction>, Box<ActionOutcome>>,
        now: Duration,
    ) {
        self.is_changing = false;
        let command = self.transcript.get(entry).map(CardEntry::command);
        match (planned, command) {
            (Ok(proposed), Some(command)) => {
                let command = command.to_owned();
                let waiting = OpenQuestion::Changes {
                    entry,
                    command,
                    proposed,
                };
                self.questions.push(waiting, now);
            }
            (Ok(_), None) => {}
            (Err(outcome), _) => self.show_outcome(entry, *outcome),
        }
    }

    /// Carries out an action that the user has confirmed.
    pub(super) fn act(&mut self, entry: EntryId, proposed: Box<ProposedAction>) {
        if self.is_changing {
            self.message = Some(BUSY_MESSAGE.to_owned());
            return;
        }
        self.is_changing = true;
        self.diff = None;
        self.transcript.change(entry, |entry| {
            if let Some(changes) = entry.card.changes_mut() {
                changes.action_lines = vec![proposed.busy_text().to_owned()];
                changes.refused = false;
            }
        });
        let id = proposed.id;
        let work = ChangeWork::Act(proposed);
        self.effects.push(Effect::Changes { entry, id, work });
    }

    /// Shows an outcome on a card.
    fn show_outcome(&mut self, entry: EntryId, outcome: ActionOutcome) {
        self.diff = None;
        self.transcript.update_sets(&outcome.sets);
        self.transcript.change(entry, |entry| {
            let hint = if entry.is_of_earlier_run() {
                COPY_OR_DISCARD_HINT
            } else {
                TRY_AGAIN_HINT
            };
            let may_still_run = outcome.refused && entry.has_survivors;
            let Some(changes) = entry.card.changes_mut() else {
                return;
            };
            let mut lines = outcome.lines;
            lines.extend(outcome.is_stale.then(|| hint.to_owned()));
            lines.extend(may_still_run.then(|| change_actions::MAY_STILL_RUN_HINT.to_owned()));
            changes.refused = outcome.refused || !outcome.not_done.is_empty();
            if outcome.refused {
                // The outcome of an earlier action stays true.
                changes.action_lines = lines;
            } else {
                changes.outcome = lines;
                changes.action_lines = outcome.not_done;
            }
        });
    }

    /// Runs the line as a trial, whose changes are held back. If there is no line, runs the
    /// selected command again.
    pub(super) fn run_as_trial(&mut self, now: Duration) {
        let text = self.prompt.text();
        let is_typed = !text.trim().is_empty();
        if !is_typed && self.is_of_earlier_run() {
            return;
        }
        let command = if is_typed {
            text
        } else {
            let chosen = self.transcript.current().map(CardEntry::command);
            chosen.unwrap_or_default().to_owned()
        };
        if parse_bang(&command).is_some() {
            self.message =
                Some("Only tool calls can run as a trial: leave out the `!`.".to_owned());
        } else if command.trim().is_empty() {
            self.message = Some(NO_COMMAND.to_owned());
        } else {
            let mut request = Request::new(command);
            request.trial = Some(TrialRequest::Hold);
            self.run_command_for_key(request, now);
        }
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
