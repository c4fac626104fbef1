//! Removes trees in private directories, regardless of the permissions in them.

use crate::{O_PATH, proc_path};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::fs::{fstat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{Permissions, remove_dir, set_permissions};
use std::io::{self, ErrorKind};
use std::ops::RangeFrom;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Flags for opening a directory without following a link.
const DIRECTORY_FLAGS: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The maximum number of nested directories that are open at the same time.
const MAX_OPEN_LEVELS: usize = 64;

/// The maximum number of directories that are listed before one of them is removed. A removal that
/// is interrupted has removed a part of even the largest directory.
const MAX_PENDING: usize = 256;

/// Removes a directory with its contents, if it exists. The tree may have any depth.
///
/// # Errors
/// I/O errors. A part of the tree may remain.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match empty_directory(path).and_then(|()| remove_dir(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// An open directory of the tree.
struct Level {
    directory: OwnedFd,
    /// The name in the directory of the level above.
    name: OsString,
    /// The listed directories that are not removed yet.
    pending: Vec<OsString>,
    /// True if no further entry remains.
    is_listed: bool,
}

impl Level {
    fn new(directory: OwnedFd, name: OsString) -> io::Result<Self> {
        let mut level = Self {
            directory,
            name,
            pending: Vec::new(),
            is_listed: false,
        };
        level.list()?;
        Ok(level)
    }

    /// Removes files, and lists the next directories.
    fn list(&mut self) -> io::Result<()> {
        self.pending = remove_files(&self.directory)?;
        self.is_listed = self.pending.len() < MAX_PENDING;
        Ok(())
    }
}

/// Removes the entries of a directory. Directories below the last open level are moved to the top.
/// Opens one component at a time and follows no link, as another process may still change the tree.
fn empty_directory(path: &Path) -> io::Result<()> {
    let directory = open_accessible(CWD, path.as_os_str(), None)?;
    let device = fstat(&directory)?.st_dev;
    let mut top = Level::new(directory, OsString::new())?;
    let mut below: Vec<Level> = Vec::new();
    let mut numbers = 0..;
    loop {
        let level = below.last_mut().unwrap_or(&mut top);
        let Some(name) = level.pending.pop() else {
            if !level.is_listed {
                level.list()?;
                continue;
            }
            let Some(level) = below.pop() else {
                return Ok(());
            };
            let parent = &below.last().unwrap_or(&top).directory;
            match unlinkat(parent, level.name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            }
        };
        let directory = match open_accessible(level.directory.as_fd(), &name, Some(device)) {
            // Another process has removed or moved it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened?,
        };
        match below.last() {
            Some(parent) if below.len() == MAX_OPEN_LEVELS => {
                let moved = move_directory(&parent.directory, &name, &top.directory, &mut numbers)?;
                top.pending.push(moved);
            }
            _ => below.push(Level::new(directory, name)?),
        }
    }
}

/// Moves a directory, and returns its new name, which has the next number that is free.
fn move_directory(
    from: &OwnedFd,
    name: &OsStr,
    to: &OwnedFd,
    numbers: &mut RangeFrom<u64>,
) -> io::Result<OsString> {
    for number in numbers {
        let new = OsString::from(format!(".removed-{number}"));
        match renameat(from, name, to, &new) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            renamed => return renamed.map(|()| new).map_err(Into::into),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Removes files and empty directories in a directory, until [`MAX_PENDING`] other directories are
/// found. Returns the names of these.
fn remove_files(directory: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut directories = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = match entry {
            // Another process has removed the directory.
            Err(Errno::NOENT) => break,
            entry => entry?,
        };
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let flags = match entry.file_type() {
            FileType::Directory => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        match unlinkat(directory, name, flags) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Some systems have `EPERM` for a directory.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::ISDIR | Errno::PERM) => {
                directories.push(name.to_owned());
                if directories.len() == MAX_PENDING {
                    break;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(directories)
}

/// Opens a directory on this device, and makes it accessible and writable: its parent can only
/// move a directory that is writable. Needs `/proc` for a directory without these permissions.
pub(crate) fn open_accessible(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    device: Option<rustix::fs::Dev>,
) -> io::Result<OwnedFd> {
    let directory = openat(parent, name, O_PATH | DIRECTORY_FLAGS, Mode::empty())?;
    let found = fstat(&directory)?;
    if device.is_some_and(|device| device != found.st_dev) {
        return Err(Errno::XDEV.into());
    }
    if !Mode::from_raw_mode(found.st_mode).contains(Mode::RWXU) {
        // The mode of an `O_PATH` descriptor can only be changed by name.
        set_permissions(proc_path(&directory), Permissions::from_mode(0o700))?;
    }
    Ok(openat(&directory, ".", DIRECTORY_FLAGS, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Root ignores permissions, so for root only the checks of modes are meaningful.
    #[test]
    fn remove_tree_removes_unreadable_directories_but_no_link_targets() {
        let temp = tempfile::tempdir().unwrap();
        let (top, outside) = (temp.path().join("top"), temp.path().join("outside"));
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(top.join("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink(&outside, top.join("a/link")).unwrap();
        let mode = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
        mode(&outside, 0o500);
        mode(&top.join("a/b"), 0o000);
        mode(&top.join("a"), 0o500);
        let mode_of = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        open_accessible(CWD, top.join("a/b").as_os_str(), None).unwrap();
        assert_eq!(mode_of(&top.join("a/b")), 0o700);
        mode(&top.join("a/b"), 0o000);
        remove_tree(&top).unwrap();
        assert!(!top.exists() && outside.exists());
        assert_eq!(mode_of(&outside), 0o500);
        remove_tree(&top).unwrap();
    }

    #[test]
    fn large_directory_is_removed_in_parts() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().join("top");
        for number in 0..=2 * MAX_PENDING {
            fs::create_dir_all(top.join(format!("{number}/d"))).unwrap();
        }
        let directory = fs::File::open(&top).unwrap().into();
        assert_eq!(remove_files(&directory).unwrap().len(), MAX_PENDING);
        remove_tree(&top).unwrap();
        assert!(!top.exists());
    }

    /// A directory that is moved to the top may not replace another one.
    #[test]
    fn remove_tree_removes_deep_tree_with_small_stack() {
        const STACK_BYTES: usize = 64 * 1024;
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().join("top");
        for (branch, depth) in [("a", 400), (".removed-0", 1)] {
            let deepest = top.join(branch).join("d/".repeat(depth));
            fs::create_dir_all(&deepest).unwrap();
            fs::write(deepest.join("file"), "").unwrap();
        }
        let removed = top.clone();
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn(move || remove_tree(&removed)).unwrap();
        thread.join().unwrap().unwrap();
        assert!(!top.exists());
    }
}
