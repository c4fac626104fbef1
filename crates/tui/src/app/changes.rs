//! What calls did to files: the diff, and what is done with their changes.

use super::{App, Effect, NO_COMMAND};
use crate::action_outcome::ActionOutcome;
use crate::change_actions::{self, Proposed};
use crate::diff_state::{DiffRequest, DiffState};
use crate::questions::Waiting;
use crate::set_work::{SetWorkDone, Wish};
use crate::transcript::{CardEntry, EntryId};
use agent_bash::ChangesAct;
use agent_bash::change_sets::Listed;
use agent_bash::core::Request;
use agent_bash::core::changes::{Changes, ChangesId, ChangesState, TrialRequest};
use agent_bash::session::parse_bang;
use agent_bash_render::{CardChanges, DiffLine};
use crossterm::event::Event;
use std::time::Duration;

/// What can be done about a trial that can no longer be committed. Of the command of an earlier run what is kept may be cut, so
/// that it is not run from here.
const TRY_AGAIN: &str = "→ `R` tries it again, on what is there now";
const COPY_OR_DISCARD: &str = "→ `Y` copies its command, `d` discards it";

/// While something is done with a set.
const BUSY: &str = "Wait until what is being done with changes is done.";

impl App {
    /// The card that has the keys, and its changes.
    pub(crate) fn chosen_changes(&self) -> Option<(EntryId, &CardChanges)> {
        let entry = self.chosen_card()?;
        Some((entry, self.set_of(entry)?))
    }

    /// The changes of a card as they are now.
    fn set_of(&self, entry: EntryId) -> Option<&CardChanges> {
        self.transcript.get(entry)?.card.changes()
    }

    /// What cards' commands have left running has changed this.
    pub(super) fn late_is(&mut self, of: Vec<(EntryId, ChangesId)>, late: &[Listed]) {
        for (entry, id) in of {
            let own = late.iter().filter(|set| set.after == Some(id));
            let own = own.map(|set| (set.changes.clone(), set.or_earlier));
            self.transcript.late_is(entry, own.collect());
        }
    }

    /// Opens the diff of the selected card. Returns whether the key was for that.
    pub(super) fn show_diff(&mut self) -> bool {
        let Some((entry, set)) = self.chosen_changes() else {
            let is_chosen = self.chosen_card().is_some();
            if is_chosen {
                self.message = Some("it has changed no file; esc goes back to the line".to_owned());
            }
            return is_chosen;
        };
        let waits = change_actions::is_undecided(&set.set);
        // That of a call which changed nothing may not be there any more.
        let all = set
            .sets()
            .filter(|set| change_actions::no_diff(set).is_none());
        let all: Vec<ChangesId> = all.map(|set| set.id).collect();
        if all.is_empty() {
            self.message = change_actions::no_diff(&set.set);
            return true;
        }
        let (id, wish) = (set.set.id, Wish::Diff(all));
        self.effects.push(Effect::Changes { entry, id, wish });
        if waits {
            let wish = Wish::Show;
            self.effects.push(Effect::Changes { entry, id, wish });
        }
        true
    }

    pub(super) fn set_work_done(
        &mut self,
        entry: EntryId,
        id: ChangesId,
        came: SetWorkDone,
        now: Duration,
    ) {
        match came {
            SetWorkDone::Diff(lines) => self.diff_read(entry, id, lines),
            SetWorkDone::Shown(set) => self.shown(entry, set),
            SetWorkDone::Looked(looked) => self.looked(entry, looked, now),
            SetWorkDone::Done(said) => {
                self.is_changing = false;
                self.show_outcome(entry, *said);
            }
        }
    }

