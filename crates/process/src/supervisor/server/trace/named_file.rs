//! A file that a system call names. An open descriptor preserves its identity.

use agent_bash_os::proc_path;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, StatVfsMountFlags, Statx, StatxAttributes, StatxFlags,
    fstatvfs, openat, readlinkat, statx,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Device, inode, and the mount through which the file was opened, if the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) mount: Option<u64>,
}

impl FileIdentity {
    fn of(found: &Statx) -> Self {
        let has_mount = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        Self {
            device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            mount: has_mount.then_some(found.stx_mnt_id),
        }
    }

    /// Returns the identity of an open file.
    pub(super) fn of_open(file: &OwnedFd) -> Result<Self, Errno> {
        stat(file, OsStr::new("")).map(|found| Self::of(&found))
    }

    /// Returns the identity of the file at a path, without following a link.
    pub(super) fn at(path: &Path) -> Result<Self, Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        statx(CWD, path, flags, statx_fields()).map(|found| Self::of(&found))
    }

    /// True if both are the same file, possibly through different mounts.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// A file by its directory and name, or a file that is open.
#[derive(Debug)]
pub(in crate::supervisor::server) struct NamedFile {
    /// The directory, or the file itself.
    handle: OwnedFd,
    /// The name in the directory; `None` for the file itself.
    name: Option<OsString>,
    /// The path of the directory, if it is known.
    directory: Option<PathBuf>,
    /// `None` if the name does not exist.
    found: Option<FoundFile>,
}

#[derive(Debug, Clone, Copy)]
struct FoundFile {
    identity: FileIdentity,
    kind: FileType,
    links: u64,
    is_mount_root: bool,
}

