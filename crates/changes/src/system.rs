//! System calls that only Linux has, with substitutes for other systems.

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::{
        AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, chmodat, fstat, openat,
        openat2, statx,
    };
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::os::fd::{AsFd, AsRawFd, OwnedFd};
    use std::path::Path;

    /// The flags for resolving only paths below the directory.
    const BENEATH_FLAGS: ResolveFlags = ResolveFlags::BENEATH
        .union(ResolveFlags::NO_SYMLINKS)
        .union(ResolveFlags::NO_MAGICLINKS)
        .union(ResolveFlags::NO_XDEV);

    /// The flags for opening a file of any kind to change its permissions.
    const FILE_FLAGS: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// Opens a path below a directory. Neither follows links nor leaves the mount.
    pub(crate) fn open_beneath(
        top: &OwnedFd,
        path: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        openat2(top, path, flags, Mode::empty(), BENEATH_FLAGS)
    }

    /// Sets the permissions of the file with this inode. Fails with `ELOOP` if a link or another
    /// file is in its place: `chmod` would follow the link, out of the tree.
    pub(crate) fn chmod(dir: impl AsFd, name: &OsStr, inode: u64, mode: Mode) -> Result<(), Errno> {
        let file = openat(dir, name, FILE_FLAGS, Mode::empty())?;
        let stat = fstat(&file)?;
        let is_link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
        if is_link || stat.st_ino != inode {
            return Err(Errno::LOOP);
        }
        let opened = format!("/proc/self/fd/{}", file.as_raw_fd());
        chmodat(CWD, opened, mode, AtFlags::empty())
    }

    /// Returns the id of the mount that an open file is on; `None` before Linux 5.8, or if a
    /// seccomp filter refuses `statx`.
    pub(crate) fn mount_id(file: &OwnedFd) -> Option<u64> {
        let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
        let has_id = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        has_id.then_some(found.stx_mnt_id)
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{chmod, mount_id, open_beneath};
#[cfg(target_os = "linux")]
pub(crate) use rustix::fs::{ioctl_ficlone, mknodat, syncfs};

/// Missing: clones, FIFOs and devices in an undo, and `openat2`. A mount is told by its device.
#[cfg(not(target_os = "linux"))]
mod other {
    use crate::file_stat::wide;
    use rustix::fs::{AtFlags, FileType, Mode, OFlags, chmodat, fstat, sync};
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::Path;

    pub(crate) fn open_beneath(_: &OwnedFd, _: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    pub(crate) fn chmod(dir: impl AsFd, name: &OsStr, _: u64, mode: Mode) -> Result<(), Errno> {
        chmodat(dir, name, mode, AtFlags::SYMLINK_NOFOLLOW)
    }

    pub(crate) fn mount_id(file: &OwnedFd) -> Option<u64> {
        fstat(file).ok().map(|found| wide(found.st_dev))
    }

    pub(crate) fn ioctl_ficlone(_: impl AsFd, _: impl AsFd) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    pub(crate) fn mknodat(
        _: impl AsFd,
        _: &OsStr,
        _: FileType,
        _: Mode,
        _: u64,
    ) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    pub(crate) fn syncfs(_: impl AsFd) -> Result<(), Errno> {
        sync();
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;
