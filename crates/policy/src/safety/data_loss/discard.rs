//! `no_discard_changes`: overwriting changes in the whole tree.

use super::super::no_blind_git_add::{everything, excludes};
use super::super::rule::{RuleFinding, RuleInput, is_git};
use super::plumbing;
use crate::syntax::git::{GitArgument, GitCommandLine, GitOptionTable};
use crate::syntax::run::{Field, ResolvedCommand};

const CHECKOUT_OPTIONS: GitOptionTable = GitOptionTable {
    valued: "bBscC",
    long: &[
        "quiet", "progress", "force", "ours", "theirs", "detach", "track", "guess", "orphan=",
        "conflict=", "merge", "patch", "overlay", "overwrite-ignore", "ignore-other-worktrees",
        "recurse-submodules", "source=", "staged", "worktree", "discard-changes", "create=",
        "force-create=", "pathspec-from-file=", "ignore-unmerged",
    ],
};

pub(in super::super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    is_git(ran)?;
    let git = GitCommandLine::read(&ran.words);
    let subcommand = git.subcommand()?;
    if let Some(found) = plumbing::discards(subcommand, git.arguments, ran, &scene.base) {
        return found.then(|| RuleFinding::on(ran, git.arguments));
    }
    if !matches!(subcommand, "checkout" | "restore" | "switch") {
        return None;
    }
    let (mut force, mut staged, mut worktree, mut listed) = (false, false, false, false);
    let mut operands = Vec::new();
    for given in CHECKOUT_OPTIONS.read(git.arguments) {
        match given {
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
                // The user has not chosen the entries of a generated list.
                "pathspec-from-file" => listed = true,
                _ => {}
            },
            GitArgument::Operand(field) => operands.push(field),
            _ => {}
        }
    }
    let base = scene.context.cwd.to_string_lossy();
    let everything = listed || (subcommand != "switch" && whole_tree(&operands, &git, ran, &base));
    let spares_files = subcommand == "restore" && staged && !worktree;
    (force || (everything && !spares_files)).then(|| RuleFinding::on(ran, git.arguments))
}

/// Returns true if the pathspecs among the operands cover the whole tree, or are unknown.
fn whole_tree(
    operands: &[&Field],
    git: &GitCommandLine<'_>,
    ran: &ResolvedCommand,
    base: &str,
) -> bool {
    let dashes = git
        .arguments
        .iter()
        .position(|field| field.value.literal() == Some("--"));
    let behind = |field: &Field| {
        let at = git.arguments.iter().position(|other| other == field);
        dashes.is_none_or(|dashes| at.is_some_and(|at| at > dashes))
    };
    let restores = git.subcommand() == Some("restore");
    let specs: Vec<&Field> = operands
        .iter()
        .copied()
        .filter(|field| restores || behind(field))
        .collect();
    let only_exclusions = !specs.is_empty() && specs.iter().all(|field| excludes(&field.value));
    only_exclusions
        || specs.iter().enumerate().any(|(index, field)| {
            // `git checkout "$BRANCH"`
            let may_be_branch = !restores && dashes.is_none() && index == 0;
            everything(&field.value, base, ran.cwd.as_deref(), !may_be_branch)
        })
}
