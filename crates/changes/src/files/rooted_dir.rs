//! A directory tree, opened by descriptor. No path is resolved through a link, to another mount, or
//! outside the tree, even if another process replaces directories meanwhile.

use crate::error::ChangesError;
use crate::files::file_stat::{FileStat, wide};
use crate::files::system::{mount_id as kernel_mount_id, open_beneath};
use agent_bash_os::{O_PATH, is_btrfs};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, open, openat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The flags for opening a directory to examine, rename or remove its entries.
const HANDLE_FLAGS: OFlags = O_PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The largest number of files that the search for another device examines.
const MAX_SEARCHED_FILES: usize = 100_000;

/// An open directory tree.
#[derive(Debug)]
pub(crate) struct RootedDir {
    fd: OwnedFd,
    path: PathBuf,
    /// The directory that was opened last. Operations are sorted by path, so the next operation
    /// often needs the same directory.
    cached: Option<(PathBuf, OwnedFd)>,
    /// The device of the root, on btrfs only: a btrfs subvolume is another device, but not a mount.
    device: Option<u64>,
}

impl RootedDir {
    /// Opens a tree. Links in `path` itself are followed, links below it are not.
    pub(crate) fn open(path: &Path) -> Result<Self, ChangesError> {
        let fd = open(path, HANDLE_FLAGS, Mode::empty())
            .map_err(ChangesError::errno("opening", path))?;
        let device = is_btrfs(&fd).then(|| fstat(&fd).map(|found| wide(found.st_dev)));
        Ok(Self {
            fd,
            path: path.to_owned(),
            cached: None,
            device: device.and_then(Result::ok),
        })
    }

    /// Returns true if the path is on another device than the root, so that no rename leads there.
    pub(crate) fn is_on_other_device(&mut self, path: &Path) -> Result<bool, Errno> {
        let Some(device) = self.device else {
            return Ok(false);
        };
        for directory in path.ancestors().skip(1) {
            match self.directory(directory) {
                Ok(opened) => {
                    if wide(fstat(opened)?.st_dev) != device {
                        return Ok(true);
                    }
                    break;
                }
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(error),
            }
        }
        let Ok((directory, name)) = self.parent(path) else {
            return Ok(false);
        };
        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        Ok(found.is_ok_and(|found| wide(found.st_dev) != device))
    }

    /// Opens a tree; fails if its directory does not have the `expected` device and inode.
    pub(crate) fn open_same(path: &Path, expected: (u64, u64)) -> Result<Self, ChangesError> {
        let tree = Self::open(path)?;
        if tree.identity()? != expected {
            let root = path.to_owned();
            return Err(ChangesError::Replaced { root });
        }
        Ok(tree)
    }

    /// Returns a directory on another device than the root, if the search finds one.
    pub(crate) fn directory_on_other_device(&mut self) -> Option<PathBuf> {
        self.device?;
        let (mut waiting, mut files) = (vec![PathBuf::new()], 0);
        while let Some(directory) = waiting.pop() {
            let entries = self.entries(&directory).unwrap_or_default();
            files += entries.len();
            if files > MAX_SEARCHED_FILES {
                return None;
            }
            for (name, kind) in entries {
                let path = directory.join(name);
                if kind != FileType::Directory {
                    continue;
                }
                if self.is_on_other_device(&path).unwrap_or(false) {
                    return Some(path);
                }
                waiting.push(path);
            }
        }
        None
    }

