//! Files that arrived with moved directories, and files that cannot be examined.

use super::compare::{Effects, KnownPath, record_new_directory};
use crate::files::rooted_dir::RootedDir;
use crate::plan::file_comparison::bytes;
use crate::plan::{PlannedOp, SlotRename};
use crate::store::set::SLOTS_DIR;
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Adds files that arrived with a moved directory, since no system call touched them by path. They
/// are the files without a record in directories that were recorded completely, or did not exist.
pub(super) fn add_arrived(
    tree: &mut RootedDir,
    known_paths: &BTreeMap<&[u8], KnownPath<'_>>,
    effects: &mut Effects,
) {
    let mut waiting = std::mem::take(&mut effects.complete_directories);
    let mut number = 0;
    while let Some(directory) = waiting.pop() {
        let Ok(names) = tree.names(&directory) else {
            effects.unseen.push(directory);
            continue;
        };
        for name in names {
            let path = directory.join(name);
            if known_paths.contains_key(&bytes(&path)[..]) {
                continue;
            }
            match add_file(tree, &path, number, effects) {
                Ok(true) => waiting.push(path),
                Ok(false) => {}
                Err(_) => effects.unseen.push(path),
            }
            number += 1;
        }
    }
}

/// Adds one file. Returns true if the file is a directory.
fn add_file(
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
        digest: None,
        slot_digest: None,
    };
    if tree.is_on_other_device(path)? {
        effects.inverse.skipped.push(op.path.clone());
        effects.plan.ops.push(op);
        return Ok(now.is_dir());
    }
    effects.inverse.ops.push(op.inverse());
    effects.plan.ops.push(op);
    record_new_directory(tree, path, &now, effects)?;
    Ok(now.is_dir())
}

/// Excludes files that cannot be examined from an undo, with the new directories that contain them.
pub(super) fn exclude_unseen(effects: &mut Effects) {
    let unseen = std::mem::take(&mut effects.unseen);
    let around_unseen: HashSet<&Path> = unseen.iter().flat_map(|path| path.ancestors()).collect();
    let skipped = &mut effects.inverse.skipped;
    effects.inverse.ops.retain(|op| {
        let can_undo = op.act != SlotRename::Take || !around_unseen.contains(op.path());
        if !can_undo {
            skipped.push(op.path.clone());
        }
        can_undo
    });
    effects.plan.skipped = unseen.iter().map(|path| bytes(path)).collect();
    skipped.extend_from_slice(&effects.plan.skipped);
    skipped.sort_unstable();
    skipped.dedup();
}
