//! `no_fork_bomb`: functions that call themselves twice at the same time, without an end.

use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;

pub(in super::super) fn check(ran: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    // A function that calls itself with arguments probably changes them and ends.
    let calls_itself = |ran: &ResolvedCommand| {
        let name = ran
            .name()
            .filter(|_| ran.is_function && ran.words.len() == 1);
        name.is_some_and(|name| ran.through.iter().any(|outer| outer == name))
    };
    if ran.dormant || !calls_itself(ran) {
        return None;
    }
    let runs_at_same_time = |other: &ResolvedCommand| {
        let is_piped = ran.feeds && !ran.piped && other.piped;
        calls_itself(other)
            && (is_piped || ran.is_background)
            && other.span != ran.span
            && other.through == ran.through
    };
    let hit = input.all.iter().any(runs_at_same_time);
    hit.then(|| RuleFinding::on(ran, ran.arguments()))
}
