//! Versions of files, for comparing two scans.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Seconds and nanoseconds since 1970.
pub(super) type Time = (i64, i64);

/// `S_IFDIR` and `S_IFLNK`, the values of [`FileVersion::kind`] for directories and symbolic links.
pub(super) const DIRECTORY_KIND: u32 = 0o040_000;
pub(super) const LINK_KIND: u32 = 0o120_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileVersion {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The file type bits of `st_mode`.
    pub(super) kind: u32,
    /// The `ctime`, which no call can set. For a directory, it changes with the names in it. Zero
    /// if it is not compared.
    pub(super) changed: Time,
}

impl FileVersion {
    pub(super) fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            kind: found.mode() & 0o170_000,
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// Returns the version of the nearest existing directory around a path.
    pub(super) fn around(path: &Path) -> Option<Self> {
        path.ancestors().skip(1).find_map(Self::at)
    }

    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path)
            .ok()
            .map(|found| Self::of(&found))
    }

    /// True if the file at the path still has this version.
    pub(super) fn is_at(self, path: &Path) -> bool {
        Self::at(path).is_some_and(|now| {
            let is_same = (self.device, self.inode, self.kind) == (now.device, now.inode, now.kind);
            is_same && (self.changed == (0, 0) || self.changed == now.changed)
        })
    }

    /// Returns the version without its time, for a file that is compared by existence only.
    pub(super) fn without_time(self) -> Self {
        Self {
            changed: (0, 0),
            ..self
        }
    }
}

/// True for a file with several hard links. A mount protects one name of the file, so a call may
/// have written the file by another name.
pub(super) fn has_further_names(path: &Path) -> bool {
    let found = fs::symlink_metadata(path);
    found.is_ok_and(|found| found.is_file() && found.nlink() > 1)
}
