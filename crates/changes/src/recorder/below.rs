//! Preserves directories whose entries change, or which are removed or moved as a whole.

use super::{ContentLocation, KeepOutcome, NotRecorded, Recorder, Touch};
use crate::error::ChangesError;
use rustix::fs::{Dir, FileType, Mode, OFlags, openat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io::ErrorKind::PermissionDenied;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

impl Recorder {
    /// True if an unknown path did not exist before the call: its directory was recorded completely
    /// before a move, or did not exist. Its current file arrived with a directory.
    pub(super) fn has_come(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|directory| self.known.get(directory) == Some(&true))
    }

    /// Preserves everything below a directory that is removed or renamed.
    pub(super) fn below(&mut self, top: &Path) -> Result<KeepOutcome, NotRecorded> {
        let mut kept = KeepOutcome::Yes;
        let mut waiting = vec![top.to_owned()];
        while let Some(path) = waiting.pop() {
            let entries = match self.entries(&path) {
                // The directory is moved as a whole. Its entries are unknown without permission to
                // read them.
                Err(ChangesError::Io { error, .. }) if error.kind() == PermissionDenied => {
                    kept = KeepOutcome::Not;
                    continue;
                }
                entries => entries.map_err(NotRecorded::Failed)?,
            };
            for (name, is_dir) in entries {
                let path = path.join(name);
                if self.known.get(&path) == Some(&true) {
                    // Included with its entries.
                    continue;
                }
                kept = kept.and(self.recorded(&path, Touch::Name)?);
                if is_dir {
                    waiting.push(path);
                }
            }
        }
        Ok(kept)
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
                        let seen = self.tree.stat(&path.join(&name)).map_err(error)?;
                        seen.is_some_and(|seen| seen.is_dir())
                    }
                    kind => kind == FileType::Directory,
                };
                entries.push((name, is_dir));
            }
        }
        Ok(entries)
    }

    /// Preserves a directory whose entries or attributes change.
    pub(super) fn directory(&mut self, path: &Path) -> Result<KeepOutcome, ChangesError> {
        if self.known.contains_key(path) {
            return Ok(KeepOutcome::Already);
        }
        let seen = if path.as_os_str().is_empty() {
            Some(self.tree.stat_root()?)
        } else if self.tree.is_on_other_device(path).unwrap_or(false) {
            return Ok(KeepOutcome::Outside);
        } else if self.has_come(path) {
            None
        } else {
            match self.tree.stat(path) {
                Ok(seen) => seen,
                // A file there is preserved through its own path.
                Err(Errno::LOOP | Errno::XDEV | Errno::NAMETOOLONG) => {
                    return Ok(KeepOutcome::Outside);
                }
                Err(error) => return Err(ChangesError::errno("looking at", path)(error)),
            }
        };
        let content = match seen {
            Some(_) => ContentLocation::Unread,
            None => ContentLocation::Nothing,
        };
        match self.put(path, seen, content) {
            Ok(kept) => Ok(kept),
            Err(NotRecorded::Failed(error)) => Err(error),
            Err(NotRecorded::Elsewhere) => Ok(KeepOutcome::Outside),
        }
    }
}
