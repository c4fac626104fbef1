//! `no_remote_delete`: deleting on the remote.

use super::super::command_line::{Deed, found_of_git, has_any};
use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::Git;
use crate::syntax::run::{Field, ResolvedCommand};

pub(in super::super) static RULE: Rule = Rule {
    id: "no_remote_delete",
    group: Group::DataLoss,
    summary: "`git push --delete`, `-d`, `:branch`, `--prune`: delete branches or tags on the other side.",
    message: "permission denied: this push deletes branches or tags on the remote",
    suggestion: "delete remote branches by hand",
    fires: &[
        "git push -d origin other", "git push --dele origin other", "git push origin :other",
        "git push origin --prune",
    ],
    spares: &[
        "git push origin main", "git push origin a:b", "git push -n -d origin x",
    ],
    check,
};

static DEEDS: [Deed; 1] = [Deed::of(&["push"], &[])
    .with(&["-d", "--delete", "--prune"])
    .without(&["-n"])];

fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
    found_of_git(&DEEDS, ran).or_else(|| {
        is_git(ran)?;
        let git = Git::read(&ran.words);
        // `:branch`, or `+:branch`
        let deletes = |field: &Field| {
            let text = field.value.prefix().trim_start_matches('+');
            text.starts_with(':') && (text.len() > 1 || field.value.has_unknown())
        };
        let found = git.subcommand() == Some("push")
            && git.arguments.iter().any(deletes)
            && !has_any(git.arguments, &["-n", "--dry-run"]);
        found.then(|| Hit::on(ran, git.arguments))
    })
}
