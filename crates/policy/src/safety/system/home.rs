//! `no_home_overwrite`: moving, emptying or overwriting a home, shell start-up files, or keys.

use super::super::command_line::has_any;
use super::super::path::{PathWorth, worth};
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::{Field, ResolvedCommand};
use crate::syntax::value::Value;

pub(in super::super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    let place = scene.path_base(ran);
    let worth = |value: &Value| worth(value, &place);
    let empties = is_nothing(ran);
    let overwritten = ran.redirections.iter().find(|redirection| {
        redirection.truncates()
            && match worth(&redirection.target) {
                Some(PathWorth::Key | PathWorth::System) => true,
                Some(PathWorth::Dotfile | PathWorth::Service) => empties,
                _ => false,
            }
    });
    if let Some(redirection) = overwritten {
        let mut hit = RuleFinding::on(ran, []);
        hit.words
            .push(format!("{} {}", redirection.operator, redirection.target));
        return Some(hit);
    }
    let arguments = ran.arguments();
    let is_move = matches!(ran.name(), Some("mv" | "gmv")) && !ran.is_function;
    if !is_move || has_any(arguments, &["--help", "--version"]) {
        return None;
    }
    let found = moved(arguments, &operands(arguments), &worth)?;
    Some(RuleFinding::on(ran, [found]))
}

/// Returns the moved path, if it is valuable at its former location.
fn moved<'f>(
    arguments: &[Field],
    operands: &[&'f Field],
    worth: &dyn Fn(&Value) -> Option<PathWorth>,
) -> Option<&'f Field> {
    let into = has_any(arguments, &["-t", "--target-directory"]);
    let (sources, target) = match operands.split_last() {
        Some((target, sources)) if !into => (sources, Some(*target)),
        _ => (operands, None),
    };
    sources.iter().copied().find(|source| {
        let kept = target.is_some_and(|target| {
            target.value.prefix().starts_with(source.value.prefix())
                && target.value.prefix().len() > source.value.prefix().len() + 1
                && !target.value.prefix()[source.value.prefix().len()..].starts_with('/')
        });
        match worth(&source.value) {
            Some(PathWorth::Landmark) => true,
            Some(worth) if worth != PathWorth::Dotfile => !kept,
            _ => !kept && matches!(source.value.literal(), Some(".git" | "./.git")),
        }
    })
}

fn operands(arguments: &[Field]) -> Vec<&Field> {
    let mut options = true;
    let mut out = Vec::new();
    for field in arguments {
        let text = field.value.prefix();
        if options && field.value.literal() == Some("--") {
            options = false;
        } else if !(options && text.len() > 1 && text.starts_with('-')) {
            out.push(field);
        }
    }
    out
}

/// Returns true if the command prints nothing, so that a redirection empties its target.
fn is_nothing(ran: &ResolvedCommand) -> bool {
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
