//! `no_branch_delete`: deleting branches that may not be merged.

use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::{Git, GitArgument, Options};
use crate::syntax::run::{Field, Ran};

pub(in super::super) static RULE: Rule = Rule {
    id: "no_branch_delete",
    group: Group::DataLoss,
    summary: "`git branch -D` (and `-d --force`), `git branch -f`, `git switch -C`, `git checkout -B`, `git update-ref -d`: delete a branch, or point it elsewhere, whether or not it is merged.",
    message: "permission denied: this deletes a branch, or points it elsewhere, whether or not it is merged. Use git branch -d, which refuses unmerged branches, or a new name",
    suggestion: "git branch -d, or git switch -c with a new name",
    fires: &[
        "git branch -D main",
        "git branch -rD origin/x",
        "git branch -d -f x",
        "git branch --delete --force x",
        "git update-ref -d refs/heads/x",
        "git branch -f main HEAD~3",
        "git branch --force main x",
        "git switch -C main origin/main",
        "git switch --force-create main",
        "git checkout -B main origin/main",
        "git checkout -qB main",
    ],
    spares: &[
        "git branch -d merged", "git branch new", "git branch --list", "git branch -m old new",
        "git branch -M main", "git switch -c new", "git checkout -b new", "git checkout main",
    ],
    needs: |written| {
        written.any(|word| matches!(word, "branch" | "switch" | "checkout"))
            || written.any(|word| word == "update") && written.any(|word| word == "ref")
    },
    check,
};

const BRANCH: Options = Options {
    valued: "ut",
    long: &[
        "verbose", "quiet", "track", "set-upstream-to=", "unset-upstream", "color", "remotes",
        "contains", "no-contains", "abbrev", "all", "delete", "move", "copy", "list",
        "show-current", "create-reflog", "edit-description", "force", "merged", "no-merged",
        "column", "sort=", "points-at=", "ignore-case", "recurse-submodules", "format=",
    ],
};

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    let mut force = false;
    match git.subcommand()? {
        "branch" => {}
        "switch" => return forced(&SWITCH, 'C', git.arguments, ran),
        "checkout" => return forced(&SWITCH, 'B', git.arguments, ran),
        "update-ref" => {
            let deletes = git
                .arguments
                .iter()
                .any(|field| matches!(field.value.literal(), Some("-d" | "--stdin")));
            return deletes.then(|| Hit::on(ran, git.arguments));
        }
        _ => return None,
    }
    for given in BRANCH.read(git.arguments) {
        match given {
            GitArgument::Short('D', _) => return Some(Hit::on(ran, git.arguments)),
            GitArgument::Short('f', _) => force = true,
            GitArgument::Long {
                name,
                negated: false,
                ..
            } => {
                force |= name == "force";
            }
            _ => {}
        }
    }
    // Deleted, or moved to another commit.
    force.then(|| Hit::on(ran, git.arguments))
}

/// Options of `git switch` and `git checkout` that create or move a branch.
const SWITCH: Options = Options {
    valued: "bBcC",
    long: &[
        "create=", "force-create=", "force", "orphan=", "detach", "discard-changes", "guess",
        "track", "quiet", "merge", "conflict=", "patch", "ours", "theirs",
    ],
};

/// Whether a branch is created with force, by this short option or its long form.
fn forced(options: &Options, letter: char, arguments: &[Field], ran: &Ran) -> Option<Hit> {
    let found = options
        .read(arguments)
        .into_iter()
        .any(|given| match given {
            GitArgument::Short(given, _) => given == letter,
            GitArgument::Long { name, negated, .. } => name == "force-create" && !negated,
            GitArgument::Operand(_) => false,
        });
    found.then(|| Hit::on(ran, arguments))
}
