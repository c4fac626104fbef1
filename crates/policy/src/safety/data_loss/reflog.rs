//! `no_reflog_expire`: deleting what git keeps for undoing mistakes.

use super::super::command_line::{Deed, found_of_git};
use super::super::rule::Rule;
use crate::Group;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_reflog_expire",
    group: Group::DataLoss,
    summary: "`git reflog expire`, `git reflog delete`, `git gc --prune=now`, `git prune`: remove the last way back.",
    message: "permission denied: this deletes the history git keeps for undoing mistakes",
    suggestion: "leave the reflog to git gc",
    fires: &[
        "git reflog expire --expire=now --all",
        "git reflog delete HEAD@{0}",
        "git gc --prune=now",
        "git prune",
    ],
    spares: &[
        "git reflog", "git reflog show main", "git gc", "git gc --auto", "git remote prune origin",
    ],
    check: |ran, _| found_of_git(&DEEDS, ran),
};

static DEEDS: [Deed; 3] = [
    Deed::of(&["reflog"], &["expire|delete"]).without(&["-n"]),
    Deed::of(&["gc"], &[]).with(&["--prune=now", "--prune=all"]),
    Deed::of(&["prune"], &[]).without(&["-n"]),
];
