//! The tree that changes are applied to, by descriptor: no link on the way is followed, no mount is crossed, and nothing
//! outside of it can be reached, whatever is swapped meanwhile.

use crate::error::ChangesError;
use crate::file_stat::FileStat;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, fstat, open, openat2, statx,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// How a directory is opened whose entries are looked at, renamed or removed.
const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Nothing but what is really below.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// An open directory tree.
#[derive(Debug)]
pub(crate) struct RootedDir {
    fd: OwnedFd,
    path: PathBuf,
    /// The directory that was asked for last: operations are in the order of their paths.
    last: Option<(PathBuf, OwnedFd)>,
}

impl RootedDir {
    /// Opens a tree. Its path may lead over links; what is below may not.
    pub(crate) fn open(path: &Path) -> Result<Self, ChangesError> {
        let fd = open(path, HANDLE, Mode::empty()).map_err(ChangesError::errno("opening", path))?;
        Ok(Self {
            fd,
            path: path.to_owned(),
            last: None,
        })
    }

    /// The same, unless it is not that directory any more.
    pub(crate) fn open_same(path: &Path, is: (u64, u64)) -> Result<Self, ChangesError> {
        let tree = Self::open(path)?;
        if tree.identity()? != is {
            let root = path.to_owned();
            return Err(ChangesError::Replaced { root });
        }
        Ok(tree)
    }

    /// Device and inode.
    pub(crate) fn identity(&self) -> Result<(u64, u64), ChangesError> {
        let stat = fstat(&self.fd).map_err(ChangesError::errno("looking at", &self.path))?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// What the top itself looks like.
    pub(crate) fn stat_root(&self) -> Result<FileStat, ChangesError> {
        let stat = fstat(&self.fd).map_err(ChangesError::errno("looking at", &self.path))?;
        Ok(FileStat::from(&stat))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A directory below; the empty path is the top.
    pub(crate) fn directory(&mut self, path: &Path) -> Result<&OwnedFd, Errno> {
        if path.as_os_str().is_empty() {
            return Ok(&self.fd);
        }
        let known = self.last.as_ref().is_some_and(|(last, _)| last == path);
        if !known {
            let fd = openat2(&self.fd, path, HANDLE, Mode::empty(), BENEATH)?;
            self.last = Some((path.to_owned(), fd));
        }
        // Just set if it was not known.
        self.last.as_ref().map(|(_, fd)| fd).ok_or(Errno::NOENT)
    }

    /// The directory that a path is in, and its name there. A path has at least one component.
    pub(crate) fn parent<'a>(&mut self, path: &'a Path) -> Result<(&OwnedFd, &'a OsStr), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        Ok((self.directory(parent)?, name))
    }

    /// What is at a path; `None` if nothing is, or if the way there is gone.
    pub(crate) fn stat(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        match self.parent(path) {
            Ok((dir, name)) => FileStat::at(dir, name),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Forgets what was opened: a directory may be another one since.
    pub(crate) fn forget(&mut self) {
        self.last = None;
    }

    /// Opens a file for reading; no link is followed.
    pub(crate) fn file(&mut self, path: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat2(self.fd.as_fd(), path, flags, Mode::empty(), BENEATH)
    }
}

/// Opens a directory by path, following links: for callers' own choices.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf, ChangesError> {
    let path = path
        .canonicalize()
        .map_err(ChangesError::io("opening", path))?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, &path, flags, Mode::empty())
        .map_err(ChangesError::errno("opening", &path))?;
    Ok(path)
}

/// The mount that a directory is on: renames lead no further.
pub(crate) fn mount_of(path: &Path) -> Result<u64, ChangesError> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let found = statx(CWD, path, flags, StatxFlags::MNT_ID)
        .map_err(ChangesError::errno("looking at", path))?;
    Ok(found.stx_mnt_id)
}