    /// Of a trial that still waits, what is in its way by now is said; of one that somebody else has decided about, that.
    pub(super) fn shown(&mut self, entry: EntryId, set: Option<Box<Changes>>) {
        // What is decided here is told when it is done.
        let Some(set) = set.filter(|_| !self.is_changing) else {
            return;
        };
        let waits = self
            .transcript
            .get(entry)
            .is_some_and(CardEntry::is_undecided);
        if !waits {
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
        if self.chosen_card() == Some(entry) {
            self.message = Some(line.trim_matches(['[', ']', '.']).to_owned());
        }
        let is_gone = set.state == ChangesState::Discarded;
        let diff = self.diff.take();
        let said = ActionOutcome {
            lines: vec![line],
            sets: vec![*set],
            ..ActionOutcome::default()
        };
        self.show_outcome(entry, said);
        self.diff = diff.filter(|diff| diff.entry != entry || !is_gone);
    }

    /// Whether trials that are cards still wait is looked at again: what decides them may be another program.
    pub(super) fn look_at_undecided(&mut self) {
        let undecided = self.transcript.undecided();
        let id = |entry| Some((entry, self.set_of(entry)?.set.id));
        let all: Vec<_> = undecided.filter_map(id).collect();
        if !all.is_empty() {
            self.effects.push(Effect::LookAtUndecided(all));
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
        match diff.event(event, self.set_of(entry)) {
            DiffRequest::Close => return,
            DiffRequest::Nothing => {}
            DiffRequest::Act(act) => {
                if let Some(busy) = self.look_at(entry, act) {
                    diff.message = Some(busy);
                }
            }
        }
        self.diff = Some(diff);
    }

    /// A key for the changes of the selected card. Returns whether it was one. If that cannot be done, it is said and not
    /// typed: whoever has selected a card means it.
    pub(super) fn act_by(&mut self, pressed: char) -> bool {
        let (Some(entry), Some(act)) = (self.chosen_card(), change_actions::act_by(pressed)) else {
            return false;
        };
        let set = self.set_of(entry);
        self.message = match change_actions::unavailable_reason(act, set) {
            None => self.look_at(entry, act),
            hindrance => hindrance,
        };
        true
    }

    /// Looks what would be done; the question follows. Returns why not.
    fn look_at(&mut self, entry: EntryId, act: ChangesAct) -> Option<String> {
        if self.is_changing {
            return Some(BUSY.to_owned());
        }
        let changes = self.set_of(entry)?;
        let id = change_actions::target(act, changes).id;
        let wish = if id == changes.set.id {
            Wish::Look(act)
        } else {
            Wish::LookLater(act, change_actions::all_later(act, changes))
        };
        self.is_changing = true;
        self.effects.push(Effect::Changes { entry, id, wish });
        None
    }

    fn looked(
        &mut self,
        entry: EntryId,
        looked: Result<Box<Proposed>, Box<ActionOutcome>>,
        now: Duration,
    ) {
        self.is_changing = false;
        let command = self.transcript.get(entry).map(CardEntry::command);
        match (looked, command) {
            (Ok(proposed), Some(command)) => {
                let command = command.to_owned();
                let waiting = Waiting::Changes {
                    entry,
                    command,
                    proposed,
                };
                self.questions.push(waiting, now);
            }
            (Ok(_), None) => {}
            (Err(said), _) => self.show_outcome(entry, *said),
        }
    }

    /// The person wants it.
    pub(super) fn act(&mut self, entry: EntryId, proposed: Box<Proposed>) {
        if self.is_changing {
            self.message = Some(BUSY.to_owned());
            return;
        }
        self.is_changing = true;
        self.diff = None;
        self.transcript.change(entry, |entry| {
            if let Some(changes) = entry.card.changes_mut() {
                changes.aside = vec![proposed.busy().to_owned()];
                changes.refused = false;
            }
        });
        let id = proposed.id;
        let wish = Wish::Act(proposed);
        self.effects.push(Effect::Changes { entry, id, wish });
    }

    /// What is to be said of a card's changes, on it.
    fn show_outcome(&mut self, entry: EntryId, said: ActionOutcome) {
        self.diff = None;
        self.transcript.change(entry, |entry| {
            let way = if entry.is_of_earlier_run() {
                COPY_OR_DISCARD
            } else {
                TRY_AGAIN
            };
            let may_go_on = said.refused && entry.goes_on;
            let Some(changes) = entry.card.changes_mut() else {
                return;
            };
            let mut lines = said.lines;
            lines.extend(said.is_stale.then(|| way.to_owned()));
            lines.extend(may_go_on.then(|| change_actions::MAY_GO_ON.to_owned()));
            for mut set in said.sets {
                let late = changes.background.iter_mut().map(|(late, _)| late);
                let mut all = std::iter::once(&mut changes.set).chain(late);
                if let Some(known) = all.find(|known| known.id == set.id) {
                    // Of what was discarded nothing is left to count.
                    if set.counts.total() == 0 {
                        set.counts = known.counts;
                    }
                    *known = set;
                }
            }
            changes.refused = said.refused || !said.not_done.is_empty();
            if said.refused {
                // What was done before is as true.
                changes.aside = lines;
            } else {
                changes.outcome = lines;
                changes.aside = said.not_done;
            }
        });
    }

    /// Runs the line as a trial, whose changes are held back, or the selected command again if there is no line.
    pub(super) fn try_it(&mut self, now: Duration) {
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
            self.message = Some("Only tool calls can be tried: leave out the `!`.".to_owned());
        } else if command.trim().is_empty() {
            self.message = Some(NO_COMMAND.to_owned());
        } else {
            let mut request = Request::new(command);
            request.trial = Some(TrialRequest::Hold);
            self.run_wanted(request, now);
        }
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
