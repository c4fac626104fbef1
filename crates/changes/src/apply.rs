//! Applies a plan completely or not at all.
//!
//! A rename never removes a file of another process: whatever leaves the tree is in a slot and is
//! checked again there. If it is not the expected file, everything is rolled back.

mod read_only;

use crate::assumed::AssumedFiles;
use crate::attributes;
use crate::error::ChangesError;
use crate::file_stat::FileStat;
use crate::git_index;
use crate::journal::{Journal, Status};
use crate::plan::{ApplyPlan, Attribution, FileAttributes, PlannedOp, SlotRename};
use crate::rooted_dir::RootedDir;
use crate::steps::{Precautions, Step, Steps};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps, chmodat, chownat,
    openat, renameat_with, syncfs, utimensat,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The directories in which a plan is applied.
pub(crate) struct ApplyDirectories<'a> {
    /// The recorded directory.
    pub(crate) root: RootedDir,
    /// The change set's directory with the slots.
    pub(crate) slots: RootedDir,
    /// True if the journal is on another file system than root and slots.
    pub(crate) is_far: bool,
    /// Files as they will be when the plans before this one are applied.
    pub(crate) assumed: AssumedFiles,
    pub(crate) steps: &'a dyn Steps,
    pub(crate) care: Precautions,
}

/// Why a plan was not applied.
pub(crate) enum ApplyFailure {
    /// The file at this path was changed.
    Changed(Vec<u8>),
    /// A system call failed.
    System(Vec<u8>, io::Error),
}

impl ApplyFailure {
    fn errno(op: &PlannedOp) -> impl FnOnce(Errno) -> Self + '_ {
        |error| Self::System(op.path.clone(), error.into())
    }
}

