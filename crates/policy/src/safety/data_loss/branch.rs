//! `no_branch_delete`: deleting branches that may not be merged.

use super::super::command_line::{Deed, found_of_git};
use super::super::rule::Rule;
use crate::Group;

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
    check: |ran, _| found_of_git(&DEEDS, ran),
};

static DEEDS: [Deed; 4] = [
    Deed::of(&["branch"], &[]).with(&["-D", "-f", "--force"]),
    Deed::of(&["switch"], &[]).with(&["-C", "--force-create"]),
    Deed::of(&["checkout"], &[]).with(&["-B"]),
    Deed::of(&["update-ref"], &[]).with(&["-d", "--stdin"]),
];
