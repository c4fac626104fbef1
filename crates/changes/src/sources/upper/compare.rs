//! Compares one file of the upper directory with the file of the tree at the same path.

use super::{PathFault, UpperScanner, failed_at};
use crate::files::file_stat::FileStat;
use crate::files::git_index;
use crate::plan::file_comparison::{bytes, file_attributes, have_same_bytes};
use crate::plan::{Attribution, SlotRename};
use crate::store::mark::is_later;
use rustix::fs::{FileType, readlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

impl UpperScanner<'_> {
    /// Compares the contents, or, if these are equal, the attributes of a file that is in the tree
    /// and in the upper directory.
    pub(super) fn compare_file(
        &mut self,
        path: &Path,
        upper_path: &Path,
        in_tree: FileStat,
        in_upper: FileStat,
    ) -> Result<(), PathFault> {
        let same = match self.is_same(path, upper_path, &in_tree, &in_upper) {
            // The trial may change a file that this process cannot read, so the times decide.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                in_tree.size == in_upper.size && in_tree.mtime == in_upper.mtime
            }
            same => same.map_err(|error| (path.to_owned(), error))?,
        };
        if same {
            return self.compare_attributes(path, upper_path);
        }
        if !self.has_same_index_entries(path) {
            self.compare_times(path, &in_tree);
        }
        self.add_op(
            SlotRename::Swap,
            path,
            upper_path,
            Some(in_tree),
            Some(in_upper),
        );
        Ok(())
    }

    /// True if the path is the repository's index, and its entries in the tree are those from the
    /// beginning of the trial.
    fn has_same_index_entries(&mut self, path: &Path) -> bool {
        if path != Path::new(git_index::ROOT_INDEX) {
            return false;
        }
        let entries_digest =
            |file: Result<OwnedFd, Errno>| file.ok().and_then(git_index::entries_digest);
        let at_begin = entries_digest(self.set.file(Path::new(git_index::COPY_NAME)));
        at_begin.is_some() && at_begin == entries_digest(self.lower.file(path))
    }

    fn is_same(
        &mut self,
        path: &Path,
        upper_path: &Path,
        in_tree: &FileStat,
        in_upper: &FileStat,
    ) -> io::Result<bool> {
        if in_tree.kind() != in_upper.kind() {
            return Ok(false);
        }
        match in_tree.kind() {
            FileType::RegularFile => {
                if git_index::is_index(path) {
                    let in_tree = git_index::entries_digest(self.lower.file(path)?);
                    if in_tree.is_some()
                        && in_tree == git_index::entries_digest(self.set.file(upper_path)?)
                    {
                        return Ok(true);
                    }
                }
                if in_tree.size != in_upper.size {
                    return Ok(false);
                }
                let lower = self.lower.file(path)?;
                let in_upper = self.set.file(upper_path)?;
                have_same_bytes(File::from(lower), in_upper.into(), in_tree.size)
            }
            FileType::Symlink => {
                let (dir, name) = self.lower.parent(path)?;
                let in_tree = readlinkat(dir, name, Vec::new())?;
                let (dir, name) = self.set.parent(upper_path)?;
                Ok(in_tree == readlinkat(dir, name, Vec::new())?)
            }
            FileType::CharacterDevice | FileType::BlockDevice => {
                Ok(in_tree.device == in_upper.device)
            }
            _ => Ok(true),
        }
    }

    /// Compares the attributes of a file in the tree and in the upper directory.
    pub(super) fn compare_attributes(
        &mut self,
        path: &Path,
        upper_path: &Path,
    ) -> Result<(), PathFault> {
        if self.only.as_ref().is_some_and(|only| !only.contains(path)) {
            return Ok(());
        }
        let in_tree = self.stat_in_tree(path).map_err(failed_at(path))?;
        let in_upper = self.set.stat(upper_path).map_err(failed_at(path))?;
        let (Some(in_tree), Some(in_upper)) = (in_tree, in_upper) else {
            return Ok(());
        };
        let before = file_attributes(self.lower, path, &in_tree).map_err(failed_at(path))?;
        let in_upper = self.modes.original_stat(upper_path, in_upper);
        let after = file_attributes(self.set, upper_path, &in_upper).map_err(failed_at(path))?;
        if before == after {
            return Ok(());
        }
        let attribution = Attribution {
            path: bytes(path),
            current: Some(in_tree),
            before: Some(before),
            after: Some(after),
        };
        if attribution.changes_only_times() {
            // Attributes that another process changed in the tree stay.
            if is_later(in_tree.ctime, self.mark) {
                return Ok(());
            }
        } else {
            self.compare_times(path, &in_tree);
        }
        self.scan.plan.attributions.push(attribution);
        Ok(())
    }

    pub(super) fn compare_times(&mut self, path: &Path, in_tree: &FileStat) {
        let counts_as_later = !self.precautions.before_mark && in_tree.ctime == self.mark;
        if is_later(in_tree.ctime, self.mark) || counts_as_later {
            self.conflict(path);
        }
    }
}
