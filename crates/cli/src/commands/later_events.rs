//! Events after a call was recorded that concern its changes: changes of its background processes,
//! undo, redo, commit and discard.

use crate::args::ChosenSettings;
use crate::process_start::StartContext;
use agent_bash::change_sets::{ListedChanges, Store};
use agent_bash::core::changes::{Changes, ChangesId, ChangesState, FileChange};
use agent_bash::process::environment::Masks;
use agent_bash_report::ChangesAction;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of files that the text of an action names.
const MAX_NAMED_FILES: usize = 3;

/// Returns masks for secrets in data that does not come from the record. In the record, secrets are
/// already masked.
pub(crate) fn masks(start: &StartContext) -> Masks {
    let settings = start.settings(&ChosenSettings::default());
    let secrets = settings.map(|loaded| loaded.settings.environment().secrets);
    let variables = start.host.env.iter();
    Masks::new(
        variables.map(|(name, value)| (name.as_os_str(), value.as_os_str())),
        secrets.ok().flatten().unwrap_or_default(),
    )
}

/// Returns the change sets of a session, oldest first, with secrets masked as in the record.
pub(crate) fn sets(start: &StartContext, state: &Path, session: &str) -> Vec<ListedChanges> {
    let listed = Store::open(state).and_then(|store| store.list(session));
    let mut sets = listed.unwrap_or_default();
    let masks = masks(start);
    let hide = |text: &mut String| *text = masks.hide(text).into_owned();
    for ListedChanges { changes, .. } in &mut sets {
        changes.command.iter_mut().for_each(hide);
        for file in &mut changes.files {
            hide(&mut file.name.path);
            file.from.iter_mut().for_each(hide);
        }
        changes
            .conflicts
            .iter_mut()
            .for_each(|it| hide(&mut it.path));
    }
    sets
}

/// Returns the changes of background processes, by the call's change set.
pub(crate) fn background_changes(sets: &[ListedChanges]) -> BTreeMap<ChangesId, Vec<Changes>> {
    let mut background: BTreeMap<ChangesId, Vec<Changes>> = BTreeMap::new();
    for set in sets {
        if let Some(after) = set.after {
            background
                .entry(after)
                .or_default()
                .push(set.changes.clone());
        }
    }
    background
}

/// Returns the change sets that may belong to an earlier call.
pub(crate) fn maybe_earlier(sets: &[ListedChanges]) -> BTreeSet<ChangesId> {
    let unsure = sets.iter().filter(|set| set.maybe_earlier);
    unsure.map(|set| set.changes.id).collect()
}

/// Returns the actions on each change set, sorted by time. An action is a few words: `undone but
/// for src/a.rs`.
pub(crate) fn actions(sets: &[ListedChanges]) -> BTreeMap<ChangesId, Vec<ChangesAction>> {
    let known: BTreeMap<ChangesId, &ListedChanges> =
        sets.iter().map(|it| (it.changes.id, it)).collect();
    let mut undone: BTreeMap<ChangesId, BTreeSet<&str>> = BTreeMap::new();
    let mut actions_of: BTreeMap<ChangesId, Vec<ChangesAction>> = BTreeMap::new();
    for set in sets {
        if let Some(at) = set.decided {
            let text = match set.changes.state {
                ChangesState::Discarded => "discarded",
                _ => "committed",
            };
            let action = ChangesAction::new(at, text);
            actions_of.entry(set.changes.id).or_default().push(action);
        }
        let is_done = set.changes.state != ChangesState::Discarded;
        let Some(original) = inverted_set(set, &known).filter(|_| is_done) else {
            continue;
        };
        let before = undone.entry(original.changes.id).or_default();
        let text = inversion_text(set, &original.changes, before);
        let action = ChangesAction::new(set.begun, text);
        let id = original.changes.id;
        actions_of.entry(id).or_default().push(action);
    }
    for of_set in actions_of.values_mut() {
        of_set.sort_by_key(|action| action.at);
    }
    actions_of
}

