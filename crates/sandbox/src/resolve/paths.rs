//! Canonical paths, and the texts of files.

use super::error::ResolveError;
use agent_bash_os::read_regular_text;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of bytes read of a file that calls may have written.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 20;

/// Returns the text of a regular file, up to a size. A call may have left a FIFO or a huge file at
/// the path.
pub(super) fn text(path: &Path) -> Option<String> {
    read_regular_text(path, MAX_FILE_BYTES)
}

/// Returns the paths of the entries of a directory; none if it cannot be listed.
pub(super) fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Resolves links in the existing part of a path.
pub(super) fn canonical(path: &Path) -> PathBuf {
    let real = |ancestor: &Path| {
        let rest = path.strip_prefix(ancestor).ok()?;
        let real = fs::canonicalize(ancestor).ok()?;
        // Joining an empty path would add a slash.
        Some(if rest.as_os_str().is_empty() {
            real
        } else {
            real.join(rest)
        })
    };
    path.ancestors()
        .find_map(real)
        .unwrap_or_else(|| path.to_owned())
}

/// Replaces a leading `~/` by the home directory.
pub(super) fn in_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns the canonical form of an existing path. `list` is the setting that contains the path,
/// for the error.
pub(super) fn existing(list: &'static str, path: &Path) -> Result<PathBuf, ResolveError> {
    fs::canonicalize(path).map_err(|error| ResolveError::Unusable {
        list,
        path: path.to_owned(),
        error,
    })
}

/// Returns an existing path that was followed before and has no links since. A running call may
/// replace a directory by a link meanwhile.
pub(super) fn existing_without_links(
    list: &'static str,
    followed: &Path,
) -> Result<PathBuf, ResolveError> {
    let path = existing(list, followed)?;
    if path == followed {
        return Ok(path);
    }
    Err(ResolveError::Unusable {
        list,
        path: followed.to_owned(),
        error: std::io::Error::other("it is being replaced"),
    })
}

/// True if the directory contains the user's home.
pub(super) fn is_too_wide(path: &Path, home: Option<&Path>) -> bool {
    path.parent().is_none() || home.is_some_and(|home| home.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_without_links_refuses_a_directory_that_became_a_link() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let directory = base.join("writable");
        fs::create_dir(&directory).unwrap();
        let found = || existing_without_links("writable", &directory);
        assert_eq!(found().unwrap(), directory);
        fs::rename(&directory, base.join("moved")).unwrap();
        std::os::unix::fs::symlink("moved", &directory).unwrap();
        let text = found().unwrap_err().to_string();
        assert!(text.contains("it is being replaced"), "{text}");
    }
}
