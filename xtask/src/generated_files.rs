//! Files that are generated from code: writes and compares them.

use crate::{Tree, say};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// A file's path from the root, and its expected contents.
pub(crate) type Generated = (&'static str, String);

/// Writes the files that are missing or different.
pub(crate) fn write_files(tree: &Tree, files: &[Generated]) -> Result<()> {
    for file in files.iter().filter(|file| !is_fresh(&tree.root, file)) {
        let (name, text) = file;
        let path = tree.root.join(name);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(&path, text).with_context(|| format!("writing {name}"))?;
        say(&format!("wrote {name}"));
    }
    Ok(())
}

/// Fails if files are missing or different. The error names these files, and `writer`, the command
/// that writes them.
pub(crate) fn check_files(tree: &Tree, files: &[Generated], writer: &str) -> Result<()> {
    let stale: Vec<&str> = files
        .iter()
        .filter(|file| !is_fresh(&tree.root, file))
        .map(|(path, _)| *path)
        .collect();
    if stale.is_empty() {
        return Ok(());
    }
    bail!(
        "these files differ from the code: {}; run `{writer}` and commit the result",
        stale.join(", ")
    );
}

fn is_fresh(root: &Path, (path, text): &Generated) -> bool {
    std::fs::read_to_string(root.join(path)).is_ok_and(|found| found == *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_or_different_file_is_stale() {
        let directory = tempfile::tempdir().unwrap();
        let file = ("a.txt", "new".to_owned());
        assert!(!is_fresh(directory.path(), &file));
        std::fs::write(directory.path().join("a.txt"), "old").unwrap();
        assert!(!is_fresh(directory.path(), &file));
        std::fs::write(directory.path().join("a.txt"), "new").unwrap();
        assert!(is_fresh(directory.path(), &file));
    }
}
