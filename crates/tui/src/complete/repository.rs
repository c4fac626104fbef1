//! Names in the repository of a directory, read from its files without starting a process.

use super::candidate::MAX_CANDIDATES;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum number of bytes read of a file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The names of references of these kinds (`refs/heads/`), without the kind.
pub(super) fn reference_names(directory: &Path, kinds: &[&str]) -> Vec<String> {
    let Some(git) = git_directory(directory) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for kind in kinds {
        add_loose_references(&git.join(kind), "", &mut names);
    }
    let packed = text(&git.join("packed-refs")).unwrap_or_default();
    for line in packed.lines().filter(|line| !line.starts_with(['#', '^'])) {
        let Some((_, name)) = line.split_once(' ') else {
            continue;
        };
        names.extend(
            kinds
                .iter()
                .find_map(|kind| name.strip_prefix(kind))
                .map(str::to_owned),
        );
    }
    names.retain(|name| name != "HEAD" && !name.ends_with("/HEAD"));
    names.sort();
    names.dedup();
    names
}

/// The names of the remote repositories in the configuration.
pub(super) fn remotes(directory: &Path) -> Vec<String> {
    let git = git_directory(directory).unwrap_or_default();
    let config = text(&git.join("config")).unwrap_or_default();
    let name = |line: &str| {
        let name = line.trim_start().strip_prefix("[remote \"")?;
        Some(name.split_once("\"]")?.0.to_owned())
    };
    config.lines().filter_map(name).collect()
}

/// Adds the references that are files of their own, below a directory of references.
fn add_loose_references(directory: &Path, above: &str, names: &mut Vec<String>) {
    // Git does not allow names longer than paths.
    if above.len() > 1000 {
        return;
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if names.len() > MAX_CANDIDATES {
            return;
        }
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
            continue;
        };
        let name = format!("{above}{name}");
        if kind.is_dir() {
            add_loose_references(&entry.path(), &format!("{name}/"), names);
        } else if entry.path().extension() != Some(OsStr::new("lock")) {
            names.push(name);
        }
    }
}

/// The directory with the references of the repository that contains `directory`.
fn git_directory(directory: &Path) -> Option<PathBuf> {
    let (above, dot_git) = directory.ancestors().find_map(|above| {
        let dot_git = above.join(".git");
        dot_git
            .symlink_metadata()
            .is_ok()
            .then_some((above, dot_git))
    })?;
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    // In a worktree, `.git` is a file with the path of the worktree's git directory. There,
    // `commondir` has the path of the common git directory.
    let link = text(&dot_git)?;
    let worktree_git = above.join(link.strip_prefix("gitdir:")?.trim());
    match text(&worktree_git.join("commondir")) {
        Some(common) => Some(worktree_git.join(common.trim())),
        None => Some(worktree_git),
    }
}

/// Returns the start of a regular file's text. Reading a FIFO would never end.
fn text(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}
