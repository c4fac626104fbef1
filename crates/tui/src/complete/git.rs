//! Words that follow `git`: its commands, and the branches and tags of the repository, as its files
//! name them.

use super::candidate::{Begun, Candidate};
use super::repository::{names, remotes};
use std::path::Path;

/// Common commands.
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

/// Commands that take names of commits. The flags: only branches of this repository; paths as well.
const COMMIT_COMMANDS: [(&str, bool, bool); 13] = [
    ("branch", true, false),
    ("checkout", false, true),
    ("cherry-pick", false, false),
    ("describe", false, false),
    ("diff", false, true),
    ("log", false, true),
    ("merge", false, false),
    ("range-diff", false, false),
    ("rebase", false, false),
    ("reset", false, true),
    ("revert", false, false),
    ("show", false, true),
    ("switch", true, false),
];

/// Commands that have subcommands, each with what may follow the subcommand.
const NESTED_COMMANDS: [(&str, &[(&str, After)]); 7] = [
    (
        "bisect",
        &[
            ("bad", After::Commits),
            ("good", After::Commits),
            ("log", After::Nothing),
            ("new", After::Commits),
            ("old", After::Commits),
            ("replay", After::Paths),
            ("reset", After::Commits),
            ("run", After::Paths),
            ("skip", After::Commits),
            ("start", After::Commits),
            ("terms", After::Nothing),
            ("visualize", After::Nothing),
        ],
    ),
    (
        "notes",
        &[
            ("add", After::Commits),
            ("append", After::Commits),
            ("copy", After::Commits),
            ("edit", After::Commits),
            ("list", After::Commits),
            ("merge", After::Nothing),
            ("prune", After::Nothing),
            ("remove", After::Commits),
            ("show", After::Commits),
        ],
    ),
    (
        "reflog",
        &[
            ("delete", After::Nothing),
            ("exists", After::Nothing),
            ("expire", After::Nothing),
            ("show", After::Commits),
        ],
    ),
    (
        "remote",
        &[
            ("add", After::Nothing),
            ("get-url", After::Remotes),
            ("prune", After::Remotes),
            ("remove", After::Remotes),
            ("rename", After::Remotes),
            ("set-branches", After::Remotes),
            ("set-head", After::Remotes),
            ("set-url", After::Remotes),
            ("show", After::Remotes),
            ("update", After::Remotes),
        ],
    ),
    (
        "stash",
        &[
            ("apply", After::Nothing),
            ("branch", After::Nothing),
            ("clear", After::Nothing),
            ("create", After::Nothing),
            ("drop", After::Nothing),
            ("list", After::Nothing),
            ("pop", After::Nothing),
            ("push", After::Paths),
            ("show", After::Nothing),
            ("store", After::Commits),
        ],
    ),
    (
        "submodule",
        &[
            ("absorbgitdirs", After::Paths),
            ("add", After::Paths),
            ("deinit", After::Paths),
            ("foreach", After::Nothing),
            ("init", After::Paths),
            ("set-branch", After::Paths),
            ("set-url", After::Paths),
            ("status", After::Paths),
            ("summary", After::Paths),
            ("sync", After::Paths),
            ("update", After::Paths),
        ],
    ),
    (
        "worktree",
        &[
            ("add", After::CommitsAndPaths),
            ("list", After::Nothing),
            ("lock", After::Paths),
            ("move", After::Paths),
            ("prune", After::Nothing),
            ("remove", After::Paths),
            ("repair", After::Paths),
            ("unlock", After::Paths),
        ],
    ),
];

/// The kind of words that may follow a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Paths,
    Commits,
    CommitsAndPaths,
    Remotes,
}

/// Kinds of references.
const HEADS: &str = "refs/heads/";
const REMOTES: &str = "refs/remotes/";
const TAGS: &str = "refs/tags/";

/// Options of `git tag` that take existing tags.
const EXISTING_TAG_OPTIONS: [&str; 6] = ["-d", "--delete", "-f", "--force", "-v", "--verify"];

/// Options of `git` itself that take a word.
const OPTIONS_WITH_WORD: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// The references that may follow.
pub(super) struct Refs {
    pub(super) candidates: Vec<Candidate>,
    pub(super) paths_too: bool,
}

impl Refs {
    fn of(names: &[String], begun: Begun<'_>) -> Self {
        Self {
            candidates: begun.of(names.iter().map(String::as_str)),
            paths_too: false,
        }
    }
}

/// The references that may follow these words. `None` if git defines no completion there.
pub(super) fn complete(before: &[String], begun: Begun<'_>, directory: &Path) -> Option<Refs> {
    let (program, words) = before.split_first()?;
    if program != "git" || begun.written.starts_with('-') {
        return None;
    }
    let mut directory = directory.to_owned();
    let mut words = words.iter();
    let command = loop {
        match words.next().map(String::as_str) {
            Some("-C") => directory = directory.join(words.next()?),
            Some(option) if OPTIONS_WITH_WORD.contains(&option) => drop(words.next()?),
            Some(option) if option.starts_with('-') => {}
            command => break command,
        }
    };
    let Some(command) = command else {
        return Some(Refs {
            candidates: begun.of(COMMANDS),
            paths_too: false,
        });
    };
    let words: Vec<&str> = words.map(String::as_str).collect();
    if words.contains(&"--") {
        return None;
    }
    let mut operands = words.iter().filter(|word| !word.starts_with('-'));
    let commits = [HEADS, REMOTES, TAGS];
    if let Some((_, own)) = NESTED_COMMANDS.iter().find(|(name, _)| *name == command) {
        let Some(verb) = operands.next() else {
            return Some(Refs {
                candidates: begun.of(own.iter().map(|(name, _)| *name)),
                paths_too: false,
            });
        };
        let after = own.iter().find(|(name, _)| name == verb);
        let names = match after.map_or(After::Paths, |(_, after)| *after) {
            After::Nothing => Vec::new(),
            After::Paths => return None,
            After::Commits | After::CommitsAndPaths => names(&directory, &commits),
            After::Remotes => remotes(&directory),
        };
        return Some(Refs {
            paths_too: after.is_some_and(|(_, after)| *after == After::CommitsAndPaths),
            ..Refs::of(&names, begun)
        });
    }
    match command {
        // The name of a new tag cannot be completed.
        "tag" => {
            let names = if words.iter().any(|word| EXISTING_TAG_OPTIONS.contains(word)) {
                names(&directory, &[TAGS])
            } else if operands.next().is_some() {
                names(&directory, &commits)
            } else {
                Vec::new()
            };
            Some(Refs::of(&names, begun))
        }
        "fetch" | "pull" | "push" => match operands.next() {
            // A repository can be named by its path, too.
            None if begun.written.starts_with(['.', '/', '~']) => None,
            None => Some(Refs::of(&remotes(&directory), begun)),
            Some(_) if command == "push" => {
                Some(Refs::of(&names(&directory, &[HEADS, TAGS]), begun))
            }
            Some(remote) => {
                let kind = format!("{REMOTES}{remote}/");
                Some(Refs::of(&names(&directory, &[&kind]), begun))
            }
        },
        _ => {
            let (_, own_only, paths_too) =
                COMMIT_COMMANDS.iter().find(|(name, ..)| *name == command)?;
            let kinds: &[&str] = if *own_only { &[HEADS] } else { &commits };
            Some(Refs {
                paths_too: *paths_too,
                ..Refs::of(&names(&directory, kinds), begun)
            })
        }
    }
}
