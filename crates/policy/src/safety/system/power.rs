//! `no_shutdown`: stopping or restarting the machine.

use super::super::rule::{Hit, Scene};
use crate::syntax::run::ResolvedCommand;

/// Writing to it acts immediately.
const SYSRQ_TRIGGER: &str = "/proc/sysrq-trigger";

pub(in super::super) fn check(ran: &ResolvedCommand, _: &Scene<'_>) -> Option<Hit> {
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
    (writes || tees()).then(|| Hit::on(ran, ran.arguments()))
}
