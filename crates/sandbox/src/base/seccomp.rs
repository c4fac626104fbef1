//! System calls by seccomp: what Landlock has no rule for.

pub(crate) mod program;
pub(crate) mod rules;

use crate::error::BoxError;
use agent_bash_core::sandbox::Plan;
use program::Elsewhere;
use std::io;

/// Filters the system calls of this thread and of everything that it starts. `shortening` counts as no write in
/// Landlock, and is left to this filter.
pub(crate) fn restrict(plan: &Plan, shortening: bool) -> Result<(), BoxError> {
    let Some(architecture) = program::ARCHITECTURE else {
        return Err(BoxError::lacks(
            "a filter of system calls for this processor",
        ));
    };
    let rules = rules::rules(plan.network, plan.tier, shortening);
    let program = program::assemble(architecture, &Elsewhere::Absent, &rules).ok_or_else(|| {
        BoxError::step("filtering system calls")(io::Error::other("a rule is too long"))
    })?;
    seccompiler::apply_filter(&program).map_err(|error| match error {
        seccompiler::Error::Seccomp(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            BoxError::lacks("seccomp")
        }
        other => BoxError::step("filtering system calls")(io::Error::other(other)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Network, Tier};

    #[test]
    fn the_rules_of_every_plan_make_a_program() {
        for network in [Network::Off, Network::Loopback, Network::On] {
            for tier in [Tier::Base, Tier::Full] {
                for shortening in [false, true] {
                    let rules = rules::rules(network, tier, shortening);
                    assert!(!rules.is_empty());
                    assert!(program::assemble(0, &Elsewhere::Absent, &rules).is_some());
                }
            }
        }
    }
}
