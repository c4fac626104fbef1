//! Applies a plan completely or not at all.
//!
//! A rename never removes a file of another process: a file that leaves the tree is moved to a slot
//! and checked again there. If it is not the expected file, the whole plan is rolled back.

mod attributions;
mod conflicts;
mod read_only;

use crate::error::ChangesError;
use crate::files::attributes;
use crate::files::file_stat::{FileStat, mode};
use crate::files::git_index;
use crate::files::rooted_dir::RootedDir;
use crate::files::system::{chmod, syncfs};
use crate::plan::assumed_files::AssumedFiles;
use crate::plan::expected_files::ExpectedFiles;
use crate::plan::journal::{Journal, Status};
use crate::plan::steps::{Precautions, Step, Steps};
use crate::plan::{ApplyPlan, Attribution, FileAttributes, PlannedOp, SlotRename};
use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, RenameFlags, Timespec, Timestamps, chownat, openat, renameat_with,
    utimensat,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

/// Without these flags, a rename could replace a file of another process.
const NO_RENAME_FLAGS: &str = "its file system, or a filter of system calls, does not support the flags of `renameat2`, so commit, undo and redo are impossible there; `changes diff` shows the contents";

/// The directories in which a plan is applied.
pub(crate) struct ApplyDirectories<'a> {
    /// The recorded directory.
    pub(crate) root: RootedDir,
    /// The change set's directory with the slots.
    pub(crate) slots: RootedDir,
    /// True if the journal is on another file system than the root and the slots.
    pub(crate) has_separate_journal: bool,
    /// Files as they will be when the plans before this one are applied.
    pub(crate) assumed: AssumedFiles,
    pub(crate) steps: &'a dyn Steps,
    pub(crate) precautions: Precautions,
}

/// Why a plan was not applied.
pub(crate) enum ApplyFailure {
    /// Another process changed the file at this path.
    Changed(Vec<u8>),
    /// A system call failed.
    System(Vec<u8>, io::Error),
}

impl ApplyFailure {
    fn errno(op: &PlannedOp) -> impl FnOnce(Errno) -> Self + '_ {
        |error| Self::System(op.path.clone(), error.into())
    }

    /// Converts the error of a rename. NFS, 9p and others refuse the flags of `renameat2`.
    fn rename(op: &PlannedOp) -> impl FnOnce(Errno) -> Self + '_ {
        |error| match error {
            Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => {
                Self::System(op.path.clone(), io::Error::other(NO_RENAME_FLAGS))
            }
            _ => Self::errno(op)(error),
        }
    }
}

