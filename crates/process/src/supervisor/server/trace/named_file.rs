//! A file that a system call names. An open descriptor keeps its identity.

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Statx, StatxFlags, openat, readlinkat, statx,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Device, inode, and the mount by which a file was reached, if the kernel tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) mount: Option<u64>,
}

impl FileIdentity {
    fn of(found: &Statx) -> Self {
        let tells = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        Self {
            device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            mount: tells.then_some(found.stx_mnt_id),
        }
    }

    /// The identity of an open file.
    pub(super) fn of_open(file: &OwnedFd) -> Result<Self, Errno> {
        look(file, OsStr::new("")).map(|found| Self::of(&found))
    }

    /// The identity of the file at a path; a last link is not followed.
    pub(super) fn at(path: &Path) -> Result<Self, Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        statx(CWD, path, flags, wanted()).map(|found| Self::of(&found))
    }

    /// True if both are the same file, perhaps by different mounts.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// A file by its directory and name, or a file that is open.
#[derive(Debug)]
pub(super) struct NamedFile {
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
}

impl NamedFile {
    /// The file with this name in a directory.
    pub(super) fn at(directory: OwnedFd, name: &OsStr) -> Result<Self, Errno> {
        let found = match look(&directory, name) {
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

    /// The file of a descriptor.
    pub(super) fn of(handle: OwnedFd) -> Result<Self, Errno> {
        let found = look(&handle, OsStr::new(""))?;
        Ok(Self {
            handle,
            name: None,
            directory: None,
            found: Some(FoundFile::of(&found)),
        })
    }

    /// Returns a copy with a descriptor of its own.
    pub(super) fn again(&self) -> Result<Self, Errno> {
        Ok(Self {
            handle: rustix::io::fcntl_dupfd_cloexec(&self.handle, 0)?,
            name: self.name.clone(),
            directory: self.directory.clone(),
            found: self.found,
        })
    }

    /// Returns the file itself, without its directory.
    pub(super) fn opened_itself(&self) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        openat(CWD, self.reachable_path(), flags, Mode::empty()).and_then(Self::of)
    }

    /// The file that a process has open as `number`; `None` if it has no name.
    pub(super) fn opened(thread: i32, number: i32) -> Option<Self> {
        let link = if number == CWD.as_raw_fd() {
            format!("/proc/{thread}/cwd")
        } else {
            format!("/proc/{thread}/fd/{number}")
        };
        let target = readlinkat(CWD, &*link, Vec::new()).ok()?;
        let is_path = target.as_bytes().first() == Some(&b'/');
        is_path.then(|| Self::led_to(&link)).flatten()
    }

    /// The file that a process has mapped at a range of addresses, as `maps` writes it. Without
    /// privileges it is opened by its path.
    pub(super) fn mapped(process: i32, range: &str) -> Option<Self> {
        let link = format!("/proc/{process}/map_files/{range}");
        if let Some(file) = Self::led_to(&link) {
            return Some(file);
        }
        let path = readlinkat(CWD, link, Vec::new()).ok()?;
        let path = [format!("/proc/{process}/root").as_bytes(), path.as_bytes()].concat();
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self::of(openat(CWD, path, flags, Mode::empty()).ok()?).ok()
    }

    fn led_to(link: &str) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let handle = openat(CWD, link, flags, Mode::empty()).ok()?;
        let file = Self::of(handle).ok()?;
        (file.links() > 0).then_some(file)
    }

    /// The type; `None` if the name does not exist.
    pub(super) fn kind(&self) -> Option<FileType> {
        self.found.map(|found| found.kind)
    }

    pub(super) fn identity(&self) -> Option<FileIdentity> {
        self.found.map(|found| found.identity)
    }

    /// The number of hard links.
    pub(super) fn links(&self) -> u64 {
        self.found.map_or(0, |found| found.links)
    }

    /// The directory, if the file was found by name.
    pub(super) fn directory(&self) -> Option<&OwnedFd> {
        self.name.as_ref().map(|_| &self.handle)
    }

    /// The descriptor of the file itself, if it was not found by name.
    pub(super) fn open_file(&self) -> Option<&OwnedFd> {
        self.name.is_none().then_some(&self.handle)
    }

    pub(super) fn name(&self) -> Option<&OsStr> {
        self.name.as_deref()
    }

    /// The path as the kernel reports it. It may belong to another mount namespace.
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

    /// A path of this very file for this process, independent of mount namespaces.
    pub(super) fn reachable_path(&self) -> PathBuf {
        let path = PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()));
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
        }
    }
}

/// The path of an open file.
pub(super) fn path_of(file: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let target = readlinkat(CWD, link, Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

fn look(directory: &OwnedFd, name: &OsStr) -> Result<Statx, Errno> {
    let mut flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    if name.is_empty() {
        flags |= AtFlags::EMPTY_PATH;
    }
    statx(directory, name, flags, wanted())
}

fn wanted() -> StatxFlags {
    StatxFlags::TYPE | StatxFlags::INO | StatxFlags::NLINK | StatxFlags::MNT_ID
}
