//! Turns the records of a trace into a plan, by comparing each touched path with its record.

mod arrived;
mod compare;
mod names;
mod same;
mod unrestorable;

use crate::error::ChangesError;
use crate::files::rooted_dir::RootedDir;
use crate::files::user::User;
use crate::plan::SlotRename;
use crate::plan::journal::Journal;
use crate::plan::steps::{Precautions, Undisturbed};
use crate::sources::preimages::RECORD_SLOT_PREFIX;
use crate::sources::recorder::{ContentLocation, Index, append_unknown_change};
use crate::store::set::{ChangeSet, SetState};
use compare::{Effects, KnownPath, compare_path};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the changes of a trace, from a comparison of the records with the current tree.
pub(crate) fn effects(set: &ChangeSet, index: &Index) -> Result<Effects, ChangesError> {
    let mut tree = RootedDir::open_same(&set.root(), set.meta.identity)?;
    let mut known: BTreeMap<&[u8], KnownPath<'_>> = BTreeMap::new();
    for (number, record) in index.records.iter().enumerate() {
        let known = known.entry(&record.path).or_insert(KnownPath {
            slot: format!("{RECORD_SLOT_PREFIX}{number}"),
            first: record,
            content: &record.content,
        });
        if *known.content == ContentLocation::Unread {
            known.content = &record.content;
            known.slot = format!("{RECORD_SLOT_PREFIX}{number}");
        }
    }
    let linked = index.records.iter();
    let linked = linked.filter(|it| matches!(it.content, ContentLocation::Link(_)));
    let mut effects = Effects {
        linked: linked.filter_map(|it| Some(it.stat?.ino)).collect(),
        user: Some(User::current()),
        ..Effects::default()
    };
    for (path, known) in &known {
        let path = Path::new(OsStr::from_bytes(path));
        if compare_path(set, &mut tree, path, known, &mut effects).is_err() {
            effects.unseen.push(path.to_owned());
        }
    }
    arrived::add_arrived(&mut tree, &known, &mut effects);
    names::add_other_names(set, &mut tree, index, &known, &mut effects);
    keep_directory_times(&mut effects);
    skip_shared_attributes(&mut effects);
    arrived::exclude_unseen(&mut effects);
    unrestorable::exclude(&mut effects);
    effects.plan.sort();
    effects.inverse.sort();
    Ok(effects)
}

/// Closes a trace: writes its plan and its state. The state is `if_complete` for complete records,
/// `if_untouched` without records, else [`SetState::Interrupted`].
pub(crate) fn conclude(
    set: &mut ChangeSet,
    precautions: Precautions,
    if_complete: SetState,
    if_untouched: SetState,
) -> Result<(), ChangesError> {
    let index = Index::read(&set.dir)?;
    let state = match index {
        Index {
            is_marked_complete: true,
            ..
        } => if_complete,
        Index {
            is_absent: true, ..
        } => if_untouched,
        _ => SetState::Interrupted,
    };
    if index.records.is_empty() && index.inode_records.is_empty() {
        // If the disk is full, the state follows from the index.
        let _ = set.set_state(state);
        return Ok(());
    }
    let effects = effects(set, &index)?;
    let failed = || ChangesError::io("writing the journal of", set.dir());
    if !effects.plan.skipped.is_empty() || effects.is_search_incomplete {
        append_unknown_change(&set.dir).map_err(failed())?;
    }
    // No operation follows, so nothing must be synced.
    let precautions = Precautions {
        synced: false,
        ..precautions
    };
    let mut journal = Journal::begin(&set.dir, effects.plan, &Undisturbed, precautions)?;
    journal.record_applied(effects.inverse).map_err(failed())?;
    set.end(state)
}

/// Excludes the attributes of a file from the undo if the undo also removes or replaces one of the
/// file's names. Restoring the attributes changes the inode, so the check of that name would fail.
fn skip_shared_attributes(effects: &mut Effects) {
    let removed = effects
        .inverse
        .ops
        .iter()
        .filter(|op| op.act != SlotRename::Put);
    let removed: HashSet<u64> = removed.filter_map(|op| Some(op.current?.ino)).collect();
    let skipped = &mut effects.inverse.skipped;
    effects.inverse.attributions.retain(|it| {
        let stays = it
            .current
            .is_none_or(|here| here.is_dir() || !removed.contains(&here.ino));
        if !stays {
            skipped.push(it.path.clone());
        }
        stays
    });
}

/// Adds the times of directories that look unchanged, but have changed entries: the changes
/// happened within one clock tick.
fn keep_directory_times(effects: &mut Effects) {
    let parents = effects.plan.ops.iter().map(|op| op.path().parent());
    let parents: HashSet<PathBuf> = parents.flatten().map(Path::to_owned).collect();
    for it in std::mem::take(&mut effects.unchanged_directories) {
        if parents.contains(it.path()) {
            effects.add_attribution(it);
        }
    }
}
