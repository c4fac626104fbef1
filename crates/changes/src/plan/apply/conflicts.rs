//! Lists the conflicts of a plan: paths that another process changed since the plan was made.

use super::{ApplyDirectories, has_removed_parent, removals};
use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::files::git_index;
use crate::plan::{ApplyPlan, PlannedOp, SlotRename};
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl ApplyDirectories<'_> {
    /// Returns the paths that another process changed since the plan was made.
    pub(crate) fn conflicts(&mut self, plan: &ApplyPlan) -> Result<Vec<Vec<u8>>, ChangesError> {
        if !self.precautions.conflicts {
            return Ok(Vec::new());
        }
        let taken: HashSet<&Path> = removals(plan).map(PlannedOp::path).collect();
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
                // The plan removes the link before it creates this file.
                Err(Errno::LOOP)
                    if op.act == SlotRename::Put && has_removed_parent(path, &taken) =>
                {
                    None
                }
                // A link or a mount in the path is a change as well.
                Err(Errno::LOOP | Errno::XDEV) => {
                    found.push(op.path.clone());
                    continue;
                }
                Err(error) => return Err(failed(error)),
            };
            let is_expected_now = match (&op.current, &now) {
                (Some(expected), Some(now)) if op.act != SlotRename::Put => {
                    expected.is_untouched(now)
                        || (expected.is_dir() && expected.is_same_content(now))
                        || self.has_same_digest(op)
                }
                (None, None) => op.act == SlotRename::Put && self.parent_exists(path, &put),
                // A `Take` before this operation removes the file.
                (None, Some(_)) => op.act == SlotRename::Put && taken.contains(path),
                _ => false,
            };
            if !is_expected_now || self.was_written_in_slot(op) {
                found.push(op.path.clone());
            } else if op.act == SlotRename::Take && now.is_some_and(|now| now.is_dir()) {
                found.extend(self.unplanned_entries(path, &taken)?);
            }
        }
        for attribution in plan.attributions.iter().filter(|a| !a.changes_only_times()) {
            let path = attribution.path();
            let now = self.current_stat(path).ok().flatten();
            let is_expected_now = match (&attribution.current, &now) {
                (Some(expected), Some(now)) if expected.is_dir() => expected.is_same_content(now),
                (Some(expected), Some(now)) => expected.is_untouched(now),
                _ => false,
            };
            if !is_expected_now {
                found.push(attribution.path.clone());
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// True if the file in the slot was changed by another of its names.
    fn was_written_in_slot(&mut self, op: &PlannedOp) -> bool {
        let has_names = |file: &FileStat| file.is_file() && file.links > 1;
        let Some(planned) = op.in_slot.filter(has_names) else {
            return false;
        };
        let in_slot = self.slots.stat(op.slot()).ok().flatten();
        in_slot.is_some_and(|now| now.ino == planned.ino && !planned.is_same_content(&now))
    }

    /// Returns the entries of a directory that the plan does not remove, although it removes the
    /// directory.
    fn unplanned_entries(
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
        let unplanned = all.into_iter();
        let unplanned = unplanned.filter(|path| !taken.contains(path.as_path()));
        Ok(unplanned
            .map(|path| path.as_os_str().as_bytes().to_vec())
            .collect())
    }

    fn parent_exists(&mut self, path: &Path, put: &HashSet<&Path>) -> bool {
        let parent = path.parent().unwrap_or(Path::new(""));
        put.contains(parent)
            || match self.assumed.get(&self.root, parent) {
                Some(assumed) => assumed.stat.is_some_and(|stat| stat.is_dir()),
                None => self.root.directory(parent).is_ok(),
            }
    }

    pub(super) fn has_same_digest(&mut self, op: &PlannedOp) -> bool {
        let Some(digest) = op.digest else {
            return false;
        };
        if let Some(assumed) = self.assumed.get(&self.root, op.path()) {
            return assumed.digest == Some(digest);
        }
        let now = self.root.file(op.path()).ok();
        now.and_then(git_index::entries_digest) == Some(digest)
    }

    pub(crate) fn current_stat(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        if path.as_os_str().is_empty() {
            return self.root.stat_root().map(Some).map_err(|_| Errno::IO);
        }
        match self.stat(path) {
            // A link replaced the directory.
            Err(Errno::LOOP) => Ok(None),
            found => found,
        }
    }

    /// Returns the attributes of the file at a path: as assumed, or as they are now.
    fn stat(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        if let Some(assumed) = self.assumed.get(&self.root, path) {
            return Ok(assumed.stat);
        }
        let now = self.root.stat(path)?;
        Ok(now.map(|now| self.assumed.with_other_names(now)))
    }
}
