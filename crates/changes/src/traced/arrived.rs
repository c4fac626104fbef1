//! Files that arrived with moved directories, and files that cannot be examined.

use super::compare::{Effects, KnownPath, appeared};
use crate::alike::bytes;
use crate::plan::{PlannedOp, SlotRename};
use crate::rooted_dir::RootedDir;
use crate::set::SLOTS_DIR;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::path::Path;

/// Lists files that arrived with a moved directory, since no system call touched them by path. In a
/// directory that was recorded completely, or did not exist, no other file is unknown.
pub(super) fn arrived(
    tree: &mut RootedDir,
    known: &BTreeMap<&[u8], KnownPath<'_>>,
    effects: &mut Effects,
) {
    let mut waiting = std::mem::take(&mut effects.known);
    let mut number = 0;
    while let Some(directory) = waiting.pop() {
        let Ok(names) = tree.names(&directory) else {
            effects.unseen.push(directory);
            continue;
        };
        for name in names {
            let path = directory.join(name);
            if known.contains_key(&bytes(&path)[..]) {
                continue;
            }
            match one(tree, &path, number, effects) {
                Ok(true) => waiting.push(path),
                Ok(false) => {}
                Err(_) => effects.unseen.push(path),
            }
            number += 1;
        }
    }
}

/// Adds one file. Returns whether it is a directory.
fn one(
    tree: &mut RootedDir,
    path: &Path,
    number: usize,
    effects: &mut Effects,
) -> Result<bool, Errno> {
    let Some(now) = tree.stat(path)? else {
        return Ok(false);
    };
    let op = PlannedOp {
        act: SlotRename::Put,
        path: bytes(path),
        slot: format!("{SLOTS_DIR}/n{number}").into_bytes(),
        current: None,
        in_slot: Some(now),
        means: None,
        slot_means: None,
    };
    if tree.is_on_other_device(path)? {
        effects.back.skipped.push(op.path.clone());
        effects.plan.ops.push(op);
        return Ok(now.is_dir());
    }
    effects.back.ops.push(op.inverse());
    effects.plan.ops.push(op);
    appeared(tree, path, &now, effects)?;
    Ok(now.is_dir())
}

/// Excludes files that cannot be examined from an undo, with the new directories around them.
pub(super) fn leave_unseen(effects: &mut Effects) {
    let unseen = std::mem::take(&mut effects.unseen);
    let left = &mut effects.back.skipped;
    effects.back.ops.retain(|op| {
        let goes =
            op.act != SlotRename::Take || !unseen.iter().any(|path| path.starts_with(op.path()));
        if !goes {
            left.push(op.path.clone());
        }
        goes
    });
    effects.plan.skipped = unseen.iter().map(|path| bytes(path)).collect();
    left.extend_from_slice(&effects.plan.skipped);
    left.sort_unstable();
    left.dedup();
}
