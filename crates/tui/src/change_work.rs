//! Plans and carries out actions on a call's change sets, and reads their diffs. Blocks, so it runs
//! outside of the event loop.

use crate::action_outcome::{ActionOutcome, UNDO_OTHERS_HINT, conflict_lines, refusal_text};
use crate::change_actions::{ProposedAction, decided_text};
use crate::{background_changes, changes_since, diff_state};
use agent_bash::core::changes::{
    Changes, ChangesId, ChangesState, changed_by_text, conflict_text, not_redone_text,
    not_undone_text,
};
use agent_bash::{ChangeSets, ChangesAct, ChangesRefused};
use agent_bash_render::DiffLine;

/// Work on a card's changes.
#[derive(Debug)]
pub(crate) enum ChangeWork {
    /// Reads the diff of these change sets of a card: the one of the command, if it changed files,
    /// and the ones of background processes.
    Diff(Vec<ChangesId>),
    /// Reads the present state, with the files that were changed since.
    ReadState,
    /// Plans an action.
    Plan(ChangesAct),
    /// Plans an action on these change sets of background processes, in this order.
    PlanForBackground(ChangesAct, Vec<ChangesId>),
    /// Plans an undo or redo of this change set and all later ones.
    PlanSince(ChangesAct),
    /// Carries out an action.
    Act(Box<ProposedAction>),
}

#[derive(Debug)]
pub(crate) enum ChangeWorkResult {
    Diff(Result<Vec<DiffLine>, String>),
    StateRead(Option<Box<Changes>>),
    /// The plan, or why the action is not possible.
    Planned(Result<Box<ProposedAction>, Box<ActionOutcome>>),
    ActionDone(Box<ActionOutcome>),
}

/// Does `work` on the change set `id`. Blocks.
pub(crate) fn carry_out(sets: &ChangeSets, id: ChangesId, work: &ChangeWork) -> ChangeWorkResult {
    match work {
        ChangeWork::Diff(all) => {
            // A deleted change set has no state; reading its diff returns the error.
            let set = sets.show(id).ok();
            match set.filter(|set| set.state == ChangesState::Discarded && all[..] == [id]) {
                Some(set) => ChangeWorkResult::StateRead(Some(Box::new(set))),
                None => ChangeWorkResult::Diff(
                    diff_state::read_all(sets, id, all).map_err(|error| error.to_string()),
                ),
            }
        }
        ChangeWork::ReadState => ChangeWorkResult::StateRead(sets.show(id).ok().map(Box::new)),
        ChangeWork::Plan(act) => ChangeWorkResult::Planned(plan(sets, id, *act)),
        ChangeWork::PlanForBackground(act, all) => {
            ChangeWorkResult::Planned(background_changes::plan(sets, *act, all))
        }
        ChangeWork::PlanSince(act) => {
            ChangeWorkResult::Planned(changes_since::plan(sets, id, *act))
        }
        ChangeWork::Act(proposed) if proposed.scope.is_some() => {
            ChangeWorkResult::ActionDone(Box::new(changes_since::carry_out(sets, proposed)))
        }
        ChangeWork::Act(proposed) if proposed.is_background => {
            ChangeWorkResult::ActionDone(Box::new(background_changes::carry_out(sets, proposed)))
        }
        ChangeWork::Act(proposed) => {
            ChangeWorkResult::ActionDone(Box::new(run_action(sets, proposed)))
        }
    }
}

/// Plans an action. If the action is not possible, returns the refusal.
fn plan(
    sets: &ChangeSets,
    id: ChangesId,
    act: ChangesAct,
) -> Result<Box<ProposedAction>, Box<ActionOutcome>> {
    let refused = |text: &str| ActionOutcome::refused(sets, &[id], text);
    let proposed = match act {
        ChangesAct::Commit | ChangesAct::Discard => match sets.show(id) {
            Ok(set) if set.state != ChangesState::Held => {
                return Err(Box::new(decided_outcome(set)));
            }
            set => set.map(|set| plan_for_trial(set, act)),
        },
        ChangesAct::Undo | ChangesAct::Redo => plan_inversion(sets, id, act),
    };
    let mut proposed = proposed.map_err(|error| Box::new(refused(&error.to_string())))?;
    let Some((first, others)) = proposed.conflicts.split_first() else {
        return Ok(proposed);
    };
    let mut changed_by = sets.changed_by(id, &proposed.conflicts);
    changed_by.resize(proposed.conflicts.len(), None);
    let line = match act {
        ChangesAct::Discard => return Ok(proposed),
        ChangesAct::Commit => match &changed_by[0] {
            Some(command) => format!("not applied: {}", changed_by_text(first, command)),
            None => conflict_text(id, first),
        },
        ChangesAct::Redo => not_redone_text(first),
        // The files without a conflict are offered separately.
        ChangesAct::Undo if !proposed.files.is_empty() => {
            proposed.skips_conflicts = true;
            return Ok(proposed);
        }
        ChangesAct::Undo => not_undone_text(first, 0),
    };
    let mut outcome = refused(&line);
    outcome
        .lines
        .extend(conflict_lines(others, &changed_by[1..]));
    outcome.is_stale = act == ChangesAct::Commit;
    Err(Box::new(outcome))
}

/// The outcome for a trial that another program has decided about: the user is not asked.
fn decided_outcome(set: Changes) -> ActionOutcome {
    ActionOutcome {
        lines: vec![decided_text(&set)],
        sets: vec![set],
        ..ActionOutcome::default()
    }
}

fn plan_for_trial(set: Changes, act: ChangesAct) -> Box<ProposedAction> {
    Box::new(ProposedAction {
        counts: set.counts,
        more: set.more,
        conflicts: set.conflicts,
        ..ProposedAction::of(act, set.id, set.root, set.files)
    })
}

fn plan_inversion(
    sets: &ChangeSets,
    id: ChangesId,
    act: ChangesAct,
) -> Result<Box<ProposedAction>, ChangesRefused> {
    let root = sets.show(id)?.root;
    let preview = sets.preview(id, act == ChangesAct::Redo)?;
    Ok(Box::new(ProposedAction {
        conflicts: preview.conflicts,
        ..ProposedAction::of(act, id, root, preview.without_conflict)
    }))
}

fn run_action(sets: &ChangeSets, proposed: &ProposedAction) -> ActionOutcome {
    let id = proposed.id;
    let done = match proposed.act {
        ChangesAct::Commit => sets.commit(id),
        ChangesAct::Discard => sets.discard(id),
        ChangesAct::Undo => sets.undo(id, &[], proposed.skips_conflicts),
        ChangesAct::Redo => sets.redo(id),
    };
    match done {
        Ok(done) => ActionOutcome::of(sets, &[id], &done.text),
        Err(error) => {
            let mut outcome = ActionOutcome::refused(sets, &[id], &refusal_text(&error));
            outcome.is_stale =
                matches!(error, ChangesRefused::Conflict(_)) && proposed.act == ChangesAct::Commit;
            // A file was changed while the question was shown.
            if let ChangesRefused::Conflict(conflict) = &error
                && (proposed.act, proposed.skips_conflicts) == (ChangesAct::Undo, false)
                && conflict.without_conflict > 0
            {
                outcome.lines.push(UNDO_OTHERS_HINT.to_owned());
            }
            outcome
        }
    }
}
