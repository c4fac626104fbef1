//! Removes trees in private directories, regardless of the permissions in them.

use crate::O_PATH;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, openat};
use std::ffi::OsStr;
use std::fs::{Permissions, remove_dir_all, set_permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Flags for opening a directory without following a link.
const DIRECTORY_FLAGS: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Removes a directory with its contents, if it exists.
///
/// # Errors
/// I/O errors. A part of the tree may remain.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let removed = match remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            make_accessible(path)?;
            remove_dir_all(path)
        }
        other => other,
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes all directories on the file system of `top` accessible and writable. Opens one component
/// at a time and follows no link, as another process may still change the tree. Needs `/proc`.
fn make_accessible(top: &Path) -> io::Result<()> {
    let mut device = None;
    let working_directory = Rc::new(openat(CWD, ".", O_PATH | DIRECTORY_FLAGS, Mode::empty())?);
    let mut pending: Vec<(Rc<OwnedFd>, PathBuf)> = vec![(working_directory, top.to_owned())];
    while let Some((parent, name)) = pending.pop() {
        let directory = openat(&parent, &name, O_PATH | DIRECTORY_FLAGS, Mode::empty())?;
        let entry_device = fstat(&directory)?.st_dev;
        if *device.get_or_insert(entry_device) != entry_device {
            continue;
        }
        // The mode of an `O_PATH` descriptor can only be changed by name.
        let opened = format!("/proc/self/fd/{}", directory.as_raw_fd());
        set_permissions(opened, Permissions::from_mode(0o700))?;
        let directory = Rc::new(directory);
        let entries = openat(&directory, ".", DIRECTORY_FLAGS, Mode::empty())?;
        for entry in Dir::new(entries)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if entry.file_type() == FileType::Directory && name != "." && name != ".." {
                pending.push((Rc::clone(&directory), name.into()));
            }
        }
    }
    Ok(())
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
        make_accessible(&top).unwrap();
        let mode_of = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode_of(&top.join("a/b")), 0o700);
        assert_eq!(mode_of(&outside), 0o500);
        mode(&top.join("a"), 0o500);
        remove_tree(&top).unwrap();
        assert!(!top.exists() && outside.exists());
        remove_tree(&top).unwrap();
    }
}
