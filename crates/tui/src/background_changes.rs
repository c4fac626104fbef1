//! Changes by a command's background processes. Their change sets, one per line typed meanwhile,
//! are shown, undone and redone as one.

use crate::action_outcome::{ActionOutcome, UNDO_OTHERS_HINT, conflict_lines, refusal_text};
use crate::change_actions::{self, ProposedAction};
use agent_bash::core::changes::{
    ChangesId, FileChange, FileName, counted, not_redone_text, not_undone_text,
};
use agent_bash::core::visible::one_line;
use agent_bash::{ChangeSets, ChangesAct, ChangesDone, ChangesRefused};
use agent_bash_render::call_summary::merge_file_changes;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// Plans an undo or redo of all these change sets, in this order. If that is not possible, returns
/// the refusal. Blocks.
pub(crate) fn plan(
    sets: &ChangeSets,
    act: ChangesAct,
    ids: &[ChangesId],
) -> Result<Box<ProposedAction>, Box<ActionOutcome>> {
    let refused = |text: &str| Box::new(ActionOutcome::refused(sets, ids, text));
    let failed = |error: ChangesRefused| refused(&error.to_string());
    let Some(first_id) = ids.first() else {
        return Err(refused("nothing is left to be done"));
    };
    let root = sets.show(*first_id).map_err(failed)?.root;
    let mut before = TouchedFiles::below(&root);
    let mut steps: Vec<FileChange> = Vec::new();
    let mut conflicts: Vec<FileName> = Vec::new();
    for id in ids {
        let preview = sets.preview(*id, act == ChangesAct::Redo);
        let preview = preview.map_err(failed)?;
        // An earlier step may produce the contents that this change set expects.
        let is_new = |name: &FileName| !before.may_explain(name) && !conflicts.contains(name);
        let new: Vec<FileName> = preview.conflicts.into_iter().filter(is_new).collect();
        conflicts.extend(new);
        before.add(&preview.files);
        steps.extend(preview.files);
    }
    let is_free = |file: &FileChange| !conflicts.iter().any(|name| file.is_named(name));
    let between = changed_between(sets, ids, &steps);
    let mut files = merge_file_changes(steps);
    files.retain(is_free);
    if let Some((first, others)) = conflicts.split_first()
        && (act == ChangesAct::Redo || files.is_empty())
    {
        let line = match act {
            ChangesAct::Redo => not_redone_text(first),
            _ => not_undone_text(first, 0),
        };
        let mut outcome = refused(&line);
        let newest = ids.iter().max().unwrap_or(first_id);
        let by = sets.changed_by(*newest, others);
        outcome.lines.extend(conflict_lines(others, &by));
        return Err(outcome);
    }
    Ok(Box::new(ProposedAction {
        further_ids: ids[1..].to_vec(),
        skips_conflicts: !conflicts.is_empty(),
        is_background: true,
        changed_between: between,
        conflicts,
        ..ProposedAction::of(act, *first_id, root, files)
    }))
}

/// Returns files that several of these change sets touch and that another program changed between
/// them.
fn changed_between(sets: &ChangeSets, ids: &[ChangesId], steps: &[FileChange]) -> Vec<FileName> {
    let mut seen = BTreeSet::new();
    let repeated = steps.iter().filter(|file| !seen.insert(&file.name));
    let mut repeated: BTreeSet<FileName> = repeated.map(|file| file.name.clone()).collect();
    if !repeated.is_empty() {
        let mut in_order = ids.to_vec();
        in_order.sort_unstable();
        let together = sets.diff_together(&in_order).unwrap_or_default();
        for diff in together {
            repeated.remove(&diff.file.name);
        }
    }
    repeated.into_iter().collect()
}

/// The files that the planned steps change.
struct TouchedFiles<'a> {
    root: &'a Path,
    names: HashSet<String>,
}

impl<'a> TouchedFiles<'a> {
    fn below(root: &'a str) -> Self {
        let root = Path::new(root);
        let names = HashSet::new();
        Self { root, names }
    }