impl ApplyDirectories<'_> {
    /// Applies the plan. After a failure, rolls it back.
    pub(crate) fn run(&mut self, journal: &mut Journal) -> Result<(), ApplyFailure> {
        let plan = journal.plan.clone();
        let done = self.apply(&plan).and_then(|()| {
            self.record_done(journal, &plan, plan.skipped.clone())
                .map_err(|error| ApplyFailure::System(Vec::new(), error))
        });
        if done.is_err() {
            self.roll_back_and_record(journal);
        }
        done
    }

    /// Rolls back the journal's plan and records the result. If the process dies meanwhile, the
    /// next process that opens the store continues.
    pub(crate) fn roll_back_and_record(&mut self, journal: &mut Journal) {
        let plan = journal.plan.clone();
        // A failed write of the journal must not leave the tree half changed.
        let _ = journal.write_status(Status::RollingBack);
        let not_reverted = self.roll_back(&plan);
        let _ = journal.record_rolled_back(self.with_current_stats(&plan, not_reverted));
    }

    /// Returns a rolled-back plan with the files as they are now, since the rollback changed times
    /// of inodes.
    fn with_current_stats(&mut self, planned: &ApplyPlan, not_reverted: Vec<Vec<u8>>) -> ApplyPlan {
        let mut plan = planned.clone();
        let expected = ExpectedFiles::of(planned);
        let stays: HashSet<&[u8]> = not_reverted.iter().map(Vec::as_slice).collect();
        plan.ops
            .retain(|op| op.act != SlotRename::Put && !stays.contains(&op.path[..]));
        for op in &mut plan.ops {
            let now = self.current_stat(op.path()).ok().flatten();
            op.current = expected.or_known(&op.path, op.current, now);
        }
        for it in &mut plan.attributions {
            let now = self.current_stat(it.path()).ok().flatten();
            it.current = expected.with_set(it, it.before.as_ref(), it.current, now);
        }
        plan.skipped = not_reverted;
        plan
    }

    /// Returns the paths of the plan that are not as before the plan. Times of inodes are ignored,
    /// because a rollback changed them.
    pub(crate) fn not_as_before(&mut self, plan: &ApplyPlan) -> Vec<Vec<u8>> {
        let taken: HashSet<&Path> = removals(plan).map(PlannedOp::path).collect();
        let mut changed = Vec::new();
        for op in &plan.ops {
            let is_replacement = op.act == SlotRename::Put && taken.contains(op.path());
            let is_as_before = is_replacement
                || self.is_as_before(op.path(), op.current.as_ref())
                || self.has_same_digest(op);
            if !is_as_before {
                changed.push(op.path.clone());
            }
        }
        for it in &plan.attributions {
            let is_changed = it.current.is_some() && !it.changes_only_times();
            if is_changed && !self.is_as_before(it.path(), it.current.as_ref()) {
                changed.push(it.path.clone());
            }
        }
        changed
    }

    fn is_as_before(&mut self, path: &Path, expected: Option<&FileStat>) -> bool {
        let now = self.current_stat(path);
        now.is_ok_and(|now| FileStat::are_same(expected, now.as_ref()))
    }

    fn apply(&mut self, plan: &ApplyPlan) -> Result<(), ApplyFailure> {
        let as_failure = |result: io::Result<()>| {
            result.map_err(|error| ApplyFailure::System(Vec::new(), error))
        };
        as_failure(self.steps.at(Step::Journaled))?;
        for (number, op) in plan.ops.iter().enumerate() {
            self.perform(op).map_err(ApplyFailure::rename(op))?;
            self.recheck(op)?;
            as_failure(self.steps.at(Step::Operated(number + 1)))?;
        }
        for (number, attribution) in plan.attributions.iter().enumerate() {
            self.apply_attribution(attribution, true)
                .map_err(|error| ApplyFailure::System(attribution.path.clone(), error.into()))?;
            as_failure(self.steps.at(Step::Attributed(number + 1)))?;
        }
        // Another process may have written to a swapped-out file through an open descriptor.
        for op in plan.ops.iter().filter(|op| op.act != SlotRename::Put) {
            self.recheck(op)?;
        }
        Ok(())
    }

    /// Fails if another process has changed the files of an operation meanwhile.
    fn recheck(&mut self, op: &PlannedOp) -> Result<(), ApplyFailure> {
        if self.precautions.rechecks && !self.is_expected(op).map_err(ApplyFailure::errno(op))? {
            return Err(ApplyFailure::Changed(op.path.clone()));
        }
        Ok(())
    }

    /// Performs the rename of an operation, which involves only these two names.
    fn perform(&mut self, op: &PlannedOp) -> Result<(), Errno> {
        let flags = match op.act {
            SlotRename::Swap => RenameFlags::EXCHANGE,
            SlotRename::Put if !self.precautions.no_replace => RenameFlags::empty(),
            SlotRename::Put | SlotRename::Take => RenameFlags::NOREPLACE,
        };
        match self.rename(op, flags) {
            Err(Errno::ACCESS) => {
                self.make_parents_writable(op)?;
                match self.rename(op, flags) {
                    Err(Errno::ACCESS) => self.rename_read_only(op, flags),
                    other => other,
                }
            }
            other => other,
        }
    }

    fn rename(&mut self, op: &PlannedOp, flags: RenameFlags) -> Result<(), Errno> {
        let (tree_dir, name) = self.root.parent(op.path())?;
        let (slot_dir, slot) = self.slots.parent(op.slot())?;
        match op.act {
            SlotRename::Put => renameat_with(slot_dir, slot, tree_dir, name, flags),
            SlotRename::Swap | SlotRename::Take => {
                renameat_with(tree_dir, name, slot_dir, slot, flags)
            }
        }?;
        if op.current.is_some_and(|stat| stat.is_dir())
            || op.in_slot.is_some_and(|stat| stat.is_dir())
        {
            self.root.forget();
            self.slots.forget();
        }
        Ok(())
    }

    /// True if the file that was moved to the slot is the expected, unchanged file. A directory
    /// must be empty.
    fn is_expected(&mut self, op: &PlannedOp) -> Result<bool, Errno> {
        let (Some(expected), false) = (&op.current, op.act == SlotRename::Put) else {
            return Ok(true);
        };
        let Some(now) = self.slots.stat(op.slot())? else {
            return Ok(false);
        };
        if expected.is_dir() {
            return Ok(now.is_dir() && self.slots.names(op.slot())?.is_empty());
        }
        if expected.is_same_content(&now) {
            return Ok(true);
        }
        let Some(digest) = op.digest else {
            return Ok(false);
        };
        let now = self.slots.file(op.slot()).ok();
        Ok(now.and_then(git_index::entries_digest) == Some(digest))
    }

    /// True if the operation is done.
    fn is_done(&mut self, op: &PlannedOp) -> Result<bool, Errno> {
        let slot = self.slots.stat(op.slot())?;
        Ok(match op.act {
            SlotRename::Put => slot.is_none(),
            SlotRename::Take => slot.is_some(),
            SlotRename::Swap => slot.map(|stat| stat.ino) != op.in_slot.map(|stat| stat.ino),
        })
    }

    /// Rolls back the operations that are done. Returns the paths that cannot be rolled back
    /// because another process changed them.
    fn roll_back(&mut self, plan: &ApplyPlan) -> Vec<Vec<u8>> {
        self.root.forget();
        self.slots.forget();
        let expected = ExpectedFiles::of(plan);
        let mut not_reverted = Vec::new();
        for op in plan.ops.iter().rev() {
            let reverted = match self.is_done(op) {
                Ok(false) => Ok(()),
                Ok(true) => self.revert(op, &expected),
                Err(error) => Err(error),
            };
            if reverted.is_err() {
                not_reverted.push(op.path.clone());
            }
        }
        not_reverted.extend(self.apply_known_attributions(plan, false));
        not_reverted
    }

    fn revert(&mut self, op: &PlannedOp, expected: &ExpectedFiles<'_>) -> Result<(), Errno> {
        let inverse = op.inverse();
        if let Some(added) = &op.in_slot {
            // Another process may have changed or replaced the file that was put. Its file stays.
            let now = self.root.stat(op.path())?;
            if now.is_none_or(|now| !expected.is_still(&op.path, added, &now)) {
                return Err(Errno::EXIST);
            }
        }
        self.perform(&inverse)?;
        let took_directory = op.in_slot.is_some_and(|stat| stat.is_dir());
        if took_directory && !self.slots.names(op.slot()).is_ok_and(|it| it.is_empty()) {
            // Another process has created a file in the directory, or the directory is unreadable.
            self.perform(op)?;
            return Err(Errno::NOTEMPTY);
        }
        Ok(())
    }

    /// Completes the plan after a crash. Paths that another process changed since are skipped and
    /// recorded.
    pub(crate) fn complete_after_crash(
        &mut self,
        journal: &mut Journal,
    ) -> Result<(), ChangesError> {
        let plan = journal.plan.clone();
        let expected = ExpectedFiles::of(&plan);
        let mut skipped = plan.skipped.clone();
        for op in &plan.ops {
            let is_complete = match self.is_done(op) {
                Ok(true) => self.check_or_revert(op, &expected),
                Ok(false) => self.complete_op(op, &expected),
                Err(error) => Err(error),
            };
            match is_complete {
                Ok(true) => {}
                Ok(false) | Err(_) => skipped.push(op.path.clone()),
            }
        }
        skipped.extend(self.apply_known_attributions(&plan, true));
        let failed = ChangesError::io("finishing", self.root.path().to_owned());
        self.record_done(journal, &plan, skipped).map_err(failed)
    }

    /// Checks the file that left the tree, since a crash may have happened before the check.
    /// Reverts the operation if the file is not the expected one. Returns true if the operation
    /// stays done.
    fn check_or_revert(
        &mut self,
        op: &PlannedOp,
        expected: &ExpectedFiles<'_>,
    ) -> Result<bool, Errno> {
        if self.is_expected(op)? {
            return Ok(true);
        }
        self.revert(op, expected)?;
        Ok(false)
    }

    fn complete_op(&mut self, op: &PlannedOp, expected: &ExpectedFiles<'_>) -> Result<bool, Errno> {
        let now = self.root.stat(op.path())?;
        let is_expected_now = FileStat::are_same(op.current.as_ref(), now.as_ref());
        if !is_expected_now && !self.has_same_digest(op) {
            return Ok(false);
        }
        self.perform(op)?;
        self.check_or_revert(op, expected)
    }

    /// Records the end, with the inverse plan for the current files.
    fn record_done(
        &mut self,
        journal: &mut Journal,
        plan: &ApplyPlan,
        skipped: Vec<Vec<u8>>,
    ) -> io::Result<()> {
        self.root.forget();
        self.slots.forget();
        let expected = ExpectedFiles::of(plan);
        let skipped_paths: HashSet<Vec<u8>> = skipped.iter().cloned().collect();
        let mut inverse_plan = ApplyPlan {
            skipped,
            ..ApplyPlan::default()
        };
        for op in plan
            .ops
            .iter()
            .filter(|op| !skipped_paths.contains(&op.path))
        {
            let mut inverse = op.inverse();
            inverse.current = match inverse.act {
                SlotRename::Put => None,
                _ => expected.or_known(&op.path, op.in_slot, self.root.stat(op.path())?),
            };
            inverse.in_slot = match inverse.act {
                SlotRename::Take => None,
                _ => self.slots.stat(op.slot())?,
            };
            inverse_plan.ops.push(inverse);
        }
        inverse_plan.ops.reverse();
        let put = plan.ops.iter();
        let put = put.filter_map(|op| Some((&op.path[..], op.in_slot?)));
        let put: HashMap<&[u8], FileStat> = put.collect();
        let attributions = plan.attributions.iter();
        for attribution in attributions.filter(|it| !skipped_paths.contains(&it.path)) {
            let now = self.current_stat(attribution.path())?;
            let known = put.get(&attribution.path[..]).copied();
            let known = known.or(attribution.current).filter(|_| now.is_some());
            let current = expected.with_set(attribution, attribution.after.as_ref(), known, now);
            inverse_plan.attributions.push(Attribution {
                path: attribution.path.clone(),
                current,
                before: attribution.after.clone(),
                after: attribution.before.clone(),
            });
        }
        self.sync().map_err(io::Error::other)?;
        journal.record_done(inverse_plan, self.steps)?;
        // The plan is applied: a failure from here on does not change that.
        let _ = self.steps.at(Step::Done);
        Ok(())
    }
}