impl NamedFile {
    /// Looks up a name in a directory.
    pub(super) fn at(directory: OwnedFd, name: &OsStr) -> Result<Self, Errno> {
        let found = match stat(&directory, name) {
            Ok(found) => Some(FoundFile::of(&found)),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            handle: directory,
            name: Some(name.to_owned()),
            directory: None,
            found,
        })
    }

    /// Opens a name in a directory whose path is known.
    pub(super) fn in_directory(
        directory: OwnedFd,
        path: PathBuf,
        name: &OsStr,
    ) -> Result<Self, Errno> {
        let file = Self::at(directory, name)?;
        let directory = Some(path);
        Ok(Self { directory, ..file })
    }

    /// Returns the file of a descriptor.
    pub(super) fn of(handle: OwnedFd) -> Result<Self, Errno> {
        let found = stat(&handle, OsStr::new(""))?;
        Ok(Self {
            handle,
            name: None,
            directory: None,
            found: Some(FoundFile::of(&found)),
        })
    }

    /// Duplicates the file and its descriptor.
    pub(super) fn try_clone(&self) -> Result<Self, Errno> {
        Ok(Self {
            handle: rustix::io::fcntl_dupfd_cloexec(&self.handle, 0)?,
            name: self.name.clone(),
            directory: self.directory.clone(),
            found: self.found,
        })
    }

    /// Opens the file itself, so that the result does not depend on the directory.
    pub(super) fn reopen_file(&self) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        openat(CWD, self.reachable_path(), flags, Mode::empty()).and_then(Self::of)
    }

    /// Opens the file that a process has open as `number`; `None` if the file has no name.
    pub(super) fn from_descriptor(thread: i32, number: i32) -> Option<Self> {
        let link = if number == CWD.as_raw_fd() {
            format!("/proc/{thread}/cwd")
        } else {
            format!("/proc/{thread}/fd/{number}")
        };
        let target = readlinkat(CWD, &*link, Vec::new()).ok()?;
        let is_path = target.as_bytes().first() == Some(&b'/');
        is_path.then(|| Self::open_link_target(&link)).flatten()
    }

    /// Opens the file that a process has mapped at a range of addresses, in the notation of `maps`.
    /// Without privileges, the file is opened by its path.
    pub(super) fn from_mapping(process: i32, range: &str) -> Option<Self> {
        let link = format!("/proc/{process}/map_files/{range}");
        if let Some(file) = Self::open_link_target(&link) {
            return Some(file);
        }
        let path = readlinkat(CWD, link, Vec::new()).ok()?;
        let path = [format!("/proc/{process}/root").as_bytes(), path.as_bytes()].concat();
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self::of(openat(CWD, path, flags, Mode::empty()).ok()?).ok()
    }

    fn open_link_target(link: &str) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let handle = openat(CWD, link, flags, Mode::empty()).ok()?;
        let file = Self::of(handle).ok()?;
        (file.links() > 0).then_some(file)
    }

    /// True if the mount of the file is read-only for the process that names the file. If the name
    /// does not exist, the mount of the directory counts.
    pub(super) fn is_on_read_only_mount(&self) -> bool {
        let found = match &self.name {
            Some(name) if self.found.is_some() => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                openat(&self.handle, name, flags, Mode::empty()).and_then(fstatvfs)
            }
            _ => fstatvfs(&self.handle),
        };
        found.is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
    }

    /// True if something is mounted at the name, for the process that names the file. Such a name
    /// cannot be moved or removed. False on kernels before 5.8.
    pub(super) fn is_mount_point(&self) -> bool {
        self.found.is_some_and(|found| found.is_mount_root)
    }

    /// Returns the type; `None` if the name does not exist.
    pub(super) fn kind(&self) -> Option<FileType> {
        self.found.map(|found| found.kind)
    }

    pub(super) fn identity(&self) -> Option<FileIdentity> {
        self.found.map(|found| found.identity)
    }

    /// Returns the number of hard links.
    pub(super) fn links(&self) -> u64 {
        self.found.map_or(0, |found| found.links)
    }

    /// Returns the directory, if the file was looked up by name.
    pub(super) fn directory(&self) -> Option<&OwnedFd> {
        self.name.as_ref().map(|_| &self.handle)
    }

    /// Returns the descriptor of the file itself, if it was not looked up by name.
    pub(super) fn open_file(&self) -> Option<&OwnedFd> {
        self.name.is_none().then_some(&self.handle)
    }

    pub(super) fn name(&self) -> Option<&OsStr> {
        self.name.as_deref()
    }

    /// Returns the path as the kernel reports it, possibly of another mount namespace.
    pub(super) fn path(&self) -> Result<PathBuf, Errno> {
        let path = match &self.directory {
            Some(path) => path.clone(),
            None => path_of(&self.handle)?,
        };
        Ok(match &self.name {
            Some(name) => path.join(name),
            None => path,
        })
    }

    /// Returns a path by which this process can open the file, independent of mount namespaces.
    pub(super) fn reachable_path(&self) -> PathBuf {
        let path = PathBuf::from(proc_path(&self.handle));
        match &self.name {
            Some(name) => path.join(name),
            None => path,
        }
    }
}

impl FoundFile {
    fn of(found: &Statx) -> Self {
        Self {
            identity: FileIdentity::of(found),
            kind: FileType::from_raw_mode(u32::from(found.stx_mode)),
            links: u64::from(found.stx_nlink),
            is_mount_root: found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
        }
    }
}

/// Returns the path of an open file.
pub(super) fn path_of(file: &OwnedFd) -> Result<PathBuf, Errno> {
    let target = readlinkat(CWD, proc_path(file), Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

fn stat(directory: &OwnedFd, name: &OsStr) -> Result<Statx, Errno> {
    let mut flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    if name.is_empty() {
        flags |= AtFlags::EMPTY_PATH;
    }
    statx(directory, name, flags, statx_fields())
}

fn statx_fields() -> StatxFlags {
    StatxFlags::TYPE | StatxFlags::INO | StatxFlags::NLINK | StatxFlags::MNT_ID
}
