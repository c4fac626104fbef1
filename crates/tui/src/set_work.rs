//! Reads, looks at and changes what is kept of a call's changes. All of it blocks, so it runs apart from the event loop.

use crate::deeds::Proposed;
use crate::diff_state;
use agent_bash::core::changes::{
    ChangeCounts, Changes, ChangesId, changed_by_text, conflict_text, counted, not_redone_text,
    not_undone_text,
};
use agent_bash::core::visible::one_line;
use agent_bash::{ChangeSets, ChangesAct, ChangesRefused};
use agent_bash_render::DiffLine;

/// Files of a set that somebody else has changed, which are named on a card.
const NAMED: usize = 3;

/// Which key leads to what a refusal says can be done.
const ASK_AGAIN: &str = "→ `u` again asks whether to undo only those";

/// What is wanted of a card's changes.
#[derive(Debug)]
pub(crate) enum Wish {
    /// The diff of these of a card's sets: its own, if that has any, and those by what the command left running.
    Diff(Vec<ChangesId>),
    /// To know what has become of them: whether somebody has changed a file meanwhile.
    Show,
    /// To know what this would do now.
    Look(ChangesAct),
    /// To have it done.
    Act(Box<Proposed>),
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Came {
    Diff(Result<Vec<DiffLine>, String>),
    Shown(Option<Box<Changes>>),
    /// What would be done, or why it cannot be.
    Looked(Result<Box<Proposed>, Box<Said>>),
    Done(Box<Said>),
}

/// Reads, looks or does it. Blocks.
pub(crate) fn carry_out(sets: &ChangeSets, id: ChangesId, wish: &Wish) -> Came {
    match wish {
        Wish::Diff(all) => {
            Came::Diff(diff_state::read_all(sets, id, all).map_err(|error| error.to_string()))
        }
        Wish::Show => Came::Shown(sets.show(id).ok().map(Box::new)),
        Wish::Look(act) => Came::Looked(look(sets, id, *act)),
        Wish::Act(proposed) => Came::Done(Box::new(done(sets, proposed))),
    }
}

/// What came of a look at a set, or of something that was done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// The set as it is now, if it is still there.
    pub(crate) set: Option<Changes>,
    pub(crate) lines: Vec<String>,
    /// Nothing was done.
    pub(crate) refused: bool,
    /// It was not committed, as files were changed since: to try its command again may help.
    pub(crate) is_stale: bool,
}

/// What an act would do now, or why it cannot be done.
fn look(sets: &ChangeSets, id: ChangesId, act: ChangesAct) -> Result<Box<Proposed>, Box<Said>> {
    let proposed = match act {
        ChangesAct::Commit | ChangesAct::Discard => held(sets, id, act),
        ChangesAct::Undo | ChangesAct::Redo => turned(sets, id, act),
    };
    let mut proposed = proposed.map_err(|error| Box::new(refused(sets, id, &error.to_string())))?;
    let Some((first, others)) = proposed.conflicts.split_first() else {
        return Ok(proposed);
    };
    let by = sets.changed_by(id, &proposed.conflicts);
    let by = |at: usize| by.get(at).and_then(Option::as_deref);
    let line = match act {
        ChangesAct::Discard => return Ok(proposed),
        ChangesAct::Commit => match by(0) {
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
    let names = others.iter().take(NAMED).zip(1..);
    said.lines.extend(names.map(|(name, at)| match by(at) {
        Some(command) => changed_by_text(name, command),
        None => format!("changed, too: {}", one_line(&name.path)),
    }));
    let more = others.len().saturating_sub(NAMED) as u64;
    said.lines
        .extend((more > 0).then(|| format!("and {} more", counted(more))));
    said.is_stale = act == ChangesAct::Commit;
    Err(Box::new(said))
}

fn held(
    sets: &ChangeSets,
    id: ChangesId,
    act: ChangesAct,
) -> Result<Box<Proposed>, ChangesRefused> {
    let set = sets.show(id)?;
    Ok(Box::new(Proposed {
        act,
        id,
        partial: false,
        is_late: false,
        root: set.root,
        counts: set.counts,
        files: set.files,
        more: set.more,
        conflicts: set.conflicts,
    }))
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
        partial: false,
        is_late: false,
        root,
        counts: ChangeCounts::of(&preview.free),
        files: preview.free,
        more: 0,
        conflicts: preview.conflicts,
    }))
}

fn done(sets: &ChangeSets, proposed: &Proposed) -> Said {
    let id = proposed.id;
    let done = match proposed.act {
        ChangesAct::Commit => sets.commit(id),
        ChangesAct::Discard => sets.discard(id),
        ChangesAct::Undo => sets.undo(id, &[], proposed.partial),
        ChangesAct::Redo => sets.redo(id),
    };
    match done {
        Ok(done) => Said {
            set: sets.show(id).ok(),
            lines: done.text.lines().map(str::to_owned).collect(),
            refused: false,
            is_stale: false,
        },
        Err(error) => {
            let text = match &error {
                ChangesRefused::Conflict(conflict) => conflict.for_people(),
                other => other.to_string(),
            };
            let mut said = refused(sets, id, &text);
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

fn refused(sets: &ChangeSets, id: ChangesId, text: &str) -> Said {
    Said {
        set: sets.show(id).ok(),
        lines: text.lines().map(str::to_owned).collect(),
        refused: true,
        is_stale: false,
    }
}
