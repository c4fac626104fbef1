//! `no_home_overwrite`: redirections that empty or overwrite start-up files, keys, or files of the
//! system. The rule's rows list programs with these effects.

use super::super::path::{PathWorth, worth};
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::Value;

pub(in super::super) fn check(ran: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    let path_base = input.path_base(ran);
    let empties = prints_nothing(ran);
    let redirection = ran.redirections.iter().find(|redirection| {
        redirection.truncates()
            && match worth(&redirection.target, &path_base) {
                Some(PathWorth::Key | PathWorth::System) => true,
                Some(PathWorth::Dotfile | PathWorth::Service) => empties,
                _ => false,
            }
    })?;
    let mut hit = RuleFinding::on(ran, []);
    hit.words
        .push(format!("{} {}", redirection.operator, redirection.target));
    Some(hit)
}

/// True if the command prints nothing, so that a redirection empties its target.
fn prints_nothing(ran: &ResolvedCommand) -> bool {
    let Some(name) = ran.name() else {
        return ran.words.is_empty();
    };
    let arguments: Vec<Option<&str>> = ran
        .arguments()
        .iter()
        .map(|field| field.value.literal())
        .collect();
    match (name, arguments.as_slice()) {
        (":" | "true", _)
        | ("echo", [] | [Some("-n")] | [Some("-n"), Some("")])
        | ("printf", [Some("")])
        | ("cat", [Some("/dev/null")]) => true,
        ("cat", []) => ran.stdin.as_deref().is_some_and(Value::is_empty),
        _ => false,
    }
}
