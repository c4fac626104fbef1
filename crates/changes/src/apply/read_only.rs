//! Renames that the permissions of directories refuse, although the user owns them.

use super::ApplyDirectories;
use crate::file_stat::FileStat;
use crate::plan::{PlannedOp, SlotRename};
use crate::rooted_dir::RootedDir;
use rustix::fs::{AtFlags, Mode, RenameFlags, chmodat};
use rustix::io::Errno;
use std::path::Path;

impl ApplyDirectories<'_> {
    /// Makes the directories above both names of an operation writable.
    pub(super) fn open_up_parents(&mut self, op: &PlannedOp) -> Result<(), Errno> {
        open_up(&mut self.root, op.path())?;
        open_up(&mut self.slots, op.slot())
    }

    /// Renames a directory that its owner may not write. A rename to another parent writes its
    /// `..`.
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
        let seen = FileStat::at(parent, name)?;
        let seen = seen.filter(FileStat::is_dir).ok_or(Errno::ACCESS)?;
        let mode = Mode::from_raw_mode(seen.permissions());
        chmodat(parent, name, mode | Mode::WUSR, AtFlags::empty())?;
        let renamed = self.rename(op, flags);
        let (tree, path) = if is_put == renamed.is_ok() {
            (&mut self.root, op.path())
        } else {
            (&mut self.slots, op.slot())
        };
        let (parent, name) = tree.parent(path)?;
        chmodat(parent, name, mode, AtFlags::empty())?;
        renamed
    }
}

/// Makes a directory of this user writable. The plan restores its permissions at the end.
fn open_up(tree: &mut RootedDir, path: &Path) -> Result<(), Errno> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    for directory in above
        .into_iter()
        .filter(|path| !path.as_os_str().is_empty())
    {
        let (parent, name) = tree.parent(directory)?;
        if let Some(seen) = FileStat::at(parent, name)?
            && seen.is_dir()
            && seen.permissions() & 0o700 != 0o700
        {
            let mode = Mode::from_raw_mode(seen.permissions() | 0o700);
            chmodat(parent, name, mode, AtFlags::empty())?;
        }
    }
    tree.forget();
    Ok(())
}