impl ApplyDirectories<'_> {
    /// Returns the paths that another process changed since the plan was made.
    pub(crate) fn conflicts(&mut self, plan: &ApplyPlan) -> Result<Vec<Vec<u8>>, ChangesError> {
        if !self.care.conflicts {
            return Ok(Vec::new());
        }
        let taken: HashSet<&Path> = takes(plan).map(PlannedOp::path).collect();
        let put: HashSet<&Path> = plan
            .ops
            .iter()
            .filter(|op| op.act == SlotRename::Put)
            .map(PlannedOp::path)
            .collect();
        let mut found = Vec::new();
        for op in &plan.ops {
            let path = op.path();
            let failed = ChangesError::errno("looking at", self.root.path().join(path));
            let now = match self.stat(path) {
                Ok(now) => now,
                // The link is removed before this file is put.
                Err(Errno::LOOP) if op.act == SlotRename::Put && is_below(path, &taken) => None,
                // A link or a mount in the path is a change as well.
                Err(Errno::LOOP | Errno::XDEV) => {
                    found.push(op.path.clone());
                    continue;
                }
                Err(error) => return Err(failed(error)),
            };
            let same = match (&op.current, &now) {
                (Some(here), Some(now)) if op.act != SlotRename::Put => {
                    here.is_untouched(now)
                        || (here.is_dir() && here.is_same_content(now))
                        || self.means_the_same(op)
                }
                (None, None) => op.act == SlotRename::Put && self.parent_is_there(path, &put),
                // A `Take` before this operation removes the file.
                (None, Some(_)) => op.act == SlotRename::Put && taken.contains(path),
                _ => false,
            };
            if !same {
                found.push(op.path.clone());
            } else if op.act == SlotRename::Take && now.is_some_and(|now| now.is_dir()) {
                found.extend(self.strangers(path, &taken)?);
            }
        }
        for attribution in plan.attributions.iter().filter(|a| !a.is_soft()) {
            let path = attribution.path();
            let now = self.look_at(path).ok().flatten();
            let same = match (&attribution.current, &now) {
                (Some(here), Some(now)) if here.is_dir() => here.is_same_content(now),
                (Some(here), Some(now)) => here.is_untouched(now),
                _ => false,
            };
            if !same {
                found.push(attribution.path.clone());
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Returns the entries of a directory to be taken that the plan does not take.
    fn strangers(
        &mut self,
        path: &Path,
        taken: &HashSet<&Path>,
    ) -> Result<Vec<Vec<u8>>, ChangesError> {
        let error = ChangesError::errno("listing", self.root.path().join(path));
        let names = match self.root.names(path) {
            Ok(names) => names,
            Err(Errno::NOENT) if self.assumed.is_dir(&self.root, path) => Vec::new(),
            Err(failure) => return Err(error(failure)),
        };
        let all = names.into_iter().map(|name| path.join(name));
        let all = self.assumed.entries(&self.root, path, all.collect());
        let strange = all.into_iter();
        let strange = strange.filter(|path| !taken.contains(path.as_path()));
        Ok(strange
            .map(|path| path.as_os_str().as_bytes().to_vec())
            .collect())
    }

    fn parent_is_there(&mut self, path: &Path, put: &HashSet<&Path>) -> bool {
        let parent = path.parent().unwrap_or(Path::new(""));
        put.contains(parent)
            || match self.assumed.get(&self.root, parent) {
                Some(assumed) => assumed.stat.is_some_and(|stat| stat.is_dir()),
                None => self.root.directory(parent).is_ok(),
            }
    }

    fn means_the_same(&mut self, op: &PlannedOp) -> bool {
        let Some(means) = op.means else { return false };
        if let Some(assumed) = self.assumed.get(&self.root, op.path()) {
            return assumed.means == Some(means);
        }
        let now = self.root.file(op.path()).ok();
        now.and_then(git_index::meaning) == Some(means)
    }

    pub(crate) fn look_at(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        if path.as_os_str().is_empty() {
            return self.root.stat_root().map(Some).map_err(|_| Errno::IO);
        }
        match self.stat(path) {
            // A link replaced the directory.
            Err(Errno::LOOP) => Ok(None),
            found => found,
        }
    }

    /// Returns the file at a path, as assumed or as it is.
    fn stat(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        match self.assumed.get(&self.root, path) {
            Some(assumed) => Ok(assumed.stat),
            None => self.root.stat(path),
        }
    }

    /// Applies the plan, or rolls it back.
    pub(crate) fn run(&mut self, journal: &mut Journal) -> Result<(), ApplyFailure> {
        let plan = journal.plan.clone();
        let done = self.apply(&plan).and_then(|()| {
            self.finish(journal, &plan, plan.skipped.clone())
                .map_err(|error| ApplyFailure::System(Vec::new(), error))
        });
        if done.is_err() {
            self.back_out(journal);
        }
        done
    }

    /// Rolls back. If the process dies meanwhile, the next process that opens the store continues.
    pub(crate) fn back_out(&mut self, journal: &mut Journal) {
        let plan = journal.plan.clone();
        // A failed write of the journal must not leave the tree half changed.
        let _ = journal.conclude(Status::RollingBack);
        let left = self.roll_back(&plan);
        let _ = journal.rolled_back(self.looked_at_again(plan, left));
    }

    /// Returns a plan with the files as they are now: the rollback changed times of inodes.
    fn looked_at_again(&mut self, mut plan: ApplyPlan, left: Vec<Vec<u8>>) -> ApplyPlan {
        plan.ops
            .retain(|op| op.act != SlotRename::Put && !left.contains(&op.path));
        let ops = plan.ops.iter_mut().map(|op| (&op.path, &mut op.current));
        let attributions = plan.attributions.iter_mut();
        for (path, current) in ops.chain(attributions.map(|it| (&it.path, &mut it.current))) {
            *current = self
                .look_at(Path::new(OsStr::from_bytes(path)))
                .ok()
                .flatten();
        }
        plan.skipped = left;
        plan
    }

    /// True if the tree is as before the plan. Times of inodes are ignored, because the rollback
    /// changed them.
    pub(crate) fn is_as_before(&mut self, plan: &ApplyPlan) -> bool {
        let mut same = |path: &Path, here: &Option<FileStat>| match (here, self.look_at(path)) {
            (Some(here), Ok(Some(now))) => here.is_same_content(&now),
            (None, Ok(None)) => true,
            _ => false,
        };
        let taken: HashSet<&Path> = takes(plan).map(PlannedOp::path).collect();
        plan.ops.iter().all(|op| {
            same(op.path(), &op.current) || (op.act == SlotRename::Put && taken.contains(op.path()))
        }) && plan
            .attributions
            .iter()
            .all(|it| it.current.is_none() || same(it.path(), &it.current))
    }

    fn apply(&mut self, plan: &ApplyPlan) -> Result<(), ApplyFailure> {
        let reached = |result: io::Result<()>| {
            result.map_err(|error| ApplyFailure::System(Vec::new(), error))
        };
        reached(self.steps.at(Step::Journaled))?;
        for (number, op) in plan.ops.iter().enumerate() {
            self.operate(op).map_err(ApplyFailure::errno(op))?;
            if self.care.second_look && !self.is_expected(op).map_err(ApplyFailure::errno(op))? {
                return Err(ApplyFailure::Changed(op.path.clone()));
            }
            reached(self.steps.at(Step::Operated(number + 1)))?;
        }
        for (number, attribution) in plan.attributions.iter().enumerate() {
            self.attribute(attribution, true)
                .map_err(|error| ApplyFailure::System(attribution.path.clone(), error.into()))?;
            reached(self.steps.at(Step::Attributed(number + 1)))?;
        }
        // Another process may have written to a swapped-out file through an open descriptor.
        for op in plan.ops.iter().filter(|op| op.act != SlotRename::Put) {
            if self.care.second_look && !self.is_expected(op).map_err(ApplyFailure::errno(op))? {
                return Err(ApplyFailure::Changed(op.path.clone()));
            }
        }
        Ok(())
    }

    /// Performs the rename of an operation, which involves only these two names.
    fn operate(&mut self, op: &PlannedOp) -> Result<(), Errno> {
        let flags = match op.act {
            SlotRename::Swap => RenameFlags::EXCHANGE,
            SlotRename::Put if !self.care.no_replace => RenameFlags::empty(),
            SlotRename::Put | SlotRename::Take => RenameFlags::NOREPLACE,
        };
        match self.rename(op, flags) {
            Err(Errno::ACCESS) => {
                self.open_up_parents(op)?;
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
        if op.current.is_some_and(|seen| seen.is_dir())
            || op.in_slot.is_some_and(|seen| seen.is_dir())
        {
            self.root.forget();
            self.slots.forget();
        }
        Ok(())
    }

    /// True if the file that was moved to the slot is the expected, unchanged one. A directory must
    /// be empty.
    fn is_expected(&mut self, op: &PlannedOp) -> Result<bool, Errno> {
        let (Some(here), false) = (&op.current, op.act == SlotRename::Put) else {
            return Ok(true);
        };
        let Some(now) = self.slots.stat(op.slot())? else {
            return Ok(false);
        };
        if here.is_dir() {
            return Ok(now.is_dir() && self.slots.names(op.slot())?.is_empty());
        }
        if here.is_same_content(&now) {
            return Ok(true);
        }
        let Some(means) = op.means else {
            return Ok(false);
        };
        let now = self.slots.file(op.slot()).ok();
        Ok(now.and_then(git_index::meaning) == Some(means))
    }

    /// True if the operation is done.
    fn is_done(&mut self, op: &PlannedOp) -> Result<bool, Errno> {
        let slot = self.slots.stat(op.slot())?;
        Ok(match op.act {
            SlotRename::Put => slot.is_none(),
            SlotRename::Take => slot.is_some(),
            SlotRename::Swap => slot.map(|seen| seen.ino) != op.in_slot.map(|seen| seen.ino),
        })
    }

    /// Rolls back the operations that are done. Returns the paths that cannot be rolled back
    /// because another process changed them.
    fn roll_back(&mut self, plan: &ApplyPlan) -> Vec<Vec<u8>> {
        self.root.forget();
        self.slots.forget();
        let mut left = Vec::new();
        for op in plan.ops.iter().rev() {
            let back = match self.is_done(op) {
                Ok(false) => Ok(()),
                Ok(true) => self.take_back(op),
                Err(error) => Err(error),
            };
            if back.is_err() {
                left.push(op.path.clone());
            }
        }
        for attribution in &plan.attributions {
            // Failing to restore the times of a directory loses no contents.
            let _ = self.attribute(attribution, false);
        }
        left
    }

    fn take_back(&mut self, op: &PlannedOp) -> Result<(), Errno> {
        let inverse = op.inverse();
        if let Some(ours) = &op.in_slot {
            // Another process may have replaced the file that was put. Its file stays.
            let now = self.root.stat(op.path())?;
            if now.is_none_or(|now| now.ino != ours.ino) {
                return Err(Errno::EXIST);
            }
        }
        self.operate(&inverse)
    }

    /// Sets the attributes after the change, or those before it. Skips a missing file, and one that
    /// another process changed if only times differ.
    fn attribute(&mut self, attribution: &Attribution, forwards: bool) -> Result<(), Errno> {
        let wanted = if forwards {
            &attribution.after
        } else {
            &attribution.before
        };
        let Some(wanted) = wanted else { return Ok(()) };
        let path = attribution.path();
        let is_link = match self.look_at(path) {
            Ok(Some(now)) => now.kind() == FileType::Symlink,
            Ok(None) => return Ok(()),
            Err(error) => return Err(error),
        };
        if path.as_os_str().is_empty() {
            let dir = self.root.directory(path)?;
            return dress(dir.as_fd(), OsStr::new("."), wanted, is_link);
        }
        let (dir, name) = self.root.parent(path)?;
        dress(dir.as_fd(), name, wanted, is_link)
    }

    /// Completes the plan after a crash. Paths that another process changed since are skipped and
    /// recorded.
    pub(crate) fn finish_forward(&mut self, journal: &mut Journal) -> Result<(), ChangesError> {
        let plan = journal.plan.clone();
        let mut left = plan.skipped.clone();
        for op in &plan.ops {
            let forward = match self.is_done(op) {
                Ok(true) => self.settle(op),
                Ok(false) => self.forward(op),
                Err(error) => Err(error),
            };
            match forward {
                Ok(true) => {}
                Ok(false) | Err(_) => left.push(op.path.clone()),
            }
        }
        for attribution in &plan.attributions {
            let _ = self.attribute(attribution, true);
        }
        let failed = ChangesError::io("finishing", self.root.path().to_owned());
        self.finish(journal, &plan, left).map_err(failed)
    }

    /// Checks an operation that a crash may have interrupted before the file that left the tree was
    /// checked.
    fn settle(&mut self, op: &PlannedOp) -> Result<bool, Errno> {
        if self.is_expected(op)? {
            return Ok(true);
        }
        self.take_back(op)?;
        Ok(false)
    }

    fn forward(&mut self, op: &PlannedOp) -> Result<bool, Errno> {
        let now = self.root.stat(op.path())?;
        let same = match (&op.current, &now) {
            (Some(here), Some(now)) => here.is_same_content(now),
            (None, None) => true,
            _ => false,
        };
        if !same && !self.means_the_same(op) {
            return Ok(false);
        }
        self.operate(op)?;
        self.settle(op)
    }

    /// Records the current state, from which the plan can be rolled back.
    fn finish(
        &mut self,
        journal: &mut Journal,
        plan: &ApplyPlan,
        left: Vec<Vec<u8>>,
    ) -> io::Result<()> {
        self.root.forget();
        self.slots.forget();
        let gone: HashSet<Vec<u8>> = left.iter().cloned().collect();
        let mut back = ApplyPlan {
            skipped: left,
            ..ApplyPlan::default()
        };
        for op in plan.ops.iter().filter(|op| !gone.contains(&op.path)) {
            let mut inverse = op.inverse();
            inverse.current = match inverse.act {
                SlotRename::Put => None,
                _ => self.root.stat(op.path())?,
            };
            inverse.in_slot = match inverse.act {
                SlotRename::Take => None,
                _ => self.slots.stat(op.slot())?,
            };
            back.ops.push(inverse);
        }
        back.ops.reverse();
        for attribution in &plan.attributions {
            let here = self.look_at(attribution.path())?;
            back.attributions.push(Attribution {
                path: attribution.path.clone(),
                current: here,
                before: attribution.after.clone(),
                after: attribution.before.clone(),
            });
        }
        self.sync().map_err(io::Error::other)?;
        journal.done(back, self.steps)?;
        // The plan is applied: a failure from here on does not change that.
        let _ = self.steps.at(Step::Done);
        Ok(())
    }
}

impl ApplyDirectories<'_> {
    /// Syncs the tree before a journal on another file system records the end.
    pub(crate) fn sync(&self) -> Result<(), ChangesError> {
        if !self.is_far || !self.care.synced {
            return Ok(());
        }
        let root = self.root.path();
        let open = File::open(root).map_err(ChangesError::io("opening", root))?;
        syncfs(&open).map_err(ChangesError::errno("syncing", root))
    }
}

/// True if a parent of this path is taken before the path is put.
fn is_below(path: &Path, taken: &HashSet<&Path>) -> bool {
    path.ancestors().skip(1).any(|above| taken.contains(above))
}

fn takes(plan: &ApplyPlan) -> impl Iterator<Item = &PlannedOp> {
    plan.ops.iter().filter(|op| op.act == SlotRename::Take)
}

/// Sets the attributes of a file. Times are last: the other attributes do not change them, but a
/// directory's entries do.
pub(crate) fn dress(
    dir: std::os::fd::BorrowedFd<'_>,
    name: &OsStr,
    wanted: &FileAttributes,
    is_link: bool,
) -> Result<(), Errno> {
    let Some(now) = FileStat::at(dir, name)? else {
        return Err(Errno::NOENT);
    };
    if (now.uid, now.gid) != (wanted.uid, wanted.gid) {
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
        if attributes::all(dir, name)? != wanted.attributes {
            attributes::make(dir, name, &wanted.attributes)?;
        }
        // A change of owner clears set-id bits, so the mode is set afterwards.
        chmodat(
            dir,
            name,
            Mode::from_raw_mode(wanted.permissions),
            AtFlags::empty(),
        )?;
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
