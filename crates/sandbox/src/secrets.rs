//! Which of the hidden paths there are.

use std::fs;
use std::path::PathBuf;

/// Those that exist, wherever they lead to by now. Most do not, which is quickly asked.
pub(crate) fn existing(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths
        .iter()
        .filter(|path| path.exists())
        .filter_map(|path| fs::canonicalize(path).ok())
}