    fn add(&mut self, files: &[FileChange]) {
        for file in files {
            self.names.insert(file.name.path.clone());
            self.names.extend(file.from.clone());
        }
    }

    /// Returns true if an earlier step may explain why a file is not as expected: the step changes
    /// the file, something in it, or something in its missing parent directory.
    fn may_explain(&self, file: &FileName) -> bool {
        let path = Path::new(&file.path);
        let missing_parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let missing_parent = missing_parent.filter(|parent| !self.root.join(parent).exists());
        let explains = |name: &String| {
            let name = Path::new(name);
            name.starts_with(path)
                || missing_parent.is_some_and(|missing_parent| name.starts_with(missing_parent))
        };
        self.names.iter().any(explains)
    }
}

/// Carries out the plan, one change set after the other, and stops at the first refusal. Blocks.
pub(crate) fn carry_out(sets: &ChangeSets, proposed: &ProposedAction) -> ActionOutcome {
    let all = proposed.set_ids();
    let mut steps: Vec<FileChange> = Vec::new();
    let mut changed: Vec<ChangesId> = Vec::new();
    // Without duplicates.
    let mut notes: Vec<String> = Vec::new();
    let mut not_done: Vec<String> = Vec::new();
    for (at, id) in all.iter().enumerate() {
        let result = match proposed.act {
            ChangesAct::Redo => sets.redo(*id),
            _ => sets.undo(*id, &[], proposed.skips_conflicts),
        };
        match result {
            Ok(done) => {
                changed.push(*id);
                notes.extend(done.text.lines().skip(1).map(str::to_owned));
                steps.extend(files_of(sets, done));
            }
            // All remaining files were to be skipped.
            Err(ChangesRefused::Conflict(conflict)) if proposed.skips_conflicts => {
                let skipped = conflict.conflicts.iter().map(|name| one_line(&name.path));
                let line = |name| format!("left as it is, as it was changed since: {name}");
                notes.extend(skipped.map(line));
            }
            Err(error) => {
                not_done = refusal_lines(proposed, &error, &all[at..], changed.is_empty());
                break;
            }
        }
    }
    let mut known = BTreeSet::new();
    notes.retain(|line| known.insert(line.clone()));
    let mut lines = Vec::new();
    if !changed.is_empty() {
        let files = counted(merge_file_changes(steps).len() as u64);
        let numbers = change_actions::set_names(&changed);
        lines.push(match proposed.act {
            ChangesAct::Redo => {
                format!("[Done again: {files} as the background process left them ({numbers}).]")
            }
            _ => format!("[Undone: {files} as before the background process ({numbers}).]"),
        });
    }
    lines.extend(notes);
    let refused = changed.is_empty();
    if refused {
        lines.append(&mut not_done);
    }
    ActionOutcome {
        lines,
        refused,
        not_done,
        ..ActionOutcome::of(sets, &all, "")
    }
}

/// Returns lines about a refusal: its reason, and the change sets that are therefore unchanged.
fn refusal_lines(
    proposed: &ProposedAction,
    error: &ChangesRefused,
    rest: &[ChangesId],
    is_first: bool,
) -> Vec<String> {
    let mut lines: Vec<String> = refusal_text(error).lines().map(str::to_owned).collect();
    let is_undo = proposed.act == ChangesAct::Undo;
    if !(is_first && proposed.further_ids.is_empty()) {
        let not = if is_undo {
            "not undone"
        } else {
            "not done again"
        };
        lines.push(format!(
            "so this is {not}: {}",
            change_actions::set_names(rest)
        ));
    }
    if let ChangesRefused::Conflict(conflict) = error
        && is_undo
        && conflict.without_conflict > 0
    {
        lines.push(UNDO_OTHERS_HINT.to_owned());
    }
    lines
}

fn files_of(sets: &ChangeSets, done: ChangesDone) -> Vec<FileChange> {
    let files = sets.files(done.changes.id);
    files.unwrap_or(done.changes.files)
}
