//! Compares the record of one path with the current file.

use super::same::is_same;
use crate::files::file_stat::FileStat;
use crate::files::git_index;
use crate::files::rooted_dir::RootedDir;
use crate::files::user::User;
use crate::plan::file_comparison::{bytes, file_attributes};
use crate::plan::{ApplyPlan, Attribution, FileAttributes, PlannedOp, SlotRename};
use crate::sources::recorder::{ContentLocation, PathRecord};
use crate::store::set::{ChangeSet, SLOTS_DIR};
use rustix::io::Errno;
use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The effects of a trace.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// The changes.
    pub(crate) plan: ApplyPlan,
    /// The inverse plan. Its `skipped` has the paths that cannot be undone.
    pub(crate) inverse: ApplyPlan,
    /// Existing directories that were recorded with all entries, or did not exist before the call.
    pub(super) complete_directories: Vec<PathBuf>,
    pub(super) user: Option<User>,
    /// Inodes with a preimage link.
    pub(super) linked: HashSet<u64>,
    /// Directories whose attributes equal the recorded ones.
    pub(super) unchanged_directories: Vec<Attribution>,
    /// Paths in directories that the call made unreadable.
    pub(super) unseen: Vec<PathBuf>,
    /// True if the search for names of files that were changed outside the root was cut short.
    pub(crate) is_search_incomplete: bool,
}

impl Effects {
    pub(super) fn add_attribution(&mut self, attribution: Attribution) {
        self.inverse.attributions.push(Attribution {
            before: attribution.after.clone(),
            after: attribution.before.clone(),
            ..attribution.clone()
        });
        self.plan.attributions.push(attribution);
    }
}

/// A path with its first record and the record with its contents.
pub(crate) struct KnownPath<'a> {
    /// The name of the slot.
    pub(super) slot: String,
    pub(super) first: &'a PathRecord,
    pub(super) content: &'a ContentLocation,
}

/// Adds the attributes of a new directory. A redo needs them, since creating the entries of a
/// directory changes its times.
pub(super) fn record_new_directory(
    tree: &mut RootedDir,
    path: &Path,
    now: &FileStat,
    effects: &mut Effects,
) -> Result<(), Errno> {
    if now.is_dir() {
        let now_attributes = Some(file_attributes(tree, path, now)?);
        let inverse = Attribution {
            path: bytes(path),
            current: Some(*now),
            before: now_attributes,
            after: None,
        };
        effects.plan.attributions.push(Attribution {
            current: None,
            before: None,
            after: inverse.before.clone(),
            ..inverse.clone()
        });
        effects.inverse.attributions.push(inverse);
    }
    Ok(())
}

/// Returns the attributes of the current file; `None` if the path does not exist in the tree.
fn current_stat(tree: &mut RootedDir, path: &Path) -> Result<Option<FileStat>, Errno> {
    if path.as_os_str().is_empty() {
        return Ok(tree.stat_root().ok());
    }
    match tree.stat(path) {
        // The path leads through a link or another mount now.
        Err(Errno::LOOP | Errno::XDEV) => Ok(None),
        found => found,
    }
}

