//! How much is in our own directories.

use std::fs::read_dir;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes that a directory of a set takes up, as far as it can be read. Blocks.
pub fn size_of(top: &Path) -> u64 {
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
