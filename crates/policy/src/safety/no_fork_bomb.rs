//! `no_fork_bomb`: functions that call themselves twice at the same time, without an end.

use super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;

pub(super) fn check(command: &ResolvedCommand, input: &RuleInput<'_>) -> Option<RuleFinding> {
    // A function that calls itself with arguments probably changes them and ends.
    let calls_itself = |command: &ResolvedCommand| {
        let name = command
            .name()
            .filter(|_| command.is_function && command.words.len() == 1);
        name.is_some_and(|name| command.started_by.iter().any(|outer| outer == name))
    };
    if command.may_never_run || !calls_itself(command) {
        return None;
    }
    let runs_at_same_time = |other: &ResolvedCommand| {
        let is_piped = command.output_is_used && !command.reads_pipe && other.reads_pipe;
        calls_itself(other)
            && (is_piped || command.is_background)
            && other.span != command.span
            && other.started_by == command.started_by
    };
    let hit = input.commands.iter().any(runs_at_same_time);
    hit.then(|| RuleFinding::on(command, command.arguments()))
}