/// Compares one path with its record, and adds the difference to `effects`.
pub(super) fn compare_path(
    set: &ChangeSet,
    tree: &mut RootedDir,
    path: &Path,
    known: &KnownPath<'_>,
    effects: &mut Effects,
) -> io::Result<()> {
    let before = known.first.stat;
    let now = current_stat(tree, path)?;
    let slot = Path::new(SLOTS_DIR).join(&known.slot);
    let op = |act, current, in_slot| PlannedOp {
        act,
        path: known.first.path.clone(),
        slot: slot.as_os_str().as_bytes().to_vec(),
        current,
        in_slot,
        digest: None,
        slot_digest: None,
    };
    let mut add_op = |op: PlannedOp, has_preimage: bool| {
        if has_preimage {
            effects.inverse.ops.push(op.inverse());
        } else {
            effects.inverse.skipped.push(op.path.clone());
        }
        effects.plan.ops.push(op);
    };
    let has_contents = *known.content != ContentLocation::Unread;
    let has_preimage = match before {
        Some(before) if before.is_dir() => *known.content != ContentLocation::NotStored,
        _ => has_contents && *known.content != ContentLocation::NotStored,
    };
    let is_known_by_name = before.is_none() && *known.content == ContentLocation::NotStored;
    if now.is_some_and(|now| now.is_dir()) && has_contents && !is_known_by_name {
        effects.complete_directories.push(path.to_owned());
    }
    // Restoring the entries of a directory changes its times.
    let restored_directory = || {
        let before = before.filter(FileStat::is_dir)?;
        Some(Attribution {
            path: known.first.path.clone(),
            current: None,
            before: None,
            after: Some(FileAttributes::new(&before, known.first.attributes.clone())),
        })
    };
    let (before, now) = match (before, now) {
        (None, None) => return Ok(()),
        (None, Some(now)) => {
            let can_be_removed = *known.content != ContentLocation::NotStored;
            add_op(op(SlotRename::Put, None, Some(now)), can_be_removed);
            if can_be_removed {
                record_new_directory(tree, path, &now, effects)?;
            }
            return Ok(());
        }
        (Some(before), None) => {
            add_op(op(SlotRename::Take, Some(before), None), has_preimage);
            effects.inverse.attributions.extend(restored_directory());
            return Ok(());
        }
        (Some(before), Some(now)) => (before, now),
    };
    if before.is_dir() != now.is_dir() {
        // One file is removed and another is created, so two slots are needed.
        let mut removal = op(SlotRename::Take, Some(before), None);
        removal.slot.push(b'd');
        add_op(removal, has_preimage);
        add_op(op(SlotRename::Put, None, Some(now)), true);
        effects.inverse.attributions.extend(restored_directory());
        record_new_directory(tree, path, &now, effects)?;
        return Ok(());
    }
    // A file that was moved here is moved back, even if the former file had equal contents.
    let was_moved_here = before.ino != now.ino && effects.linked.contains(&now.ino);
    if !before.is_dir()
        && (was_moved_here || !is_same(set, tree, path, &before, &now, known.content)?)
    {
        let mut op = op(SlotRename::Swap, Some(before), Some(now));
        if git_index::is_index(path) {
            op.slot_digest = tree.file(path).ok().and_then(git_index::entries_digest);
        }
        add_op(op, has_preimage);
        return Ok(());
    }
    compare_attributes(tree, path, known, [before, now], effects)
}

/// Compares the attributes of a file with equal contents before and now.
fn compare_attributes(
    tree: &mut RootedDir,
    path: &Path,
    known: &KnownPath<'_>,
    [before, now]: [FileStat; 2],
    effects: &mut Effects,
) -> io::Result<()> {
    let former_attributes = FileAttributes::new(&before, known.first.attributes.clone());
    let now_attributes = file_attributes(tree, path, &now)?;
    let is_new = before.ino != now.ino && git_index::is_index(path);
    // Directory times of other users change with their entries, and cannot be set.
    let can_be_set = !now.is_dir()
        || effects
            .user
            .as_ref()
            .is_none_or(|it| it.may_set_attributes(&now));
    let is_restored = former_attributes == now_attributes && !now.is_dir() && !is_new;
    let attribution = Attribution {
        path: known.first.path.clone(),
        current: Some(now),
        before: Some(former_attributes),
        after: Some(now_attributes),
    };
    if is_restored {
        if before != now {
            // An undo of an earlier change set accepts this file.
            effects.plan.attributions.push(attribution);
        }
    } else if !is_new && can_be_set {
        if attribution.before == attribution.after {
            effects.unchanged_directories.push(attribution);
        } else {
            effects.add_attribution(attribution);
        }
    }
    Ok(())
}
