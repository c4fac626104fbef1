//! Compares the record of one path with the current file.

use super::same::is_same;
use crate::alike::{bytes, look};
use crate::file_stat::FileStat;
use crate::git_index;
use crate::plan::{ApplyPlan, Attribution, FileAttributes, PlannedOp, SlotRename};
use crate::recorder::{ContentLocation, PathRecord};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, SLOTS_DIR};
use crate::user::User;
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
    /// The inverse plan. Paths without a preimage are in its `skipped`.
    pub(crate) back: ApplyPlan,
    /// Existing directories with known entries.
    pub(super) known: Vec<PathBuf>,
    pub(super) user: Option<User>,
    /// Inodes with a preimage link.
    pub(super) linked: HashSet<u64>,
    /// Directories with unchanged attributes.
    pub(super) alike: Vec<Attribution>,
    /// Paths in directories that the call made unreadable.
    pub(super) unseen: Vec<PathBuf>,
    /// True if the search for names of files that were changed outside the root was cut short.
    pub(crate) is_cut: bool,
}

impl Effects {
    pub(super) fn attribute(&mut self, attribution: Attribution) {
        self.back.attributions.push(Attribution {
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

/// Records the attributes of a new directory, since its entries change its times when it is
/// restored.
pub(super) fn appeared(
    tree: &mut RootedDir,
    path: &Path,
    now: &FileStat,
    effects: &mut Effects,
) -> Result<(), Errno> {
    if now.is_dir() {
        let is = Some(look(tree, path, now)?);
        let back = Attribution {
            path: bytes(path),
            current: Some(*now),
            before: is,
            after: None,
        };
        effects.plan.attributions.push(Attribution {
            current: None,
            before: None,
            after: back.before.clone(),
            ..back.clone()
        });
        effects.back.attributions.push(back);
    }
    Ok(())
}

/// Compares one path.
pub(super) fn one(
    set: &ChangeSet,
    tree: &mut RootedDir,
    path: &Path,
    known: &KnownPath<'_>,
    effects: &mut Effects,
) -> io::Result<()> {
    let before = known.first.stat;
    let now = if path.as_os_str().is_empty() {
        tree.stat_root().ok()
    } else {
        match tree.stat(path) {
            // A link or mount is in the path now, so the path does not exist.
            Err(Errno::LOOP | Errno::XDEV) => None,
            found => found?,
        }
    };
    let slot = Path::new(SLOTS_DIR).join(&known.slot);
    let op = |act, here, there| PlannedOp {
        act,
        path: known.first.path.clone(),
        slot: slot.as_os_str().as_bytes().to_vec(),
        current: here,
        in_slot: there,
        means: None,
        slot_means: None,
    };
    let mut both = |op: PlannedOp, kept: bool| {
        if kept {
            effects.back.ops.push(op.inverse());
        } else {
            effects.back.skipped.push(op.path.clone());
        }
        effects.plan.ops.push(op);
    };
    let is_whole = *known.content != ContentLocation::Unread;
    let kept = match before {
        Some(before) if before.is_dir() => *known.content != ContentLocation::Not,
        _ => is_whole && *known.content != ContentLocation::Not,
    };
    let is_named = before.is_none() && *known.content == ContentLocation::Not;
    if now.is_some_and(|now| now.is_dir()) && is_whole && !is_named {
        effects.known.push(path.to_owned());
    }
    // The entries change its times when they are restored.
    let comes_back = || {
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
            let can_go = *known.content != ContentLocation::Not;
            both(op(SlotRename::Put, None, Some(now)), can_go);
            if can_go {
                appeared(tree, path, &now, effects)?;
            }
            return Ok(());
        }
        (Some(before), None) => {
            both(op(SlotRename::Take, Some(before), None), kept);
            effects.back.attributions.extend(comes_back());
            return Ok(());
        }
        (Some(before), Some(now)) => (before, now),
    };
    if before.is_dir() != now.is_dir() {
        // One file is removed and another is created, so two slots are needed.
        let mut gone = op(SlotRename::Take, Some(before), None);
        gone.slot.push(b'd');
        both(gone, kept);
        both(op(SlotRename::Put, None, Some(now)), true);
        effects.back.attributions.extend(comes_back());
        appeared(tree, path, &now, effects)?;
        return Ok(());
    }
    // A file that was moved here is moved back, even if the former file had equal contents.
    let has_come = before.ino != now.ino && effects.linked.contains(&now.ino);
    if !before.is_dir() && (has_come || !is_same(set, tree, path, &before, &now, known.content)?) {
        let mut op = op(SlotRename::Swap, Some(before), Some(now));
        if git_index::is_index(path) {
            op.slot_means = tree.file(path).ok().and_then(git_index::meaning);
        }
        both(op, kept);
        return Ok(());
    }
    let was = FileAttributes::new(&before, known.first.attributes.clone());
    let is = look(tree, path, &now)?;
    let is_new = before.ino != now.ino && git_index::is_index(path);
    // Directory times of other users change with their entries, and cannot be set.
    let can_be_set = !now.is_dir() || effects.user.as_ref().is_none_or(|it| it.may_dress(&now));
    if !is_new && can_be_set && (was != is || now.is_dir()) {
        let attribution = Attribution {
            path: known.first.path.clone(),
            current: Some(now),
            before: Some(was),
            after: Some(is),
        };
        if attribution.before == attribution.after {
            effects.alike.push(attribution);
        } else {
            effects.attribute(attribution);
        }
    }
    Ok(())
}
