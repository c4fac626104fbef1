//! `no_home_overwrite`: redirections that empty or overwrite start-up files, keys, or files of the
//! system. The rule's rows list programs with these effects.

use super::path::{PathWorth, worth};
use super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::Value;

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    let path_base = input.path_base(command);
    let empties = prints_nothing(command);
    // `cp ~/.bashrc ~/.bashrc.bak; echo … > ~/.bashrc`
    let is_copied = |target: &Value| {
        let mut copies = input
            .commands
            .iter()
            .filter(|other| other.name() == Some("cp") && other.span.end <= command.span.start);
        copies.any(|copy| {
            let mut operands = copy.arguments().iter().rev().skip(1);
            operands.any(|field| field.value == *target)
        })
    };
    let redirection = command.redirections.iter().find(|redirection| {
        redirection.truncates()
            && !is_copied(&redirection.target)
            && match worth(&redirection.target, &path_base) {
                Some(PathWorth::Key | PathWorth::System) => true,
                Some(PathWorth::Dotfile | PathWorth::Service) => empties,
                _ => false,
            }
    })?;
    let mut hit = RuleFinding::on(command, []);
    hit.words
        .push(format!("{} {}", redirection.operator, redirection.target));
    Some(hit)
}

/// True if the command prints nothing, so that a redirection empties its target.
fn prints_nothing(command: &ResolvedCommand) -> bool {
    let Some(name) = command.name() else {
        return command.prints_nothing;
    };
    let arguments: Vec<Option<&str>> = command
        .arguments()
        .iter()
        .map(|field| field.value.literal())
        .collect();
    match (name, arguments.as_slice()) {
        (":" | "true", _)
        | ("echo", [] | [Some("-n")] | [Some("-n"), Some("")])
        | ("printf", [Some("")])
        | ("cat", [Some("/dev/null")]) => true,
        ("cat", []) => command.stdin.as_deref().is_some_and(Value::is_empty),
        _ => false,
    }
}
