//! Sizes of directories of the store.

use std::fs::read_dir;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the disk space of a change set in bytes, as far as it can be read. Blocks.
pub fn size_of(top: &Path) -> u64 {
    let mut sum = 0;
    let mut waiting: Vec<PathBuf> = vec![top.to_owned()];
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
