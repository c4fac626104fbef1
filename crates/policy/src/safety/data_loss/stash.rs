//! `no_stash_drop`: dropping stashes.

use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::Git;
use crate::syntax::run::Ran;

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
    needs: |written| written.any(|word| matches!(word, "stash")),
    check,
};

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    if git.subcommand()? != "stash" {
        return None;
    }
    let action = git.arguments.first()?.value.literal()?;
    matches!(action, "clear" | "drop").then(|| Hit::on(ran, git.arguments))
}
