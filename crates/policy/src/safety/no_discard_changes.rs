//! `no_discard_changes`: overwriting changes in the whole tree.

use super::no_blind_git_add::{excludes, is_whole_tree};
use super::rule::{RuleFinding, RuleInput, is_git};
use crate::syntax::git::{GitArgument, GitCommandLine, GitOptionTable};
use crate::syntax::run::{Field, ResolvedCommand};

/// The options of `git checkout`, `git switch` and `git restore` (git 2.47, `builtin/checkout.c`).
const CHECKOUT_OPTIONS: GitOptionTable = GitOptionTable {
    valued: "bBscC",
    long: &[
        "quiet", "progress", "force", "ours", "theirs", "detach", "track", "guess", "orphan=",
        "conflict=", "merge", "patch", "overlay", "overwrite-ignore", "ignore-other-worktrees",
        "recurse-submodules", "source=", "staged", "worktree", "discard-changes", "create=",
        "force-create=", "pathspec-from-file=", "ignore-unmerged",
    ],
};

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    is_git(command)?;
    let git = GitCommandLine::read(&command.words);
    let subcommand = git.subcommand()?;
    if !matches!(subcommand, "checkout" | "restore" | "switch") {
        return None;
    }
    let (mut force, mut staged, mut worktree, mut is_list) = (false, false, false, false);
    let mut operands = Vec::new();
    for argument in CHECKOUT_OPTIONS.read(git.arguments) {
        match argument {
            GitArgument::Short('f', _) => force = subcommand != "restore",
            GitArgument::Short('S', _) => staged = true,
            GitArgument::Short('W', _) => worktree = true,
            GitArgument::Short('p', _) => return None,
            GitArgument::Long {
                name,
                negated: false,
                ..
            } => match name.as_str() {
                "force" | "discard-changes" => force = true,
                "staged" => staged = true,
                "worktree" => worktree = true,
                "patch" => return None,
                // A generated list may contain any file.
                "pathspec-from-file" => is_list = true,
                _ => {}
            },
            GitArgument::Operand(field) => operands.push(field),
            _ => {}
        }
    }
    let base = input.context.cwd.to_string_lossy();
    let is_whole =
        is_list || (subcommand != "switch" && covers_whole_tree(&operands, &git, command, &base));
    let is_index_only = subcommand == "restore" && staged && !worktree;
    (force || (is_whole && !is_index_only)).then(|| RuleFinding::on(command, git.arguments))
}

/// True if the pathspecs among the operands cover the whole tree, or are unknown.
fn covers_whole_tree(
    operands: &[&Field],
    git: &GitCommandLine<'_>,
    command: &ResolvedCommand,
    base: &str,
) -> bool {
    let dashes = git
        .arguments
        .iter()
        .position(|field| field.value.literal() == Some("--"));
    let is_after_dashes = |field: &Field| {
        let index = git.arguments.iter().position(|other| other == field);
        dashes.is_none_or(|dashes| index.is_some_and(|index| index > dashes))
    };
    let restores = git.subcommand() == Some("restore");
    let specs: Vec<&Field> = operands
        .iter()
        .copied()
        .filter(|field| restores || is_after_dashes(field))
        .collect();
    let only_exclusions = !specs.is_empty() && specs.iter().all(|field| excludes(&field.value));
    only_exclusions
        || specs.iter().enumerate().any(|(index, field)| {
            // `git checkout "$BRANCH"`
            let may_be_branch = !restores && dashes.is_none() && index == 0;
            is_whole_tree(&field.value, base, command.cwd.as_deref(), !may_be_branch)
        })
}
