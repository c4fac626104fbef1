//! `no_force_push`: pushes that overwrite others' commits.

use super::rule::{RuleFinding, RuleInput, is_git};
use crate::syntax::git::{GitArgument, GitCommandLine, GitOptionTable};
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

/// `git push`'s options (git 2.47, `builtin/push.c`).
const PUSH_OPTIONS: GitOptionTable = GitOptionTable {
    valued: "o",
    long: &[
        "verbose", "quiet", "repo=", "all", "branches", "mirror", "delete", "tags", "dry-run",
        "porcelain", "force", "force-with-lease", "force-if-includes", "recurse-submodules=",
        "thin", "receive-pack=", "exec=", "set-upstream", "progress", "prune", "no-verify",
        "follow-tags", "signed", "atomic", "push-option=", "ipv4", "ipv6",
    ],
};

/// `git send-pack` and `git http-push` parse options the same way.
const SEND_PACK: GitOptionTable = GitOptionTable {
    valued: "",
    long: &[
        "verbose", "quiet", "receive-pack=", "exec=", "remote=", "all", "dry-run", "mirror",
        "force", "signed", "push-option=", "progress", "thin", "atomic", "stateless-rpc", "stdin",
        "helper-status", "force-with-lease", "force-if-includes",
    ],
};

pub(super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    is_git(ran)?;
    let git = GitCommandLine::read(&ran.words);
    let is_subtree = git.subcommand() == Some("subtree");
    let is_forced = |field: &&Field| field.value.prefix().starts_with('+');
    if is_subtree && git.arguments.first()?.value.literal() == Some("push") {
        return Some(RuleFinding::on(
            ran,
            [git.arguments.iter().find(is_forced)?],
        ));
    }
    let options = match git.subcommand()? {
        "push" => &PUSH_OPTIONS,
        "send-pack" | "http-push" => &SEND_PACK,
        _ => return None,
    };
    if let Some(field) = forced(options, git.arguments) {
        return Some(RuleFinding::on(ran, [field]));
    }
    let dry = options.read(git.arguments).iter().any(|given| match given {
        GitArgument::Short('n', _) => true,
        GitArgument::Long { name, negated, .. } => name == "dry-run" && !negated,
        _ => false,
    });
    let set_before = || {
        *scene.forces_pushes.get_or_init(|| {
            let mut settings = scene.all.iter().filter_map(configured);
            settings.any(|(name, value)| forces(&name, &value))
        })
    };
    let set_here = git.config.iter().any(|(name, value)| forces(name, value));
    (!dry && (set_here || set_before())).then(|| RuleFinding::on(ran, git.arguments))
}

/// Returns the word that forces a push, if any.
fn forced<'f>(options: &GitOptionTable, arguments: &'f [Field]) -> Option<&'f Field> {
    let (mut force, mut mirror, mut refspec) = (None, None, None);
    let mut dry = false;
    for given in options.read(arguments) {
        match given {
            GitArgument::Short('f', field) => force = Some(field),
            GitArgument::Short('n', _) => dry = true,
            GitArgument::Short(..) => {}
            GitArgument::Long {
                name,
                negated,
                field,
                ..
            } => match name.as_str() {
                "force" => force = (!negated).then_some(field),
                "mirror" => mirror = (!negated).then_some(field),
                "dry-run" => dry = !negated,
                _ => {}
            },
            GitArgument::Operand(field) => {
                if field.value.prefix().starts_with('+') {
                    refspec = Some(field);
                }
            }
        }
    }
    if dry {
        None
    } else {
        force.or(mirror).or(refspec)
    }
}

/// True if a setting turns plain pushes into forced ones.
fn forces(name: &str, value: &Value) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("remote.")
        && ((name.rsplit('.').next() == Some("push") && value.prefix().starts_with('+'))
            || (name.rsplit('.').next() == Some("mirror")
                && value
                    .literal()
                    .is_none_or(|text| !matches!(text, "false" | "no" | "0"))))
}

/// Returns the name and value that `git config name value` sets.
fn configured(ran: &ResolvedCommand) -> Option<(String, Value)> {
    is_git(ran)?;
    GitCommandLine::read(&ran.words).configures()
}
