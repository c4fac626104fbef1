//! `no_reflog_expire`: deleting what git keeps for undoing mistakes.

use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::Git;
use crate::syntax::run::Ran;

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
    needs: |written| written.any(|word| matches!(word, "reflog" | "gc" | "prune")),
    check,
};

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    let first = git
        .arguments
        .first()
        .and_then(|field| field.value.literal());
    let prunes = || {
        git.arguments
            .iter()
            .filter_map(|field| field.value.literal()?.strip_prefix("--prune="))
            .any(|when| matches!(when, "now" | "all"))
    };
    // The effect of `--prune=now` and `reflog expire` as settings for this call.
    let set = || {
        git.config.iter().any(|(name, value)| {
            let expires = matches!(
                name.as_str(),
                "gc.pruneexpire" | "gc.reflogexpire" | "gc.reflogexpireunreachable"
            );
            expires && matches!(value.prefix(), "now" | "all" | "0")
        })
    };
    let dry = git
        .arguments
        .iter()
        .any(|field| matches!(field.value.literal(), Some("-n" | "--dry-run")));
    let found = match git.subcommand()? {
        "reflog" => matches!(first, Some("expire" | "delete")),
        "gc" => prunes() || set(),
        "prune" => true,
        _ => false,
    };
    (found && !dry).then(|| Hit::on(ran, git.arguments))
}
