//! Sets the attributes that a plan lists, after its renames.

use super::{ApplyDirectories, set_attributes};
use crate::expected_files::ExpectedFiles;
use crate::file_stat::FileStat;
use crate::plan::{ApplyPlan, Attribution};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::AsFd;

impl ApplyDirectories<'_> {
    /// Sets the attributes that a file has after the change, or, without `set_after`, before it.
    /// Does nothing if the file is missing.
    pub(super) fn apply_attribution(
        &mut self,
        attribution: &Attribution,
        set_after: bool,
    ) -> Result<(), Errno> {
        let wanted = if set_after {
            &attribution.after
        } else {
            &attribution.before
        };
        let Some(wanted) = wanted else { return Ok(()) };
        let path = attribution.path();
        let is_link = match self.current_stat(path) {
            Ok(Some(now)) => now.kind() == FileType::Symlink,
            Ok(None) => return Ok(()),
            Err(error) => return Err(error),
        };
        if path.as_os_str().is_empty() {
            let dir = self.root.directory(path)?;
            return set_attributes(dir.as_fd(), OsStr::new("."), wanted, is_link);
        }
        let (dir, name) = self.root.parent(path)?;
        set_attributes(dir.as_fd(), name, wanted, is_link)
    }

    /// Sets the attributes after a crash or a failure, except of files that another process has
    /// changed or replaced since. Returns the paths of these files.
    pub(super) fn apply_known_attributions(
        &mut self,
        plan: &ApplyPlan,
        set_after: bool,
    ) -> Vec<Vec<u8>> {
        let mut renamed: HashMap<&[u8], Vec<FileStat>> = HashMap::new();
        for op in &plan.ops {
            let files = [op.current, op.in_slot].into_iter().flatten();
            renamed.entry(&op.path).or_default().extend(files);
        }
        let expected = ExpectedFiles::of(plan);
        let mut changed = Vec::new();
        for attribution in &plan.attributions {
            let path = &attribution.path[..];
            let Ok(Some(now)) = self.current_stat(attribution.path()) else {
                continue;
            };
            let of_ops = renamed.get(path).into_iter().flatten();
            let mut known = attribution.current.iter().chain(of_ops);
            if known.any(|file| expected.is_still(path, file, &now)) {
                // Failing to restore the times of a directory loses no contents.
                let _ = self.apply_attribution(attribution, set_after);
            } else if !attribution.changes_only_times() {
                changed.push(attribution.path.clone());
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use crate::file_stat::FileStat;
    use crate::system::chmod;
    use rustix::fs::Mode;
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn permissions_are_not_set_through_a_link_or_on_another_file() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        for name in ["outside", "file", "other"] {
            fs::write(at(name), "").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        let dir = File::open(temp.path()).unwrap();
        let name = OsStr::new("file");
        let inode = FileStat::at(&dir, name).unwrap().unwrap().ino;
        let mode = |name: &str| at(name).metadata().unwrap().permissions().mode() & 0o777;
        let wanted = Mode::from_raw_mode(0o644);
        chmod(&dir, name, inode, wanted).unwrap();
        assert_eq!(mode("file"), 0o644, "control");
        chmod(&dir, OsStr::new("other"), inode, wanted).unwrap_err();
        fs::remove_file(at("file")).unwrap();
        symlink("outside", at("file")).unwrap();
        chmod(&dir, name, inode, wanted).unwrap_err();
        let link = FileStat::at(&dir, name).unwrap().unwrap().ino;
        chmod(&dir, name, link, wanted).unwrap_err();
        assert_eq!((mode("outside"), mode("other")), (0o600, 0o600));
    }
}
