//! `no_git_clean`: `git clean -f`.

use super::super::command_line::{Deed, found_of_git};
use super::super::rule::Rule;
use crate::Group;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_git_clean",
    group: Group::DataLoss,
    summary: "`git clean` with `-f`: removes files git does not know, which nothing can bring back.",
    message: "permission denied: git clean deletes untracked files for good. List them with git clean -n and remove what you mean by name",
    suggestion: "git clean -n",
    fires: &["git clean -fd", "git clean -xdf", "git clean --force"],
    spares: &[
        "git clean -n", "git clean -nfd", "git clean --dry-run -f", "git clean -i", "git status",
    ],
    check: |ran, _| found_of_git(&DEEDS, ran),
};

static DEEDS: [Deed; 1] = [Deed::of(&["clean"], &[])
    .with(&["-f", "--force"])
    .without(&["-n", "--dry-run", "-i", "--interactive"])];
