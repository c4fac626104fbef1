//! Changes by processes that a command left running. Several change sets, one per line typed
//! meanwhile, are shown, undone and redone as one.

use crate::action_outcome::{ASK_AGAIN, ActionOutcome, named, refusal};
use crate::change_actions::{self, ProposedAction};
use agent_bash::core::changes::{
    ChangeCounts, Changes, ChangesId, FileChange, FileName, counted, not_redone_text,
    not_undone_text,
};
use agent_bash::core::visible::one_line;
use agent_bash::{ChangeSets, ChangesAct, ChangesDone, ChangesRefused};
use agent_bash_render::words::together_files;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// Plans an undo or redo of all these change sets, in this order. Returns why it is not possible.
/// Blocks.
pub(crate) fn look(
    sets: &ChangeSets,
    act: ChangesAct,
    ids: &[ChangesId],
) -> Result<Box<ProposedAction>, Box<ActionOutcome>> {
    let failed = |error: &ChangesRefused| Box::new(refused(sets, ids, &error.to_string()));
    let Some(first_id) = ids.first() else {
        return Err(Box::new(refused(sets, ids, "nothing is left to be done")));
    };
    let root = sets.show(*first_id).map_err(|error| failed(&error))?.root;
    let mut before = TouchedFiles::below(&root);
    let mut steps: Vec<FileChange> = Vec::new();
    let mut conflicts: Vec<FileName> = Vec::new();
    for id in ids {
        let preview = sets.preview(*id, act == ChangesAct::Redo);
        let preview = preview.map_err(|error| failed(&error))?;
        // An earlier step may produce the contents that this change set expects.
        let is_new = |it: &FileName| !before.leads_to(it) && !conflicts.contains(it);
        let new: Vec<FileName> = preview.conflicts.into_iter().filter(is_new).collect();
        conflicts.extend(new);
        before.add(&preview.files);
        steps.extend(preview.files);
    }
    let is_free = |file: &FileChange| !conflicts.iter().any(|it| file.is_named(it));
    let between = between(sets, ids, &steps);
    let mut files = together_files(steps);
    files.retain(is_free);
    if let Some((first, others)) = conflicts.split_first()
        && (act == ChangesAct::Redo || files.is_empty())
    {
        let line = match act {
            ChangesAct::Redo => not_redone_text(first),
            _ => not_undone_text(first, 0),
        };
        let mut outcome = refused(sets, ids, &line);
        let newest = ids.iter().max().unwrap_or(first_id);
        let by = sets.changed_by(*newest, others);
        outcome.lines.extend(named(others, &by));
        return Err(Box::new(outcome));
    }
    Ok(Box::new(ProposedAction {
        act,
        id: *first_id,
        then: ids[1..].to_vec(),
        partial: !conflicts.is_empty(),
        is_background: true,
        between,
        root,
        counts: ChangeCounts::of(&files),
        files,
        more: 0,
        conflicts,
    }))
}

/// Files of several of these change sets that another user or program changed between them.
fn between(sets: &ChangeSets, ids: &[ChangesId], steps: &[FileChange]) -> Vec<FileName> {
    let mut seen = BTreeSet::new();
    let again = steps.iter().filter(|file| !seen.insert(&file.name));
    let mut again: BTreeSet<FileName> = again.map(|file| file.name.clone()).collect();
    if !again.is_empty() {
        let mut in_order = ids.to_vec();
        in_order.sort_unstable();
        let together = sets.diff_together(&in_order).unwrap_or_default();
        for diff in together {
            again.remove(&diff.file.name);
        }
    }
    again.into_iter().collect()
}

/// The files that the steps so far change.
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
    fn leads_to(&self, file: &FileName) -> bool {
        let path = Path::new(&file.path);
        let above = path.parent().filter(|it| !it.as_os_str().is_empty());
        let above = above.filter(|it| !self.root.join(it).exists());
        let is_it = |name: &String| {
            let name = Path::new(name);
            name.starts_with(path) || above.is_some_and(|above| name.starts_with(above))
        };
        self.names.iter().any(is_it)
    }
}

/// Carries out the plan, one change set after the other, until one is refused. Blocks.
pub(crate) fn done(sets: &ChangeSets, proposed: &ProposedAction) -> ActionOutcome {
    let all = proposed.all();
    let mut steps: Vec<FileChange> = Vec::new();
    let mut made: Vec<ChangesId> = Vec::new();
    // Each line once.
    let mut notes: Vec<String> = Vec::new();
    let mut not_done: Vec<String> = Vec::new();
    for (at, id) in all.iter().enumerate() {
        let did = match proposed.act {
            ChangesAct::Redo => sets.redo(*id),
            _ => sets.undo(*id, &[], proposed.partial),
        };
        match did {
            Ok(done) => {
                made.push(*id);
                notes.extend(done.text.lines().skip(1).map(str::to_owned));
                steps.extend(files_of(sets, done));
            }
            // All remaining files were to be skipped.
            Err(ChangesRefused::Conflict(conflict)) if proposed.partial => {
                let left = conflict.conflicts.iter().map(|it| one_line(&it.path));
                let line = |name| format!("left as it is, as it was changed since: {name}");
                notes.extend(left.map(line));
            }
            Err(error) => {
                not_done = stopped(proposed, &error, &all[at..], made.is_empty());
                break;
            }
        }
    }
    let mut known = BTreeSet::new();
    notes.retain(|line| known.insert(line.clone()));
    let mut lines = Vec::new();
    if !made.is_empty() {
        let files = counted(together_files(steps).len() as u64);
        let numbers = change_actions::numbers(&made);
        lines.push(match proposed.act {
            ChangesAct::Redo => {
                format!("[Done again: {files} as the background process left them ({numbers}).]")
            }
            _ => format!("[Undone: {files} as before the background process ({numbers}).]"),
        });
    }
    lines.extend(notes);
    ActionOutcome {
        sets: shown(sets, &all),
        is_stale: false,
        refused: made.is_empty(),
        lines: if made.is_empty() {
            [lines, not_done.clone()].concat()
        } else {
            lines
        },
        not_done: if made.is_empty() {
            Vec::new()
        } else {
            not_done
        },
    }
}

/// Lines about a refusal: its reason, and the actions that therefore did not take place.
fn stopped(
    proposed: &ProposedAction,
    error: &ChangesRefused,
    rest: &[ChangesId],
    is_first: bool,
) -> Vec<String> {
    let mut lines: Vec<String> = refusal(error).lines().map(str::to_owned).collect();
    let is_undo = proposed.act == ChangesAct::Undo;
    if !(is_first && proposed.then.is_empty()) {
        let not = if is_undo {
            "not undone"
        } else {
            "not done again"
        };
        lines.push(format!(
            "so this is {not}: {}",
            change_actions::numbers(rest)
        ));
    }
    if let ChangesRefused::Conflict(conflict) = error
        && is_undo
        && conflict.free > 0
    {
        lines.push(ASK_AGAIN.to_owned());
    }
    lines
}

fn files_of(sets: &ChangeSets, done: ChangesDone) -> Vec<FileChange> {
    let files = sets.files(done.changes.id);
    files.unwrap_or(done.changes.files)
}

fn shown(sets: &ChangeSets, ids: &[ChangesId]) -> Vec<Changes> {
    ids.iter().filter_map(|id| sets.show(*id).ok()).collect()
}

fn refused(sets: &ChangeSets, ids: &[ChangesId], text: &str) -> ActionOutcome {
    ActionOutcome {
        sets: shown(sets, ids),
        lines: text.lines().map(str::to_owned).collect(),
        refused: true,
        ..ActionOutcome::default()
    }
}
