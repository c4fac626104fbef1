//! The root of a change set. Determines whether a file is below the root, by path or by another
//! mount of the same file system.

use super::named_file::{FileIdentity, NamedFile, path_of};
use super::paths::{DIRECTORY_FLAGS, PathArgument};
use agent_bash_changes::Touch;
use agent_bash_os::{mountinfo_fields, mountinfo_path};
use rustix::fs::{CWD, FileType, Mode, openat};
use rustix::io::Errno;
use std::cell::OnceCell;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The root of a change set.
#[derive(Debug)]
pub(super) struct RecordedRoot {
    root: PathBuf,
    root_directory: OwnedFd,
    identity: FileIdentity,
    /// The root's path within its file system, computed on first use.
    path_in_file_system: OnceCell<Option<PathBuf>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileLocation {
    /// At this path below the root.
    Inside(PathBuf),
    /// At this path outside the root. `names` is 1 if the path is a name of the file, 0 if that is
    /// unknown.
    Outside {
        path: PathBuf,
        names: u64,
        /// True if the file is on the root's file system, and may have a name below the root.
        is_same_file_system: bool,
    },
    /// The file may be below the root at an unknown path.
    Unknown,
}

impl RecordedRoot {
    pub(super) fn new(root: &Path) -> Result<Self, Errno> {
        let root_directory = openat(CWD, root, DIRECTORY_FLAGS, Mode::empty())?;
        let identity = FileIdentity::of_open(&root_directory)?;
        Ok(Self {
            root: root.to_owned(),
            root_directory,
            identity,
            path_in_file_system: OnceCell::new(),
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn is_btrfs(&self) -> bool {
        agent_bash_os::is_btrfs(&self.root_directory)
    }

    /// Locates a file to which a thread refers by this path.
    pub(super) fn locate(
        &self,
        file: &NamedFile,
        path: PathBuf,
        touch: Touch,
        thread: i32,
    ) -> Result<FileLocation, Errno> {
        let directory = file.directory().map(FileIdentity::of_open).transpose()?;
        let target = file.identity();
        // A name belongs to the mount of its directory; the file may be a mount itself.
        let mount_source = match (touch, directory) {
            (Touch::Name, Some(directory)) => directory,
            _ => target.or(directory).ok_or(Errno::NOENT)?,
        };
        let is_file = file.kind() == Some(FileType::RegularFile);
        if let (Some(directory), Some(target)) = (directory, target)
            && touch != Touch::Name
            && target.mount != directory.mount
        {
            // A mount point: its name does not belong to its file system.
            if is_file {
                return Ok(outside(path, 0, target.device == self.identity.device));
            }
            return self.locate(&file.reopen_file()?, path, touch, thread);
        }
        // An open file, to which the thread refers without a directory and a name.
        let is_open_file = directory.is_none() && is_file;
        if mount_source.mount == self.identity.mount {
            let is_target =
                |found: FileIdentity| target.is_some_and(|target| target.is_same(&found));
            if is_open_file && !FileIdentity::at(&path).is_ok_and(is_target) {
                return Ok(outside(path, 0, true));
            }
            return Ok(if path.starts_with(&self.root) {
                FileLocation::Inside(path)
            } else {
                outside(path, 1, true)
            });
        }
        let device = directory.unwrap_or(mount_source).device;
        if device != self.identity.device {
            return Ok(outside(path, 1, false));
        }
        if is_open_file {
            return self.locate_by_name(&path, mount_source, touch, thread);
        }
        let located = self.locate_by_mount(file, thread)?;
        Ok(match located {
            Some(located) => located,
            None if touch != Touch::Name && is_file => outside(path, 0, true),
            None => FileLocation::Unknown,
        })
    }

    /// Locates an open file by resolving its path for the thread.
    fn locate_by_name(
        &self,
        path: &Path,
        file: FileIdentity,
        touch: Touch,
        thread: i32,
    ) -> Result<FileLocation, Errno> {
        let argument = PathArgument {
            thread,
            directory_fd: None,
            path: path.as_os_str().as_bytes(),
            follow: false,
            in_root: false,
        };
        let named = argument
            .resolve()?
            .filter(|named| named.identity() == Some(file));
        match named.filter(|named| named.directory().is_some()) {
            Some(named) => self.locate(&named, named.path()?, touch, thread),
            None => Ok(outside(path.to_owned(), 0, true)),
        }
    }

    /// Locates a file through another mount of the same file system; `None` if the mount is not in
    /// the mount table.
    fn locate_by_mount(
        &self,
        file: &NamedFile,
        thread: i32,
    ) -> Result<Option<FileLocation>, Errno> {
        let directory = file.directory().or(file.open_file());
        let directory = directory.ok_or(Errno::NOENT)?;
        let Some(mut path_in_file_system) = file_system_path(directory, thread)? else {
            return Ok(None);
        };
        path_in_file_system.extend(file.name());
        let root_path = self.path_in_file_system.get_or_init(|| {
            let root_path =
                file_system_path(&self.root_directory, std::process::id().cast_signed());
            root_path.ok().flatten()
        });
        let Some(root_path) = root_path else {
            return Ok(None);
        };
        let Ok(below) = path_in_file_system.strip_prefix(root_path) else {
            return Ok(Some(outside(file.path()?, 1, true)));
        };
        let path = self.root.join(below);
        let expected_path = match file.name() {
            Some(_) => path.parent().unwrap_or(&self.root),
            None => &*path,
        };
        let parent_identity = FileIdentity::of_open(directory)?;
        let exists =
            FileIdentity::at(expected_path).is_ok_and(|found| found.is_same(&parent_identity));
        Ok(exists.then_some(FileLocation::Inside(path)))
    }
}

fn outside(path: PathBuf, names: u64, is_same_file_system: bool) -> FileLocation {
    FileLocation::Outside {
        path,
        names,
        is_same_file_system,
    }
}

/// Returns the path of a directory within its file system, by the mount table of the thread; `None`
/// if its mount is not in the table.
fn file_system_path(directory: &OwnedFd, thread: i32) -> Result<Option<PathBuf>, Errno> {
    let identity = FileIdentity::of_open(directory)?;
    let Some(mount) = identity.mount else {
        return Ok(None);
    };
    let (mut root_directory, mut at) = (rustix::io::fcntl_dupfd_cloexec(directory, 0)?, identity);
    loop {
        let parent = openat(&root_directory, "..", DIRECTORY_FLAGS, Mode::empty())?;
        let parent_identity = FileIdentity::of_open(&parent)?;
        if parent_identity.mount != Some(mount) || parent_identity.is_same(&at) {
            break;
        }
        (root_directory, at) = (parent, parent_identity);
    }
    let (path, root_directory) = (path_of(directory)?, path_of(&root_directory)?);
    let Ok(below) = path.strip_prefix(&root_directory) else {
        return Ok(None);
    };
    let table = fs::read(format!("/proc/{thread}/mountinfo")).unwrap_or_default();
    Ok(mounted_directory(&table, mount).map(|shown| shown.join(below)))
}

/// Returns the directory within its file system that a mount shows, by `mountinfo`.
fn mounted_directory(table: &[u8], mount: u64) -> Option<PathBuf> {
    let shown = mountinfo_fields(table, &mount.to_string())?.nth(2)?;
    let shown = mountinfo_path(shown);
    shown.is_absolute().then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounted_directory_is_unescaped() {
        let table = b"30 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            31 30 8:1 /srv/my\\040files\\134x /mnt rw - ext4 /dev/sda1 rw\n";
        assert_eq!(
            mounted_directory(table, 31),
            Some("/srv/my files\\x".into())
        );
        assert_eq!(mounted_directory(table, 30), Some("/".into()));
        assert_eq!(mounted_directory(table, 3), None);
    }
}
