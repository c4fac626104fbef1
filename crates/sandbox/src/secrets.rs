//! Finds the existing hidden paths.

use std::fs;
use std::path::PathBuf;

/// Returns the canonical form of the existing paths. Most do not exist, and `exists` is cheap.
pub(crate) fn existing(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths
        .iter()
        .filter(|path| path.exists())
        .filter_map(|path| fs::canonicalize(path).ok())
}
