//! Removing what is in our own directories, whatever permissions a call gave it.

use std::fs::{Permissions, read_dir, remove_dir_all, set_permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Removes a directory with all that is in it, if it exists.
pub(crate) fn tree(path: &Path) -> io::Result<()> {
    match remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            unlock(path)?;
            remove_dir_all(path)
        }
        other => other,
    }
}

/// Makes all directories writable.
fn unlock(top: &Path) -> io::Result<()> {
    let mut waiting: Vec<PathBuf> = vec![top.to_owned()];
    while let Some(path) = waiting.pop() {
        set_permissions(&path, Permissions::from_mode(0o700))?;
        for entry in read_dir(&path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok(())
}
