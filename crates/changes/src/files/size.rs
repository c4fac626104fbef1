//! Sizes of directories of the store.

use std::fs::read_dir;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the disk space of a directory tree in bytes; unreadable parts count as zero. Blocks the
/// thread.
pub fn size_of(directory: &Path) -> u64 {
    let mut sum = 0;
    let mut waiting: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in read_dir(&path).into_iter().flatten().flatten() {
            if let Ok(metadata) = entry.metadata() {
                // `st_blocks` counts units of 512 bytes on every file system.
                sum += metadata.blocks() * 512;
                if metadata.is_dir() {
                    waiting.push(entry.path());
                }
            }
        }
    }
    sum
}