/// Returns the change set that an undo or redo acts on. For the undo of an undo, follows the chain
/// to the original set.
fn inverted_set<'a>(
    set: &'a ListedChanges,
    known: &BTreeMap<ChangesId, &'a ListedChanges>,
) -> Option<&'a ListedChanges> {
    let inverted_id = |set: &ListedChanges| set.undoes.or(set.redoes);
    let mut current = *known.get(&inverted_id(set)?)?;
    while let Some(next) = inverted_id(current) {
        // An undone set always has a lower number than its undo. Damaged data could form a loop.
        current = *known.get(&next).filter(|_| next < current.changes.id)?;
    }
    Some(current)
}

/// Describes an undo or redo of the set `original`. `undone` has the files that earlier undos
/// reverted, and is updated. The text of a partial undo names its files.
fn inversion_text<'a>(
    set: &'a ListedChanges,
    original: &'a Changes,
    undone: &mut BTreeSet<&'a str>,
) -> String {
    let word = match set.redoes {
        Some(_) => "done again",
        None => "undone",
    };
    let touched = names(&set.changes.files);
    let all = names(&original.files);
    if set.redoes.is_some() {
        undone.retain(|name| !touched.contains(name));
    } else {
        undone.extend(&touched);
    }
    let skipped = set.changes.conflicts.iter().map(|it| &*it.path);
    let skipped: Vec<&str> = skipped.collect();
    let are_listed = set.changes.more + original.more == 0;
    let is_whole = if are_listed {
        match set.redoes {
            Some(_) => undone.is_empty(),
            None => all.is_subset(undone),
        }
    } else {
        set.changes.counts.total() >= original.counts.total()
    };
    if !skipped.is_empty() {
        return format!("{word} but for {}", named_files(&skipped, 0));
    }
    if is_whole {
        return word.to_owned();
    }
    let touched: Vec<&str> = touched.into_iter().collect();
    format!("{word}: {}", named_files(&touched, set.changes.more))
}

/// Returns the paths of the files, and their former paths.
fn names(files: &[FileChange]) -> BTreeSet<&str> {
    let at = files.iter().map(|file| &*file.name.path);
    let from = files.iter().filter_map(|file| file.from.as_deref());
    at.chain(from).collect()
}

/// Returns `a, b, c and 2 more`. `unlisted` is the number of files without a name in `names`.
fn named_files(names: &[&str], unlisted: u64) -> String {
    let first = names[..names.len().min(MAX_NAMED_FILES)].join(", ");
    match names.len().saturating_sub(MAX_NAMED_FILES) as u64 + unlisted {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::change_sets::Store;
    use std::fs;

    const SESSION: &str = "s";

    /// Holds a trial that has created these files.
    fn trial(store: &Store, root: &Path, files: &[&str]) -> ChangesId {
        let mut set = store.begin_trial(SESSION, root).unwrap();
        set.mark().unwrap();
        for file in files {
            fs::write(set.upper().join(file), "new\n").unwrap();
        }
        store.hold(set).unwrap().id
    }

    #[test]
    fn actions_lists_commit_undo_and_redo_in_order() {
        let (state, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::open(state.path()).unwrap();
        let root = root.path().canonicalize().unwrap();
        let one = trial(&store, &root, &["a", "b", "c"]);
        let other = trial(&store, &root, &["d"]);
        store.discard(SESSION, other).unwrap();
        store.commit(SESSION, one).unwrap();
        let undo = store.undo(SESSION, one, &[], false).unwrap().id;
        // The undo of an undo concerns the same files.
        store.undo(SESSION, undo, &[], false).unwrap();
        store.undo(SESSION, one, &["b".into()], false).unwrap();
        fs::write(root.join("c"), "another process\n").unwrap();
        store.undo(SESSION, one, &[], true).unwrap();
        store.redo(SESSION, one).unwrap();
        let sets = store.list(SESSION).unwrap();
        let listed = actions(&sets);
        let of = |id| -> Vec<&str> { listed[&id].iter().map(|action| &*action.what).collect() };
        let wanted = [
            "committed", "undone", "done again", "undone: b", "undone but for c", "done again",
        ];
        assert_eq!(of(one), wanted, "{sets:?}");
        assert_eq!(of(other), ["discarded"]);
        assert!(
            listed[&one].is_sorted_by_key(|action| action.at),
            "{listed:?}"
        );
    }
}
