//! `no_branch_delete`: deleting branches that may not be merged.

use super::super::{Group, Hit, Rule, Scene, is_git};
use crate::syntax::git::{Git, Given, Options};
use crate::syntax::run::Ran;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_branch_delete",
    group: Group::DataLoss,
    summary: "`git branch -D` (and `-d --force`), `git tag -d`, `git update-ref -d`, `git worktree remove --force`.",
    message: "permission denied: this deletes a branch whether or not it is merged. Use git branch -d, which refuses unmerged branches",
    suggestion: "git branch -d",
    fires: &[
        "git branch -D main",
        "git branch -rD origin/x",
        "git branch -d -f x",
        "git branch --delete --force x",
        "git update-ref -d refs/heads/x",
    ],
    spares: &[
        "git branch -d merged",
        "git branch new",
        "git branch --list",
    ],
    needs: |written| {
        written.any(|word| word == "branch")
            || written.any(|word| word == "update") && written.any(|word| word == "ref")
    },
    check,
};

const BRANCH: Options = Options {
    valued: "ut",
    long: &[
        "verbose",
        "quiet",
        "track",
        "set-upstream-to=",
        "unset-upstream",
        "color",
        "remotes",
        "contains",
        "no-contains",
        "abbrev",
        "all",
        "delete",
        "move",
        "copy",
        "list",
        "show-current",
        "create-reflog",
        "edit-description",
        "force",
        "merged",
        "no-merged",
        "column",
        "sort=",
        "points-at=",
        "ignore-case",
        "recurse-submodules",
        "format=",
    ],
};

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    let (mut delete, mut force) = (false, false);
    match git.subcommand()? {
        "branch" => {}
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
            Given::Short('D', _) => return Some(Hit::on(ran, git.arguments)),
            Given::Short('d', _) => delete = true,
            Given::Short('f', _) => force = true,
            Given::Long {
                name,
                negated: false,
                ..
            } => {
                delete |= name == "delete";
                force |= name == "force";
            }
            _ => {}
        }
    }
    (delete && force).then(|| Hit::on(ran, git.arguments))
}