impl ApplyDirectories<'_> {
    /// Syncs the tree before a journal on another file system records the end.
    pub(crate) fn sync(&self) -> Result<(), ChangesError> {
        if !self.has_separate_journal || !self.precautions.synced {
            return Ok(());
        }
        let root = self.root.path();
        let opened = File::open(root).map_err(ChangesError::io("opening", root))?;
        syncfs(&opened).map_err(ChangesError::errno("syncing", root))
    }
}

/// True if the plan removes a parent of this path.
fn has_removed_parent(path: &Path, taken: &HashSet<&Path>) -> bool {
    path.ancestors().skip(1).any(|above| taken.contains(above))
}

fn removals(plan: &ApplyPlan) -> impl Iterator<Item = &PlannedOp> {
    plan.ops.iter().filter(|op| op.act == SlotRename::Take)
}

/// Sets the attributes of a file. `is_link` is true for a symbolic link, which has no permissions
/// and no extended attributes of its own.
pub(crate) fn set_attributes(
    dir: std::os::fd::BorrowedFd<'_>,
    name: &OsStr,
    wanted: &FileAttributes,
    is_link: bool,
) -> Result<(), Errno> {
    let Some(now) = FileStat::at(dir, name)? else {
        return Err(Errno::NOENT);
    };
    let has_owner = (now.uid, now.gid) == (wanted.uid, wanted.gid);
    if !has_owner {
        let (user, group) = (Uid::from_raw(wanted.uid), Gid::from_raw(wanted.gid));
        chownat(
            dir,
            name,
            Some(user),
            Some(group),
            AtFlags::SYMLINK_NOFOLLOW,
        )?;
    }
    if !is_link {
        let has_attributes = attributes::all(dir, name)? == wanted.attributes;
        if !has_attributes {
            attributes::replace_all(dir, name, &wanted.attributes)?;
        }
        // A change of owner clears set-id bits, so the mode is set afterwards. Attributes such as
        // an access control list are modes as well.
        if !has_owner || !has_attributes || now.permissions() != wanted.permissions {
            let mode = mode(wanted.permissions);
            chmod(dir, name, now.ino, mode)?;
        }
    }
    if now.mtime == wanted.mtime {
        return Ok(());
    }
    let time = Timespec {
        tv_sec: wanted.mtime.0,
        tv_nsec: i64::from(wanted.mtime.1),
    };
    let times = Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_OMIT,
        },
        last_modification: time,
    };
    utimensat(dir, name, &times, AtFlags::SYMLINK_NOFOLLOW)
}

impl RootedDir {
    /// Returns the names in a directory.
    pub(crate) fn names(&mut self, path: &Path) -> Result<Vec<std::ffi::OsString>, Errno> {
        use std::os::unix::ffi::OsStringExt;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = openat(self.directory(path)?, ".", flags, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::new(dir)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(std::ffi::OsString::from_vec(name));
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_rename_flags_are_named() {
        let op = PlannedOp {
            act: SlotRename::Swap,
            path: b"a".to_vec(),
            slot: Vec::new(),
            current: None,
            in_slot: None,
            digest: None,
            slot_digest: None,
        };
        for (errno, is_named) in [
            (Errno::INVAL, true),
            (Errno::NOSYS, true),
            (Errno::OPNOTSUPP, true),
            (Errno::NOSPC, false),
        ] {
            let ApplyFailure::System(path, error) = ApplyFailure::rename(&op)(errno) else {
                panic!("{errno}");
            };
            let text = error.to_string();
            assert_eq!(
                (&path[..], text.contains("renameat2")),
                (&b"a"[..], is_named)
            );
        }
    }
}
