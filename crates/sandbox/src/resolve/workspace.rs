//! Finds the workspace.

use super::error::ResolveError;
use super::links::{self, LinkCreators};
use super::paths::{existing, is_too_wide};
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
    /// True if the root had a `.git`. It stays a workspace if a call removes that.
    pub is_repository: bool,
    /// All paths that the call could write.
    pub writable: Vec<PathBuf>,
}

/// Returns the nearest directory that has a `.git`, or had one when a call could write it, or else
/// this one. Never a directory that contains the user's home.
pub(super) fn find(
    directory: &Path,
    home: Option<&Path>,
    known: &[KnownWorkspace],
) -> Result<PathBuf, ResolveError> {
    let written = LinkCreators {
        directories: written_by(known).cloned().collect(),
        home,
    };
    let unusable = |error| ResolveError::Unusable {
        list: "workspace",
        path: directory.to_owned(),
        error,
    };
    let way = links::follow(directory).map_err(unusable)?;
    links::check("workspace", directory, &way, &written)?;
    // The path is followed only once, since a running call may replace a directory on the way.
    let directory = existing("workspace", &way.target)?;
    if directory != way.target {
        let error = std::io::Error::other("it is being replaced");
        return Err(unusable(error));
    }
    let found = around(&directory, home, known)?;
    no_planted_way(&directory, known, &written)?;
    Ok(found)
}

/// Finds the workspace of a path without links, without checking how it was reached.
pub(super) fn around(
    directory: &Path,
    home: Option<&Path>,
    known: &[KnownWorkspace],
) -> Result<PathBuf, ResolveError> {
    if is_too_wide(directory, home) {
        return Err(ResolveError::TooWide(directory.to_owned()));
    }
    let was_repository = |it: &Path| {
        known
            .iter()
            .any(|known| known.is_repository && known.root == it)
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
pub(super) fn written_by(known: &[KnownWorkspace]) -> impl Iterator<Item = &PathBuf> {
    known
        .iter()
        .flat_map(|known| std::iter::once(&known.root).chain(&known.writable))
}

/// Refuses a directory that an earlier start directory leads to through a link. The kernel follows
/// that link before a host is started there, so that the host's own directory shows no link.
fn no_planted_way(
    directory: &Path,
    known: &[KnownWorkspace],
    written: &LinkCreators<'_>,
) -> Result<(), ResolveError> {
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    let around: Vec<_> = directory.ancestors().filter_map(identity).collect();
    for known in known {
        let is_elsewhere = !directory.starts_with(&known.start);
        let leads_here = || identity(&known.start).is_some_and(|it| around.contains(&it));
        if is_elsewhere && leads_here() {
            let way = links::follow(&known.start).ok();
            let refused =
                way.and_then(|way| links::check("workspace", &known.start, &way, written).err());
            if let Some(ResolveError::Link { link, .. }) = refused {
                let directory = directory.to_owned();
                return Err(ResolveError::Planted { directory, link });
            }
        }
    }
    Ok(())
}
