//! `no_hard_reset`: `git reset --hard`.

use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::{Git, GitArgument, Options};
use crate::syntax::run::Ran;

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
    needs: |written| written.any(|word| matches!(word, "reset")),
    check,
};

const RESET: Options = Options {
    valued: "U",
    long: &[
        "quiet", "no-refresh", "refresh", "mixed", "soft", "hard", "merge", "keep",
        "recurse-submodules", "patch", "intent-to-add", "pathspec-from-file=", "pathspec-file-nul",
    ],
};

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    if git.subcommand()? != "reset" {
        return None;
    }
    let hard = RESET.read(git.arguments).into_iter().any(|given| {
        matches!(given, GitArgument::Long { name, negated: false, .. } if matches!(name.as_str(), "hard" | "merge"))
    });
    hard.then(|| Hit::on(ran, git.arguments))
}
