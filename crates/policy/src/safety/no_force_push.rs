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

/// The options of `git send-pack` and `git http-push` (git 2.47, `builtin/send-pack.c`).
const SEND_PACK_OPTIONS: GitOptionTable = GitOptionTable {
    valued: "",
    long: &[
        "verbose", "quiet", "receive-pack=", "exec=", "remote=", "all", "dry-run", "mirror",
        "force", "signed", "push-option=", "progress", "thin", "atomic", "stateless-rpc", "stdin",
        "helper-status", "force-with-lease", "force-if-includes",
    ],
};

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    is_git(command)?;
    let git = GitCommandLine::read(&command.words);
    let options = match git.subcommand()? {
        "push" => &PUSH_OPTIONS,
        "send-pack" | "http-push" => &SEND_PACK_OPTIONS,
        _ => return None,
    };
    let (word, is_dry_run) = forcing_word(options, git.arguments);
    if is_dry_run {
        return None;
    }
    if let Some(field) = word {
        return Some(RuleFinding::on(command, [field]));
    }
    let is_forced_by_script = || {
        *input.forces_pushes.get_or_init(|| {
            let mut settings = input.commands.iter().filter_map(configured);
            settings.any(|(name, value)| forces_pushes(&name, &value))
        })
    };
    let mut settings = git.config.iter();
    let is_forced_by_option = settings.any(|(name, value)| forces_pushes(name, value));
    let is_forced = is_forced_by_option || is_forced_by_script();
    is_forced.then(|| RuleFinding::on(command, git.arguments))
}

/// Returns the word that forces a push, if any, and true if the push is a dry run.
fn forcing_word<'f>(options: &GitOptionTable, arguments: &'f [Field]) -> (Option<&'f Field>, bool) {
    let (mut force, mut mirror, mut refspec) = (None, None, None);
    let mut is_dry_run = false;
    for argument in options.read(arguments) {
        match argument {
            GitArgument::Short('f', field) => force = Some(field),
            GitArgument::Short('n', _) => is_dry_run = true,
            GitArgument::Short(..) => {}
            GitArgument::Long {
                name,
                negated,
                field,
                ..
            } => match name.as_str() {
                "force" => force = (!negated).then_some(field),
                "mirror" => mirror = (!negated).then_some(field),
                "dry-run" => is_dry_run = !negated,
                _ => {}
            },
            GitArgument::Operand(field) => {
                if field.value.prefix().starts_with('+') {
                    refspec = Some(field);
                }
            }
        }
    }
    (force.or(mirror).or(refspec), is_dry_run)
}

/// True if a setting of git forces pushes that have no option for it.
fn forces_pushes(name: &str, value: &Value) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("remote.")
        && ((name.rsplit('.').next() == Some("push") && value.prefix().starts_with('+'))
            || (name.rsplit('.').next() == Some("mirror")
                && value
                    .literal()
                    .is_none_or(|text| !matches!(text, "false" | "no" | "0"))))
}

/// Returns the name and value that `git config name value` sets.
fn configured(command: &ResolvedCommand) -> Option<(String, Value)> {
    is_git(command)?;
    GitCommandLine::read(&command.words).configures()
}
