//! Turns the records of a trace into a plan: each touched path before and now.

mod arrived;
mod compare;
mod names;
mod same;
mod unrestorable;

use crate::error::ChangesError;
use crate::journal::Journal;
use crate::plan::SlotRename;
use crate::preimages::RECORD_SLOT_PREFIX;
use crate::recorder::{ContentLocation, Index, lacks};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, SetState};
use crate::steps::{Precautions, Undisturbed};
use crate::user::User;
use compare::{Effects, KnownPath, one};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Compares the records with the current tree.
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
    let links = index.records.iter();
    let links = links.filter(|it| matches!(it.content, ContentLocation::Link(_)));
    let mut effects = Effects {
        linked: links.filter_map(|it| Some(it.stat?.ino)).collect(),
        user: Some(User::current()),
        ..Effects::default()
    };
    for (path, known) in &known {
        let path = Path::new(OsStr::from_bytes(path));
        if one(set, &mut tree, path, known, &mut effects).is_err() {
            effects.unseen.push(path.to_owned());
        }
    }
    arrived::arrived(&mut tree, &known, &mut effects);
    names::others(set, &mut tree, index, &known, &mut effects);
    keep_times(&mut effects);
    shared(&mut effects);
    arrived::leave_unseen(&mut effects);
    unrestorable::leave(&mut effects);
    effects.plan.sort();
    effects.back.sort();
    Ok(effects)
}

/// Writes the plan of a trace. `whole` is the state for complete records, `untouched` the state
/// without records.
pub(crate) fn conclude(
    set: &mut ChangeSet,
    care: Precautions,
    whole: SetState,
    untouched: SetState,
) -> Result<(), ChangesError> {
    let index = Index::read(&set.dir)?;
    let state = match index {
        Index { complete: true, .. } => whole,
        Index { absent: true, .. } => untouched,
        _ => SetState::Interrupted,
    };
    if index.records.is_empty() && index.others.is_empty() {
        // The index tells the same if the disk is full.
        let _ = set.set_state(state);
        return Ok(());
    }
    let effects = effects(set, &index)?;
    let failed = || ChangesError::io("writing the journal of", set.dir());
    if !effects.plan.skipped.is_empty() || effects.is_cut {
        lacks(&set.dir).map_err(failed())?;
    }
    // No operation follows, so nothing must be synced.
    let care = Precautions {
        synced: false,
        ..care
    };
    let mut journal = Journal::begin(&set.dir, effects.plan, &Undisturbed, care)?;
    journal.note(effects.back).map_err(failed())?;
    set.end(state)
}

/// Does not restore the attributes of a file if another of its names is removed, since the
/// comparison of that name would fail then.
fn shared(effects: &mut Effects) {
    let goes = effects
        .back
        .ops
        .iter()
        .filter(|op| op.act != SlotRename::Put);
    let goes: HashSet<u64> = goes.filter_map(|op| Some(op.current?.ino)).collect();
    let left = &mut effects.back.skipped;
    effects.back.attributions.retain(|it| {
        let stays = it
            .current
            .is_none_or(|here| here.is_dir() || !goes.contains(&here.ino));
        if !stays {
            left.push(it.path.clone());
        }
        stays
    });
}

/// Keeps the times of directories whose changes happened within a clock tick, unless entries are
/// restored.
fn keep_times(effects: &mut Effects) {
    let parents = effects.plan.ops.iter().map(|op| op.path().parent());
    let parents: HashSet<PathBuf> = parents.flatten().map(Path::to_owned).collect();
    for it in std::mem::take(&mut effects.alike) {
        if parents.contains(it.path()) {
            effects.attribute(it);
        }
    }
}
