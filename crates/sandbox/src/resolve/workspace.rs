//! Finds the workspace.

use super::error::ResolveError;
use super::paths::existing;
use std::path::{Path, PathBuf};

/// Returns the nearest directory with a `.git`, or else this one. Never a directory that contains
/// the user's home.
pub(super) fn find(directory: &Path, home: Option<&Path>) -> Result<PathBuf, ResolveError> {
    let directory = existing("workspace", directory)?;
    let too_wide =
        |path: &Path| path.parent().is_none() || home.is_some_and(|h| h.starts_with(path));
    if too_wide(&directory) {
        return Err(ResolveError::TooWide(directory));
    }
    let repository = directory
        .ancestors()
        .take_while(|ancestor| !too_wide(ancestor))
        .find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok());
    Ok(repository.unwrap_or(&directory).to_owned())
}
