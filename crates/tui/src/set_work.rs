//! Reads, looks at and changes what is kept of a call's changes. All of it blocks, so it runs apart from the event loop.

use crate::action_outcome::{ASK_AGAIN, ActionOutcome, named, refusal};
use crate::change_actions::{Proposed, decided_text};
use crate::{background_changes, diff_state};
use agent_bash::core::changes::{
    ChangeCounts, Changes, ChangesId, ChangesState, changed_by_text, conflict_text,
    not_redone_text, not_undone_text,
};
use agent_bash::{ChangeSets, ChangesAct, ChangesRefused};
use agent_bash_render::DiffLine;

/// What is wanted of a card's changes.
#[derive(Debug)]
pub(crate) enum Wish {
    /// The diff of these of a card's sets: its own, if that has any, and those by what the command left running.
    Diff(Vec<ChangesId>),
    /// To know what has become of them: whether somebody has changed a file meanwhile.
    Show,
    /// To know what this would do now.
    Look(ChangesAct),
    /// The same with all of these by what the command left running, in this order.
    LookLater(ChangesAct, Vec<ChangesId>),
    /// To have it done.
    Act(Box<Proposed>),
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum SetWorkDone {
    Diff(Result<Vec<DiffLine>, String>),
    Shown(Option<Box<Changes>>),
    /// What would be done, or why it cannot be.
    Looked(Result<Box<Proposed>, Box<ActionOutcome>>),
    Done(Box<ActionOutcome>),
}

/// Reads, looks or does it. Blocks.
pub(crate) fn carry_out(sets: &ChangeSets, id: ChangesId, wish: &Wish) -> SetWorkDone {
    match wish {
        Wish::Diff(all) => {
            // Of what is gone by now there is none.
            let set = sets.show(id).ok();
            match set.filter(|set| set.state == ChangesState::Discarded && all[..] == [id]) {
                Some(set) => SetWorkDone::Shown(Some(Box::new(set))),
                None => SetWorkDone::Diff(
                    diff_state::read_all(sets, id, all).map_err(|error| error.to_string()),
                ),
            }
        }
        Wish::Show => SetWorkDone::Shown(sets.show(id).ok().map(Box::new)),
        Wish::Look(act) => SetWorkDone::Looked(look(sets, id, *act)),
        Wish::LookLater(act, all) => SetWorkDone::Looked(background_changes::look(sets, *act, all)),
        Wish::Act(proposed) if proposed.is_late => {
            SetWorkDone::Done(Box::new(background_changes::done(sets, proposed)))
        }
        Wish::Act(proposed) => SetWorkDone::Done(Box::new(done(sets, proposed))),
    }
}

/// What an act would do now, or why it cannot be done.
fn look(
    sets: &ChangeSets,
    id: ChangesId,
    act: ChangesAct,
) -> Result<Box<Proposed>, Box<ActionOutcome>> {
    let proposed = match act {
        ChangesAct::Commit | ChangesAct::Discard => match sets.show(id) {
            Ok(set) if set.state != ChangesState::Held => return Err(Box::new(decided(set))),
            set => set.map(|set| held(set, act)),
        },
        ChangesAct::Undo | ChangesAct::Redo => turned(sets, id, act),
    };
    let mut proposed = proposed.map_err(|error| Box::new(refused(sets, id, &error.to_string())))?;
    let Some((first, others)) = proposed.conflicts.split_first() else {
        return Ok(proposed);
    };
    let mut by = sets.changed_by(id, &proposed.conflicts);
    by.resize(proposed.conflicts.len(), None);
    let line = match act {
        ChangesAct::Discard => return Ok(proposed),
        ChangesAct::Commit => match &by[0] {
            Some(command) => format!("not applied: {}", changed_by_text(first, command)),
            None => conflict_text(id, first),
        },
        ChangesAct::Redo => not_redone_text(first),
        // What is free of them is offered by itself.
        ChangesAct::Undo if !proposed.files.is_empty() => {
            proposed.partial = true;
            return Ok(proposed);
        }
        ChangesAct::Undo => not_undone_text(first, 0),
    };
    let mut said = refused(sets, id, &line);
    said.lines.extend(named(others, &by[1..]));
    said.is_stale = act == ChangesAct::Commit;
    Err(Box::new(said))
}

/// Somebody else has decided about it meanwhile: there is nothing to be asked.
fn decided(set: Changes) -> ActionOutcome {
    ActionOutcome {
        lines: vec![decided_text(&set)],
        sets: vec![set],
        ..ActionOutcome::default()
    }
}

fn held(set: Changes, act: ChangesAct) -> Box<Proposed> {
    Box::new(Proposed {
        act,
        id: set.id,
        then: Vec::new(),
        partial: false,
        is_late: false,
        between: Vec::new(),
        root: set.root,
        counts: set.counts,
        files: set.files,
        more: set.more,
        conflicts: set.conflicts,
    })
}

fn turned(
    sets: &ChangeSets,
    id: ChangesId,
    act: ChangesAct,
) -> Result<Box<Proposed>, ChangesRefused> {
    let root = sets.show(id)?.root;
    let preview = sets.preview(id, act == ChangesAct::Redo)?;
    Ok(Box::new(Proposed {
        act,
        id,
        then: Vec::new(),
        partial: false,
        is_late: false,
        between: Vec::new(),
        root,
        counts: ChangeCounts::of(&preview.free),
        files: preview.free,
        more: 0,
        conflicts: preview.conflicts,
    }))
}

fn done(sets: &ChangeSets, proposed: &Proposed) -> ActionOutcome {
    let id = proposed.id;
    let done = match proposed.act {
        ChangesAct::Commit => sets.commit(id),
        ChangesAct::Discard => sets.discard(id),
        ChangesAct::Undo => sets.undo(id, &[], proposed.partial),
        ChangesAct::Redo => sets.redo(id),
    };
    match done {
        Ok(done) => ActionOutcome {
            sets: sets.show(id).into_iter().collect(),
            lines: done.text.lines().map(str::to_owned).collect(),
            ..ActionOutcome::default()
        },
        Err(error) => {
            let mut said = refused(sets, id, &refusal(&error));
            said.is_stale =
                matches!(error, ChangesRefused::Conflict(_)) && proposed.act == ChangesAct::Commit;
            // Somebody has changed a file while the question was open.
            if let ChangesRefused::Conflict(conflict) = &error
                && (proposed.act, proposed.partial) == (ChangesAct::Undo, false)
                && conflict.free > 0
            {
                said.lines.push(ASK_AGAIN.to_owned());
            }
            said
        }
    }
}

fn refused(sets: &ChangeSets, id: ChangesId, text: &str) -> ActionOutcome {
    ActionOutcome {
        sets: sets.show(id).into_iter().collect(),
        lines: text.lines().map(str::to_owned).collect(),
        refused: true,
        ..ActionOutcome::default()
    }
}
