//! `no_stash_drop`: dropping stashes.

use super::super::command_line::{Deed, found_of_git};
use super::super::rule::Rule;
use crate::Group;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_stash_drop",
    group: Group::DataLoss,
    summary: "`git stash clear` and `git stash drop`.",
    message: "permission denied: dropping a stash deletes work for good. Apply it with git stash apply and keep the stash",
    suggestion: "git stash apply",
    fires: &[
        "git stash clear", "git stash drop", "git stash drop stash@{0}",
    ],
    spares: &[
        "git stash", "git stash list", "git stash pop", "git stash push -m clear",
    ],
    check: |ran, _| found_of_git(&DEEDS, ran),
};

static DEEDS: [Deed; 1] = [Deed::of(&["stash"], &["clear|drop"])];
