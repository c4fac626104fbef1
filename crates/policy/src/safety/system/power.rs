//! `no_shutdown`: stopping or restarting the machine.

use super::super::rule::{RuleFinding, RuleInput};
use crate::syntax::run::ResolvedCommand;

/// A write to this file restarts or stops the machine immediately.
const SYSRQ_TRIGGER: &str = "/proc/sysrq-trigger";

pub(in super::super) fn check(ran: &ResolvedCommand, _: &RuleInput<'_>) -> Option<RuleFinding> {
    let writes = ran.redirections.iter().any(|redirection| {
        redirection.writes() && redirection.target.literal() == Some(SYSRQ_TRIGGER)
    });
    let tees = || {
        ran.name() == Some("tee")
            && ran
                .arguments()
                .iter()
                .any(|field| field.value.literal() == Some(SYSRQ_TRIGGER))
    };
    (writes || tees()).then(|| RuleFinding::on(ran, ran.arguments()))
}
