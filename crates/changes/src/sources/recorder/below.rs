//! Preserves directories whose entries change, or which are removed or moved as a whole.

use super::{ContentLocation, NotRecorded, RecordOutcome, Recorder, Touch};
use crate::error::ChangesError;
use rustix::fs::{Dir, FileType, Mode, OFlags, openat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io::ErrorKind::PermissionDenied;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

impl Recorder {
    /// True if the path did not exist before the call, although it has no record. A parent
    /// directory was recorded with all entries, or did not exist: the current file arrived with a
    /// moved directory.
    pub(super) fn arrived_during_call(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|directory| self.recorded.get(directory) == Some(&true))
    }

    /// Preserves everything below a directory that is removed or renamed.
    pub(super) fn record_below(&mut self, top: &Path) -> Result<RecordOutcome, NotRecorded> {
        let mut outcome = RecordOutcome::Stored;
        let mut waiting = vec![top.to_owned()];
        while let Some(path) = waiting.pop() {
            let entries = match self.entries(&path) {
                // The user can move this directory without being allowed to list its entries.
                Err(ChangesError::Io { error, .. }) if error.kind() == PermissionDenied => {
                    outcome = RecordOutcome::WithoutPreimage;
                    continue;
                }
                entries => entries.map_err(NotRecorded::Failed)?,
            };
            for (name, is_dir) in entries {
                let path = path.join(name);
                if self.recorded.get(&path) == Some(&true) {
                    // This path is recorded with all of its entries.
                    continue;
                }
                outcome = outcome.and(self.record_first_touch(&path, Touch::Name)?);
                if is_dir {
                    waiting.push(path);
                }
            }
        }
        Ok(outcome)
    }

    fn entries(&mut self, path: &Path) -> Result<Vec<(OsString, bool)>, ChangesError> {
        let error = |error| ChangesError::errno("listing", path)(error);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = self.tree.directory(path).map_err(error)?;
        let dir = openat(dir, ".", flags, Mode::empty()).map_err(error)?;
        let mut entries = Vec::new();
        for entry in Dir::new(dir).map_err(error)? {
            let entry = entry.map_err(error)?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let name = OsString::from_vec(name.to_vec());
                let is_dir = match entry.file_type() {
                    FileType::Unknown => {
                        let stat = self.tree.stat(&path.join(&name)).map_err(error)?;
                        stat.is_some_and(|stat| stat.is_dir())
                    }
                    kind => kind == FileType::Directory,
                };
                entries.push((name, is_dir));
            }
        }
        Ok(entries)
    }

    /// Preserves a directory whose entries or attributes change.
    pub(super) fn record_directory(&mut self, path: &Path) -> Result<RecordOutcome, ChangesError> {
        if self.recorded.contains_key(path) {
            return Ok(RecordOutcome::AlreadyRecorded);
        }
        let stat = if path.as_os_str().is_empty() {
            Some(self.tree.stat_root()?)
        } else if self.tree.is_on_other_device(path).unwrap_or(false) {
            return Ok(RecordOutcome::Outside);
        } else if self.arrived_during_call(path) {
            None
        } else {
            match self.tree.stat(path) {
                Ok(stat) => stat,
                // A file behind a link is preserved through the file's own path.
                Err(Errno::LOOP | Errno::XDEV | Errno::NAMETOOLONG) => {
                    return Ok(RecordOutcome::Outside);
                }
                Err(error) => return Err(ChangesError::errno("looking at", path)(error)),
            }
        };
        let content = match stat {
            Some(_) => ContentLocation::Unread,
            None => ContentLocation::NoContents,
        };
        match self.put(path, stat, content) {
            Ok(outcome) => Ok(outcome),
            Err(NotRecorded::Failed(error)) => Err(error),
            Err(NotRecorded::Elsewhere) => Ok(RecordOutcome::Outside),
        }
    }
}
