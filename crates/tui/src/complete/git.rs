//! Completes words after `git`: commands, and the branches and tags that the files of the
//! repository name.

use super::candidate::{Candidate, NamePrefix};
use super::repository::{reference_names, remotes};
use agent_bash::core::words;
use std::path::Path;

/// Common commands.
const COMMANDS: &[&str] = words![
    "add am apply archive bisect blame branch checkout cherry-pick clean clone commit config",
    "describe diff fetch format-patch gc grep help init log ls-files merge mv notes pull push",
    "range-diff rebase reflog remote reset restore revert rm shortlog show show-branch stash",
    "status submodule switch tag version worktree",
];

/// Commands that take names of commits. The first flag: only branches of this repository. The
/// second: paths as well.
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

/// Commands with subcommands: the command, the kind of words that may follow, the subcommands.
const NESTED_COMMANDS: &[&str] = &[
    "bisect commits bad good new old reset skip start",
    "bisect nothing log terms visualize",
    "bisect paths replay run",
    "notes commits add append copy edit list remove show",
    "notes nothing merge prune",
    "reflog nothing delete exists expire",
    "reflog commits show",
    "remote nothing add",
    "remote remotes get-url prune remove rename set-branches set-head set-url show update",
    "stash nothing apply branch clear create drop list pop show",
    "stash paths push",
    "stash commits store",
    "submodule paths absorbgitdirs add deinit init set-branch set-url status summary sync update",
    "submodule nothing foreach",
    "worktree commits+paths add",
    "worktree nothing list prune",
    "worktree paths lock move remove repair unlock",
];

/// Prefixes of the kinds of references.
const HEADS: &str = "refs/heads/";
const REMOTES: &str = "refs/remotes/";
const TAGS: &str = "refs/tags/";

/// Options of `git tag` that take existing tags.
const EXISTING_TAG_OPTIONS: [&str; 6] = ["-d", "--delete", "-f", "--force", "-v", "--verify"];

/// Options of `git` itself that take a word.
const OPTIONS_WITH_WORD: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Returns the candidates after the words `before`, and true if paths are candidates, too. `None`
/// if another module must complete the word: a path, an option, or a word of another program.
pub(super) fn complete(
    before: &[String],
    prefix: NamePrefix<'_>,
    directory: &Path,
) -> Option<(Vec<Candidate>, bool)> {
    let (names, paths_too) = names(before, prefix.written, directory)?;
    let candidates = prefix.matching(names.iter().map(String::as_str));
    Some((candidates, paths_too))
}

fn names(before: &[String], written: &str, directory: &Path) -> Option<(Vec<String>, bool)> {
    let (program, words) = before.split_first()?;
    if program != "git" || written.starts_with('-') {
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
        return Some((COMMANDS.iter().map(ToString::to_string).collect(), false));
    };
    let words: Vec<&str> = words.map(String::as_str).collect();
    if words.contains(&"--") {
        return None;
    }
    let mut operands = words.iter().filter(|word| !word.starts_with('-'));
    let commits = [HEADS, REMOTES, TAGS];
    let mut nested: Vec<(&str, &str)> = Vec::new();
    for row in NESTED_COMMANDS {
        let mut fields = row.split(' ');
        if fields.next() == Some(command) {
            let kind = fields.next().unwrap_or_default();
            nested.extend(fields.map(|subcommand| (subcommand, kind)));
        }
    }
    if !nested.is_empty() {
        nested.sort_unstable();
        let Some(subcommand) = operands.next() else {
            let subcommands = nested.into_iter().map(|(name, _)| name.to_owned());
            return Some((subcommands.collect(), false));
        };
        let after = nested.iter().find(|(name, _)| name == subcommand);
        let kind = after.map_or("paths", |(_, kind)| *kind);
        let names = match kind {
            "nothing" => Vec::new(),
            "remotes" => remotes(&directory),
            "paths" => return None,
            _ => reference_names(&directory, &commits),
        };
        return Some((names, kind == "commits+paths"));
    }
    let names = match (command, operands.next()) {
        ("tag", _) if words.iter().any(|word| EXISTING_TAG_OPTIONS.contains(word)) => {
            reference_names(&directory, &[TAGS])
        }
        ("tag", Some(_)) => reference_names(&directory, &commits),
        // The name of a new tag cannot be completed.
        ("tag", None) => Vec::new(),
        // A repository can be named by its path, too.
        ("fetch" | "pull" | "push", None) if written.starts_with(['.', '/', '~']) => return None,
        ("fetch" | "pull" | "push", None) => remotes(&directory),
        ("push", Some(_)) => reference_names(&directory, &[HEADS, TAGS]),
        ("fetch" | "pull", Some(remote)) => {
            reference_names(&directory, &[&format!("{REMOTES}{remote}/")])
        }
        _ => {
            let (_, local_only, paths_too) =
                COMMIT_COMMANDS.iter().find(|(name, ..)| *name == command)?;
            let kinds: &[&str] = if *local_only { &[HEADS] } else { &commits };
            return Some((reference_names(&directory, kinds), *paths_too));
        }
    };
    Some((names, false))
}
