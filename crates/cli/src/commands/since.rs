//! Later events of recorded calls, as far as they are stored: changes of background processes,
//! undo, redo, commit and discard.

use crate::start::{ChosenSettings, StartContext};
use agent_bash::change_sets::{ListedChanges, Store};
use agent_bash::core::Timestamp;
use agent_bash::core::changes::{Changes, ChangesId, ChangesState, FileChange};
use agent_bash::process::environment::Masks;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files that are named one by one.
const MAX_NAMED_FILES: usize = 3;

/// An action on the changes of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LaterAction {
    pub(crate) at: Timestamp,
    pub(crate) what: String,
}

/// Takes the host's secrets, and what looks like one, out of what the record does not have.
pub(crate) fn masks(start: &StartContext) -> Masks {
    let settings = start.settings(&ChosenSettings::default());
    let secrets = settings.map(|loaded| loaded.settings.environment().secrets);
    let variables = start.host.env.iter();
    Masks::new(
        variables.map(|(name, value)| (name.as_os_str(), value.as_os_str())),
        secrets.ok().flatten().unwrap_or_default(),
    )
}

/// The sets of a session, in their order, with secrets hidden as in its record.
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
    let mut late: BTreeMap<ChangesId, Vec<Changes>> = BTreeMap::new();
    for set in sets {
        if let Some(after) = set.after {
            late.entry(after).or_default().push(set.changes.clone());
        }
    }
    late
}

/// Returns the change sets that may belong to an earlier call.
pub(crate) fn or_earlier(sets: &[ListedChanges]) -> BTreeSet<ChangesId> {
    let unsure = sets.iter().filter(|set| set.or_earlier);
    unsure.map(|set| set.changes.id).collect()
}

/// Returns the actions on each change set, sorted by time.
pub(crate) fn actions(sets: &[ListedChanges]) -> BTreeMap<ChangesId, Vec<LaterAction>> {
    let known: BTreeMap<ChangesId, &ListedChanges> =
        sets.iter().map(|it| (it.changes.id, it)).collect();
    let mut taken_back: BTreeMap<ChangesId, BTreeSet<&str>> = BTreeMap::new();
    let mut deeds: BTreeMap<ChangesId, Vec<LaterAction>> = BTreeMap::new();
    for set in sets {
        if let Some(at) = set.decided {
            let what = match set.changes.state {
                ChangesState::Discarded => "discarded",
                _ => "committed",
            };
            let deed = LaterAction {
                at,
                what: what.to_owned(),
            };
            deeds.entry(set.changes.id).or_default().push(deed);
        }
        let is_done = set.changes.state != ChangesState::Discarded;
        let Some(of) = turned(set, &known).filter(|_| is_done) else {
            continue;
        };
        let before = taken_back.entry(of.changes.id).or_default();
        let deed = LaterAction {
            at: set.begun,
            what: inversion_text(set, &of.changes, before),
        };
        deeds.entry(of.changes.id).or_default().push(deed);
    }
    for of_set in deeds.values_mut() {
        of_set.sort_by_key(|deed| deed.at);
    }
    deeds
}

/// The set whose changes an undo or a redo has turned. An undo can be undone as well: it is what
/// that was an undo of.
fn turned<'a>(
    set: &'a ListedChanges,
    known: &BTreeMap<ChangesId, &'a ListedChanges>,
) -> Option<&'a ListedChanges> {
    let of = |set: &ListedChanges| set.undoes.or(set.redoes);
    let mut at = *known.get(&of(set)?)?;
    while let Some(next) = of(at) {
        // An undo is of an earlier set.
        at = *known.get(&next).filter(|_| next < at.changes.id)?;
    }
    Some(at)
}

/// Describes an undo or redo of a change set. `back` has the files that were undone before. A
/// partial one names its files.
fn inversion_text<'a>(
    set: &'a ListedChanges,
    of: &'a Changes,
    back: &mut BTreeSet<&'a str>,
) -> String {
    let word = match set.redoes {
        Some(_) => "done again",
        None => "undone",
    };
    let touched = names(&set.changes.files);
    let all = names(&of.files);
    if set.redoes.is_some() {
        back.retain(|name| !touched.contains(name));
    } else {
        back.extend(&touched);
    }
    let left = set.changes.conflicts.iter().map(|it| &*it.path);
    let left: Vec<&str> = left.collect();
    let are_listed = set.changes.more + of.more == 0;
    let is_whole = if are_listed {
        match set.redoes {
            Some(_) => back.is_empty(),
            None => all.is_subset(back),
        }
    } else {
        set.changes.counts.total() >= of.counts.total()
    };
    if !left.is_empty() {
        return format!("{word} but for {}", some(&left, 0));
    }
    if is_whole {
        return word.to_owned();
    }
    let touched: Vec<&str> = touched.into_iter().collect();
    format!("{word}: {}", some(&touched, set.changes.more))
}

/// Returns the paths of the files, and their former paths.
fn names(files: &[FileChange]) -> BTreeSet<&str> {
    let at = files.iter().map(|file| &*file.name.path);
    let from = files.iter().filter_map(|file| file.from.as_deref());
    at.chain(from).collect()
}

/// `a, b, c and 2 more`
fn some(names: &[&str], beyond: u64) -> String {
    let first = names[..names.len().min(MAX_NAMED_FILES)].join(", ");
    match names.len().saturating_sub(MAX_NAMED_FILES) as u64 + beyond {
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

    /// A trial that has made these files.
    fn trial(store: &Store, root: &Path, files: &[&str]) -> ChangesId {
        let mut set = store.begin_trial(SESSION, root).unwrap();
        set.mark().unwrap();
        for file in files {
            fs::write(set.upper().join(file), "new\n").unwrap();
        }
        store.hold(set).unwrap().id
    }

    #[test]
    fn all_that_was_done_with_changes_is_told_in_order() {
        let (state, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::open(state.path()).unwrap();
        let root = root.path().canonicalize().unwrap();
        let one = trial(&store, &root, &["a", "b", "c"]);
        let other = trial(&store, &root, &["d"]);
        store.discard(SESSION, other).unwrap();
        store.commit(SESSION, one).unwrap();
        let undo = store.undo(SESSION, one, &[], false).unwrap().id;
        // The undo of an undo is of the same files.
        store.undo(SESSION, undo, &[], false).unwrap();
        store.undo(SESSION, one, &["b".into()], false).unwrap();
        fs::write(root.join("c"), "another process\n").unwrap();
        store.undo(SESSION, one, &[], true).unwrap();
        store.redo(SESSION, one).unwrap();
        let sets = store.list(SESSION).unwrap();
        let told = actions(&sets);
        let of = |id| -> Vec<&str> { told[&id].iter().map(|deed| &*deed.what).collect() };
        let wanted = [
            "committed",
            "undone",
            "done again",
            "undone: b",
            "undone but for c",
            "done again",
        ];
        assert_eq!(of(one), wanted, "{sets:?}");
        assert_eq!(of(other), ["discarded"]);
        assert!(told[&one].is_sorted_by_key(|deed| deed.at), "{told:?}");
    }
}
