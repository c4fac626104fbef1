//! `no_git_clean`: `git clean -f`.

use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::{Git, GitArgument, Options};
use crate::syntax::run::Ran;

pub(in super::super) static RULE: Rule = Rule {
    id: "no_git_clean",
    group: Group::DataLoss,
    summary: "`git clean` with `-f`: removes files git does not know, which nothing can bring back.",
    message: "permission denied: git clean deletes untracked files for good. List them with git clean -n and remove what you mean by name",
    suggestion: "git clean -n",
    fires: &[
        "git clean -fd",
        "git clean -xdf",
        "git clean --force",
        "git -c clean.requireForce=false clean -d",
    ],
    spares: &[
        "git clean -n", "git clean -nfd", "git clean --dry-run -f", "git clean -i", "git status",
    ],
    needs: |written| written.any(|word| matches!(word, "clean")),
    check,
};

const CLEAN: Options = Options {
    valued: "e",
    long: &["quiet", "dry-run", "force", "interactive", "exclude="],
};

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    if git.subcommand()? != "clean" {
        return None;
    }
    let mut force = git
        .config
        .iter()
        .any(|(name, _)| name == "clean.requireforce");
    // Of an option and its negation, the last one counts.
    let (mut dry, mut asks) = (false, false);
    for given in CLEAN.read(git.arguments) {
        match given {
            GitArgument::Short('n', _) => dry = true,
            GitArgument::Short('i', _) => asks = true,
            GitArgument::Short('f', _) => force = true,
            GitArgument::Long { name, negated, .. } => match name.as_str() {
                "dry-run" => dry = !negated,
                "interactive" => asks = !negated,
                "force" => force = !negated,
                _ => {}
            },
            _ => {}
        }
    }
    (force && !dry && !asks).then(|| Hit::on(ran, git.arguments))
}
