//! Undoes or redoes a card's changes and all later ones: all of them, or none.

use crate::action_outcome::{ActionOutcome, refusal_text};
use crate::change_actions::ProposedAction;
use agent_bash::change_sets::ChangesScope;
use agent_bash::core::changes::{ChangesId, FileChange};
use agent_bash::{ChangeSets, ChangesAct, ChangesRefused};
use agent_bash_render::call_summary::merge_file_changes;

/// Plans the action for the change set `first` and all later ones. If that is not possible, returns
/// the refusal. Blocks.
pub(crate) fn plan(
    sets: &ChangeSets,
    first: ChangesId,
    act: ChangesAct,
) -> Result<Box<ProposedAction>, Box<ActionOutcome>> {
    let scope = ChangesScope::From(first);
    let is_redo = act == ChangesAct::Redo;
    let failed = |error: &ChangesRefused| Box::new(refused(sets, first, error));
    let preview = sets.preview_group(&scope, is_redo);
    let preview = preview.map_err(|error| failed(&error))?;
    if let Some(obstacles) = preview.obstacles() {
        let refused = ChangesRefused::Group(sets.group_refused(is_redo, obstacles));
        return Err(failed(&refused));
    }
    let ids: Vec<ChangesId> = preview.sets.iter().map(|set| set.id).collect();
    let mut roots: Vec<&str> = preview.sets.iter().map(|set| set.root.as_str()).collect();
    roots.sort_unstable();
    roots.dedup();
    let root = roots.join(", ");
    let is_one_root = roots.len() == 1;
    let steps = preview.sets.into_iter().flat_map(|set| set.files);
    let mut files: Vec<FileChange> = steps.collect();
    // Equal names in several directories are different files.
    if is_one_root {
        files = merge_file_changes(files);
    }
    let Some((id, further_ids)) = ids.split_first() else {
        return Err(failed(&ChangesRefused::NotAllowed(
            "nothing is left to be done".to_owned(),
        )));
    };
    Ok(Box::new(ProposedAction {
        further_ids: further_ids.to_vec(),
        scope: Some(scope),
        ..ProposedAction::of(act, *id, root, files)
    }))
}

/// Carries out the plan. Blocks.
pub(crate) fn carry_out(sets: &ChangeSets, proposed: &ProposedAction) -> ActionOutcome {
    let Some(scope) = &proposed.scope else {
        return ActionOutcome::default();
    };
    let done = match proposed.act {
        ChangesAct::Redo => sets.redo_group(scope),
        _ => sets.undo_group(scope, false),
    };
    match done {
        Ok(done) => ActionOutcome::of(sets, &done.sets, &done.text),
        Err(error) => refused(sets, proposed.id, &error),
    }
}

fn refused(sets: &ChangeSets, id: ChangesId, error: &ChangesRefused) -> ActionOutcome {
    ActionOutcome::refused(sets, &[id], &refusal_text(error))
}
