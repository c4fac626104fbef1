//! `no_remote_delete`: deleting on the remote.

use super::super::no_force_push::PUSH;
use super::super::rule::{Hit, Rule, Scene, is_git};
use crate::Group;
use crate::syntax::git::{Git, GitArgument};
use crate::syntax::run::Ran;

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
    needs: |written| written.any(|word| matches!(word, "push")),
    check,
};

fn check(ran: &Ran, _: &Scene<'_>) -> Option<Hit> {
    is_git(ran)?;
    let git = Git::read(&ran.words);
    if git.subcommand()? != "push" {
        return None;
    }
    let mut deletes = false;
    for given in PUSH.read(git.arguments) {
        match given {
            GitArgument::Short('n', _) => return None,
            GitArgument::Short('d', _) => deletes = true,
            GitArgument::Long {
                name,
                negated: false,
                ..
            } => match name.as_str() {
                "dry-run" => return None,
                "delete" | "prune" => deletes = true,
                _ => {}
            },
            GitArgument::Operand(field) => {
                let text = field.value.prefix();
                let text = text.strip_prefix('+').unwrap_or(text);
                deletes |= text.starts_with(':') && (text.len() > 1 || field.value.has_unknown());
            }
            _ => {}
        }
    }
    deletes.then(|| Hit::on(ran, git.arguments))
}
