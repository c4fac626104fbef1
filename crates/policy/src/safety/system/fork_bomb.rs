//! `no_fork_bomb`: functions that call themselves twice at the same time, without an end.

use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;

pub(in super::super) fn check(ran: &ResolvedCommand, scene: &RuleInput<'_>) -> Option<RuleFinding> {
    // A recursion that ends has an argument that changes.
    let calls_itself = |ran: &ResolvedCommand| {
        let name = ran
            .name()
            .filter(|_| ran.is_function && ran.words.len() == 1);
        name.is_some_and(|name| ran.through.iter().any(|outer| outer == name))
    };
    if ran.dormant || !calls_itself(ran) {
        return None;
    }
    let is_at_once = |other: &ResolvedCommand| {
        let is_piped = ran.feeds && !ran.piped && other.piped;
        calls_itself(other)
            && (is_piped || ran.is_background)
            && other.span != ran.span
            && other.through == ran.through
    };
    let hit = scene.all.iter().any(is_at_once);
    hit.then(|| RuleFinding::on(ran, ran.arguments()))
}
