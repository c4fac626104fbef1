//! Renames of files that the user owns, in directories whose permissions refuse the rename.

use super::ApplyDirectories;
use crate::files::file_stat::{FileStat, mode};
use crate::files::rooted_dir::RootedDir;
use crate::files::system::chmod;
use crate::plan::{PlannedOp, SlotRename};
use rustix::fs::{Mode, RenameFlags};
use rustix::io::Errno;
use std::path::Path;

impl ApplyDirectories<'_> {
    /// Makes the directories above both names of an operation writable.
    pub(super) fn make_parents_writable(&mut self, op: &PlannedOp) -> Result<(), Errno> {
        make_writable(&mut self.root, op.path())?;
        make_writable(&mut self.slots, op.slot())
    }

    /// Renames a directory without write permission: it is made writable for the rename, which
    /// changes the directory's `..`.
    pub(super) fn rename_read_only(
        &mut self,
        op: &PlannedOp,
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        let is_put = op.act == SlotRename::Put;
        let (tree, path) = if is_put {
            (&mut self.slots, op.slot())
        } else {
            (&mut self.root, op.path())
        };
        let (parent, name) = tree.parent(path)?;
        let stat = FileStat::at(parent, name)?;
        let stat = stat.filter(FileStat::is_dir).ok_or(Errno::ACCESS)?;
        let mode = mode(stat.permissions());
        chmod(parent, name, stat.ino, mode | Mode::WUSR)?;
        let renamed = self.rename(op, flags);
        let (tree, path) = if is_put == renamed.is_ok() {
            (&mut self.root, op.path())
        } else {
            (&mut self.slots, op.slot())
        };
        let (parent, name) = tree.parent(path)?;
        chmod(parent, name, stat.ino, mode)?;
        renamed
    }
}

/// Makes the directory of `path` readable and writable for this user, and the directories above it
/// searchable. The plan restores the permissions of directories with changed entries.
fn make_writable(tree: &mut RootedDir, path: &Path) -> Result<(), Errno> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    for directory in above
        .into_iter()
        .filter(|path| !path.as_os_str().is_empty())
    {
        let is_parent = path.parent() == Some(directory);
        let needed = if is_parent { 0o700 } else { 0o100 };
        let (parent, name) = tree.parent(directory)?;
        if let Some(stat) = FileStat::at(parent, name)?
            && stat.is_dir()
            && stat.permissions() & needed != needed
        {
            let mode = mode(stat.permissions() | 0o700);
            chmod(parent, name, stat.ino, mode)?;
        }
    }
    tree.forget();
    Ok(())
}
