//! Sets the attributes that a plan lists, after its renames.

use super::{ApplyDirectories, set_attributes};
use crate::files::file_stat::FileStat;
use crate::plan::expected_files::ExpectedFiles;
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