    fn entries(&mut self, path: &Path) -> Result<Vec<(OsString, FileType)>, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(self.directory(path)?, ".", flags, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in Dir::new(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                entries.push((OsString::from_vec(name.to_vec()), entry.file_type()));
            }
        }
        Ok(entries)
    }

    /// Returns device and inode of the top directory.
    pub(crate) fn identity(&self) -> Result<(u64, u64), ChangesError> {
        let stat = fstat(&self.fd).map_err(ChangesError::errno("looking at", &self.path))?;
        Ok((wide(stat.st_dev), stat.st_ino))
    }

    /// Returns the attributes of the top directory itself.
    pub(crate) fn stat_root(&self) -> Result<FileStat, ChangesError> {
        let stat = fstat(&self.fd).map_err(ChangesError::errno("looking at", &self.path))?;
        Ok(FileStat::from(&stat))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory below the top directory; the empty path is the top directory itself.
    pub(crate) fn directory(&mut self, path: &Path) -> Result<&OwnedFd, Errno> {
        if path.as_os_str().is_empty() {
            return Ok(&self.fd);
        }
        let is_cached = self
            .cached
            .as_ref()
            .is_some_and(|(cached, _)| cached == path);
        if !is_cached {
            let fd = open_below(&self.fd, path, HANDLE_FLAGS)?;
            self.cached = Some((path.to_owned(), fd));
        }
        // The cache was filled above.
        self.cached.as_ref().map(|(_, fd)| fd).ok_or(Errno::NOENT)
    }

    /// Opens the parent directory of a path, and returns it with the last name of the path. The
    /// path must not be empty.
    pub(crate) fn parent<'a>(&mut self, path: &'a Path) -> Result<(&OwnedFd, &'a OsStr), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        Ok((self.directory(parent)?, name))
    }

    /// Returns the attributes of the file at a path; `None` if the file or a parent does not exist.
    pub(crate) fn stat(&mut self, path: &Path) -> Result<Option<FileStat>, Errno> {
        match self.parent(path) {
            Ok((dir, name)) => FileStat::at(dir, name),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Drops the cached directory, because its path may lead to another directory now.
    pub(crate) fn forget(&mut self) {
        self.cached = None;
    }

    /// Opens a file for reading; no link is followed.
    pub(crate) fn file(&mut self, path: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        open_below(&self.fd, path, flags)
    }
}

/// Opens a path below a directory. Neither follows links nor leaves the mount.
fn open_below(top: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    match open_beneath(top, path, flags) {
        // `openat2` is not available: gVisor, kernels before 5.6, seccomp filters that do not know
        // this system call.
        Err(Errno::NOSYS | Errno::PERM) => open_by_steps(top, path, flags),
        opened => opened,
    }
}

/// Opens a path below a directory, one name at a time. Fails as `openat2` does: `ELOOP` at a link,
/// `EXDEV` at another mount or a `..`.
fn open_by_steps(top: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mount = mount_id(top)?;
    let step = O_PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut current = openat(top, ".", step | OFlags::DIRECTORY, Mode::empty())?;
    let mut names = path.components().peekable();
    while let Some(Component::Normal(name)) = names.next() {
        let next = openat(&current, name, step, Mode::empty())?;
        let kind = FileType::from_raw_mode(fstat(&next)?.st_mode);
        if kind == FileType::Symlink {
            return Err(Errno::LOOP);
        }
        if mount_id(&next)? != mount {
            return Err(Errno::XDEV);
        }
        if names.peek().is_some() {
            if kind != FileType::Directory {
                return Err(Errno::NOTDIR);
            }
            current = next;
        } else {
            return openat(&current, name, flags | OFlags::NOFOLLOW, Mode::empty());
        }
    }
    // The path is empty, or leaves the directory.
    Err(Errno::XDEV)
}

/// Returns the id of the mount that an open file is on.
fn mount_id(file: &OwnedFd) -> Result<u64, Errno> {
    if let Some(id) = kernel_mount_id(file) {
        return Ok(id);
    }
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()));
    let info = info.map_err(|_| Errno::NOSYS)?;
    let number = info
        .lines()
        .find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    // gVisor has no mount ids. Another file system is another device.
    number.map_or_else(|| Ok(wide(fstat(file)?.st_dev)), Ok)
}

/// Returns the canonical path of a directory. Links are followed, so the path must come from the
/// caller, not from a call's files.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf, ChangesError> {
    let path = path
        .canonicalize()
        .map_err(ChangesError::io("opening", path))?;
    let flags = O_PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, &path, flags, Mode::empty()).map_err(ChangesError::errno("opening", &path))?;
    Ok(path)
}

/// Returns the id of a directory's mount. Renames are possible only within one mount.
pub(crate) fn mount_of(path: &Path) -> Result<u64, ChangesError> {
    let flags = O_PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(CWD, path, flags, Mode::empty()).and_then(|opened| mount_id(&opened));
    found.map_err(ChangesError::errno("looking at", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn open_by_steps_fails_like_openat2() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("a/b")).unwrap();
        fs::write(temp.path().join("a/b/file"), "content").unwrap();
        symlink("a", temp.path().join("link")).unwrap();
        symlink("file", temp.path().join("a/b/to_file")).unwrap();
        let open_top = |path: &Path| open(path, HANDLE_FLAGS, Mode::empty()).unwrap();
        let top = open_top(temp.path());
        let file = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for (path, flags, want) in [
            ("a/b", HANDLE_FLAGS, None),
            ("a/b/file", file, None),
            ("a/b/file", HANDLE_FLAGS, Some(Errno::NOTDIR)),
            ("a/b/file/x", file, Some(Errno::NOTDIR)),
            ("a/none/x", HANDLE_FLAGS, Some(Errno::NOENT)),
            ("link/b", HANDLE_FLAGS, Some(Errno::LOOP)),
            ("link", HANDLE_FLAGS, Some(Errno::LOOP)),
            ("a/b/to_file", file, Some(Errno::LOOP)),
            ("../x", HANDLE_FLAGS, Some(Errno::XDEV)),
        ] {
            let by_steps = open_by_steps(&top, Path::new(path), flags).map(drop);
            assert_eq!(by_steps.err(), want, "{path}");
            let at_once = open_beneath(&top, Path::new(path), flags).map(drop);
            assert_eq!(at_once.err(), want, "{path}");
        }
        let root = open_top(Path::new("/"));
        let other_mount = open_by_steps(&root, Path::new("proc/self"), HANDLE_FLAGS).map(drop);
        assert_eq!(other_mount, Err(Errno::XDEV));
    }
}
