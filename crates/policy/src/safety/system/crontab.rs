//! `no_crontab_removal`: removing all of a user's scheduled jobs at once.

use super::super::command_line::{has_any, has_option};
use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;

pub(in super::super) fn check(ran: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    ran.name()
        .filter(|name| *name == "crontab" && !ran.is_function)?;
    let arguments = ran.arguments();
    let lists = has_any(arguments, &["-l", "-e", "-h", "--help", "-V"]);
    let from_nothing = arguments
        .last()
        .is_some_and(|field| field.value.literal() == Some("/dev/null"));
    let reads = arguments
        .iter()
        .all(|field| field.value.literal() == Some("-"));
    let emptied = reads
        && ran
            .stdin
            .as_deref()
            .is_some_and(|text| text.literal().is_some_and(|text| text.trim().is_empty()));
    let removes = has_option(arguments, "-r") || from_nothing || emptied;
    (removes && !lists).then(|| RuleFinding::on(ran, arguments))
}
