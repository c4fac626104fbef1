//! `no_shutdown`: stopping or restarting the machine.

use super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;

/// A write to this file restarts or stops the machine immediately.
const SYSRQ_TRIGGER: &str = "/proc/sysrq-trigger";

pub(super) fn check(command: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    let writes = command.redirections.iter().any(|redirection| {
        redirection.writes() && redirection.target.literal() == Some(SYSRQ_TRIGGER)
    });
    writes.then(|| RuleFinding::on(command, command.arguments()))
}
