//! What follows `git`: its commands, and the branches and tags of the repository, as its files name them.

use super::candidate::{Candidate, MOST};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The commands that people type.
const COMMANDS: [&str; 46] = [
    "add",
    "am",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "describe",
    "diff",
    "fetch",
    "format-patch",
    "gc",
    "grep",
    "help",
    "init",
    "log",
    "ls-files",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "range-diff",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "stash",
    "status",
    "submodule",
    "switch",
    "tag",
    "version",
    "worktree",
];

/// Commands that take names of commits: only branches of this repository; and paths, too.
const NAMES: [(&str, bool, bool); 16] = [
    ("branch", true, false),
    ("checkout", false, true),
    ("cherry-pick", false, false),
    ("describe", false, false),
    ("diff", false, true),
    ("fetch", true, false),
    ("log", false, true),
    ("merge", false, false),
    ("pull", true, false),
    ("push", true, false),
    ("range-diff", false, false),
    ("rebase", false, false),
    ("reset", false, true),
    ("revert", false, false),
    ("show", false, true),
    ("switch", true, false),
];

/// Options of `git` itself that have a word of their own.
const WITH_WORD: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// What may follow.
pub(super) struct Refs {
    pub(super) candidates: Vec<Candidate>,
    pub(super) paths_too: bool,
}

/// What may follow these words; `None` if git has nothing to say about that.
pub(super) fn complete(before: &[String], written: &str, directory: &Path) -> Option<Refs> {
    let (program, words) = before.split_first()?;
    if program != "git" || written.starts_with('-') {
        return None;
    }
    let mut directory = directory.to_owned();
    let mut words = words.iter();
    let command = loop {
        match words.next().map(String::as_str) {
            Some("-C") => directory = directory.join(words.next()?),
            Some(option) if WITH_WORD.contains(&option) => drop(words.next()?),
            Some(option) if option.starts_with('-') => {}
            command => break command,
        }
    };
    let Some(command) = command else {
        let commands = COMMANDS.iter().filter(|name| name.starts_with(written));
        return Some(Refs {
            candidates: commands.map(|name| candidate(name)).collect(),
            paths_too: false,
        });
    };
    let (_, own_only, paths_too) = NAMES.iter().find(|(name, ..)| *name == command)?;
    if words.any(|word| word == "--") {
        return None;
    }
    let mut kinds = vec!["refs/heads/"];
    if !own_only {
        kinds.extend(["refs/remotes/", "refs/tags/"]);
    }
    let names = names(&directory, &kinds);
    let fitting = names.into_iter().filter(|name| name.starts_with(written));
    Some(Refs {
        candidates: fitting.map(|name| candidate(&name)).collect(),
        paths_too: *paths_too,
    })
}

fn candidate(name: &str) -> Candidate {
    Candidate {
        word: name.to_owned(),
        label: name.to_owned(),
        goes_on: false,
    }
}

/// The names below these kinds of references, without their kind.
fn names(directory: &Path, kinds: &[&str]) -> Vec<String> {
    let Some(git) = repository(directory) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for kind in kinds {
        loose(&git.join(kind), "", &mut names);
    }
    let packed = fs::read_to_string(git.join("packed-refs")).unwrap_or_default();
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
    names.retain(|name| !name.ends_with("/HEAD"));
    names.sort();
    names.dedup();
    names
}

/// The files below a directory of references.
fn loose(directory: &Path, above: &str, names: &mut Vec<String>) {
    // Git allows no deeper names than paths are long.
    if above.len() > 1000 {
        return;
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if names.len() > MOST {
            return;
        }
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
            continue;
        };
        let name = format!("{above}{name}");
        if kind.is_dir() {
            loose(&entry.path(), &format!("{name}/"), names);
        } else if entry.path().extension() != Some(OsStr::new("lock")) {
            names.push(name);
        }
    }
}

/// The directory with the references of the repository that `directory` is in.
fn repository(directory: &Path) -> Option<PathBuf> {
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
    // Of a worktree: a file that says where its own is, and that says where the common one is.
    let text = fs::read_to_string(&dot_git).ok()?;
    let own = above.join(text.strip_prefix("gitdir:")?.trim());
    match fs::read_to_string(own.join("commondir")) {
        Ok(common) => Some(own.join(common.trim())),
        Err(_) => Some(own),
    }
}
