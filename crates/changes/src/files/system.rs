//! System calls that only Linux has, with substitutes for other systems.

#[cfg(target_os = "linux")]
mod linux {
    use agent_bash_os::proc_path;
    use rustix::fs::{
        AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, chmodat, fstat, openat,
        openat2, statx,
    };
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::os::fd::{AsFd, OwnedFd};
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
        chmodat(CWD, proc_path(&file), mode, AtFlags::empty())
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
    use crate::files::file_stat::wide;
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

#[cfg(test)]
mod tests {
    use super::chmod;
    use crate::files::file_stat::FileStat;
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
