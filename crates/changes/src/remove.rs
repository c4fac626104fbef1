//! Removing what is in our own directories, whatever permissions a call gave it; and how much that is.

use std::fs::{Permissions, read_dir, remove_dir_all, set_permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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

/// Bytes that a directory takes up, as far as it can be read.
pub(crate) fn size(top: &Path) -> u64 {
    let mut sum = 0;
    let mut waiting: Vec<PathBuf> = vec![top.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in read_dir(&path).into_iter().flatten().flatten() {
            if let Ok(metadata) = entry.metadata() {
                // The unit of this number is fixed, whatever a file system's blocks are.
                sum += metadata.blocks() * 512;
                if metadata.is_dir() {
                    waiting.push(entry.path());
                }
            }
        }
    }
    sum
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
