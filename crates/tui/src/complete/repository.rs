//! Names in the repository of a directory, read from its files without starting a process.

use super::candidate::MAX_CANDIDATES;
use crate::prompt_directory::git_directory;
use agent_bash_os::read_regular_text;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of bytes read of a file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The names of references of these kinds (`refs/heads/`), without the kind.
pub(super) fn reference_names(directory: &Path, kinds: &[&str]) -> Vec<String> {
    let Some(git) = common_git_directory(directory) else {
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
    let git = common_git_directory(directory).unwrap_or_default();
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
fn common_git_directory(directory: &Path) -> Option<PathBuf> {
    let git = git_directory(directory)?;
    // In a linked worktree, `commondir` has the path of the directory that all worktrees share.
    match text(&git.join("commondir")) {
        Some(common) => Some(git.join(common.trim())),
        None => Some(git),
    }
}

fn text(path: &Path) -> Option<String> {
    read_regular_text(path, MAX_FILE_BYTES)
}
