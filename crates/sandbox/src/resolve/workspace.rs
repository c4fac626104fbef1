//! Finds the workspace.

use super::error::ResolveError;
use super::links::{self, UntrustedDirectories};
use super::paths::{existing_without_links, is_too_wide};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The workspace of an earlier sandboxed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownWorkspace {
    /// The start directory, canonical at that time.
    pub start: PathBuf,
    /// The root of the workspace.
    pub root: PathBuf,
    /// True if the root had a `.git`. The root stays a workspace if a call removes the `.git`.
    pub is_repository: bool,
    /// All paths that the call could write.
    pub writable: Vec<PathBuf>,
}

/// Returns the nearest directory that has a `.git`, or that had one when a call could write to it;
/// or else `directory`. Never a directory that contains the user's home.
pub(super) fn find(
    directory: &Path,
    home: Option<&Path>,
    known: &[KnownWorkspace],
) -> Result<PathBuf, ResolveError> {
    let untrusted = UntrustedDirectories {
        directories: paths_written_in(known).cloned().collect(),
        home,
    };
    let unusable = |error| ResolveError::Unusable {
        list: "workspace",
        path: directory.to_owned(),
        error,
    };
    let followed = links::follow(directory).map_err(unusable)?;
    links::check("workspace", directory, &followed, &untrusted)?;
    // The path is followed only once, since a running call may replace a directory on the way.
    let directory = existing_without_links("workspace", &followed.target)?;
    let found = workspace_around(&directory, home, known)?;
    check_for_planted_link(&directory, known, &untrusted)?;
    Ok(found)
}

/// Returns the workspace of a path without links. Does not check through which links the path was
/// reached.
pub(super) fn workspace_around(
    directory: &Path,
    home: Option<&Path>,
    known: &[KnownWorkspace],
) -> Result<PathBuf, ResolveError> {
    if is_too_wide(directory, home) {
        return Err(ResolveError::TooWide(directory.to_owned()));
    }
    let was_repository = |ancestor: &Path| {
        known
            .iter()
            .any(|known| known.is_repository && known.root == ancestor)
    };
    let repository = directory
        .ancestors()
        .take_while(|ancestor| !is_too_wide(ancestor, home))
        .find(|ancestor| {
            ancestor.join(".git").symlink_metadata().is_ok() || was_repository(ancestor)
        });
    Ok(repository.unwrap_or(directory).to_owned())
}

/// Returns the paths that the calls of these workspaces could write.
pub(super) fn paths_written_in(known: &[KnownWorkspace]) -> impl Iterator<Item = &PathBuf> {
    known
        .iter()
        .flat_map(|known| std::iter::once(&known.root).chain(&known.writable))
}

/// Refuses a directory to which an earlier start directory leads through a link. The kernel follows
/// the link before a host is started in the directory, so the host's own directory shows no link.
fn check_for_planted_link(
    directory: &Path,
    known: &[KnownWorkspace],
    untrusted: &UntrustedDirectories<'_>,
) -> Result<(), ResolveError> {
    let identity = |path: &Path| {
        fs::metadata(path)
            .map(|found| (found.dev(), found.ino()))
            .ok()
    };
    let around: Vec<_> = directory.ancestors().filter_map(identity).collect();
    for known in known {
        let is_elsewhere = !directory.starts_with(&known.start);
        let leads_here = || identity(&known.start).is_some_and(|start| around.contains(&start));
        if is_elsewhere && leads_here() {
            let followed = links::follow(&known.start).ok();
            let refused = followed.and_then(|followed| {
                links::check("workspace", &known.start, &followed, untrusted).err()
            });
            if let Some(ResolveError::Link { link, .. }) = refused {
                let directory = directory.to_owned();
                return Err(ResolveError::Planted { directory, link });
            }
        }
    }
    Ok(())
}
