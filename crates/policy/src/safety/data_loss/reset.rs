//! `no_hard_reset`: `git reset --hard`.

use super::super::command_line::{Deed, found_of_git};
use super::super::rule::Rule;
use crate::Group;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_hard_reset",
    group: Group::DataLoss,
    summary: "`git reset --hard` (and `--merge`, `--keep`): overwrites changed files.",
    message: "permission denied: git reset --hard throws uncommitted changes away. Commit or stash them first, or use git reset --soft",
    suggestion: "git stash, or git reset --soft",
    fires: &[
        "git reset --hard", "git reset --har HEAD~1", "git reset --merge",
    ],
    spares: &[
        "git reset HEAD file", "git reset --soft HEAD~1", "git reset",
    ],
    check: |ran, _| found_of_git(&DEEDS, ran),
};

static DEEDS: [Deed; 1] = [Deed::of(&["reset"], &[]).with(&["--hard", "--merge"])];
