//! File attributes from `stat`, for telling whether a file is unchanged.

use crate::files::codec::wire;
use agent_bash_core::changes::FileKind;
use rustix::fs::{AtFlags, FileType, Mode, RawMode, Stat, statat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::AsFd;

/// A file time: seconds and nanoseconds.
pub(crate) type Time = (i64, u32);

/// The attributes of a file at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) ino: u64,
    /// Type and permissions, as in `st_mode`.
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) links: u64,
    pub(crate) size: u64,
    /// The device that a device file represents (`st_rdev`).
    pub(crate) device: u64,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
}

wire!(FileStat {
    ino,
    mode,
    uid,
    gid,
    links,
    size,
    device,
    mtime,
    ctime
});

impl From<&Stat> for FileStat {
    fn from(stat: &Stat) -> Self {
        Self {
            ino: stat.st_ino,
            mode: wide(stat.st_mode) as u32,
            uid: stat.st_uid,
            gid: stat.st_gid,
            links: wide(stat.st_nlink),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            device: wide(stat.st_rdev),
            mtime: (stat.st_mtime, stat.st_mtime_nsec as u32),
            ctime: (stat.st_ctime, stat.st_ctime_nsec as u32),
        }
    }
}

/// Converts a number whose width depends on the system.
pub(crate) fn wide(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// Converts permissions.
pub(crate) fn mode(permissions: u32) -> Mode {
    Mode::from_raw_mode(permissions as RawMode)
}

impl FileStat {
    /// Reads the attributes of a name; `None` if it does not exist. Links are not followed.
    pub(crate) fn at(dir: impl AsFd, name: &OsStr) -> Result<Option<Self>, Errno> {
        match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Self::from(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.mode as RawMode)
    }

    /// Returns the file type for a result.
    pub(crate) fn file_kind(&self) -> FileKind {
        match self.kind() {
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Symlink,
            FileType::Fifo => FileKind::Fifo,
            FileType::Socket => FileKind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => FileKind::Device,
            FileType::RegularFile | FileType::Unknown => FileKind::File,
        }
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.kind() == FileType::Directory
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }

    /// Returns the size of a regular file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        if self.is_file() { self.size } else { 0 }
    }

    /// Returns the permissions with set-id bits.
    pub(crate) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// Returns the attributes with other permissions.
    pub(crate) fn with_permissions(self, permissions: u32) -> Self {
        let mode = self.mode & !0o7777 | permissions;
        Self { mode, ..self }
    }

    /// True if `now` is the same, untouched file, as an undo requires.
    pub(crate) fn is_untouched(&self, now: &Self) -> bool {
        self.is_same_content(now) && self.ctime == now.ctime
    }

    /// True if `now` is the same inode with the same size and modification time, so that the
    /// contents are equal. Permissions and owner may differ.
    pub(crate) fn has_content_of(&self, now: &Self) -> bool {
        self.kind() == now.kind()
            && (self.ino, self.size, self.mtime) == (now.ino, now.size, now.mtime)
    }

    /// True if `now` is the same inode with the same modification time, owner and permissions.
    /// Unlike for [`Self::is_untouched`], the file may have been renamed or linked, which changes
    /// only `ctime`.
    pub(crate) fn is_same_content(&self, now: &Self) -> bool {
        self.ino == now.ino
            && self.mode == now.mode
            && (self.uid, self.gid) == (now.uid, now.gid)
            // Size and times of a directory change with its entries.
            && (self.is_dir() || (self.size == now.size && self.mtime == now.mtime))
    }

    /// True if both files are missing, or have the [same content](Self::is_same_content).
    pub(crate) fn are_same(expected: Option<&Self>, now: Option<&Self>) -> bool {
        match (expected, now) {
            (Some(expected), Some(now)) => expected.is_same_content(now),
            (None, None) => true,
            _ => false,
        }
    }
}
