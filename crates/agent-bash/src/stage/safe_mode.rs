//! Lets only commands on a list run, and those in an environment in which they run nothing else. What is on the list
//! and what the environment must be is `agent-bash-policy`'s.

use crate::call::Call;
use crate::refusal::RuleRefusal;
use crate::stage::safety::context;
use crate::wiring::Wiring;
use agent_bash_core::{Environment, Request};
use agent_bash_policy::{HardenedEnvironment, Verdict, safe_run};
use std::collections::BTreeSet;

/// Judges the command and replaces it by what may be run in its place. `None` where safe mode is off.
pub(crate) fn check(
    tool: &Wiring,
    call: &Call,
    request: &mut Request,
) -> Result<Option<HardenedEnvironment>, RuleRefusal> {
    let Some(mode) = &tool.safe_mode else {
        return Ok(None);
    };
    match safe_run(&request.command, &context(tool, call), mode) {
        Ok(run) => {
            request.command = run.script;
            Ok(Some(run.environment))
        }
        Err(Verdict::Block(finding) | Verdict::Unreadable(finding)) => Err(finding.into()),
        Err(Verdict::Allow) => Ok(None),
    }
}

/// The environment with what safe mode changes of it, on top of everything that the call itself wants.
pub(crate) fn harden(mut environment: Environment, hardened: &HardenedEnvironment) -> Environment {
    let merged = environment.merged();
    let names = merged
        .keys()
        .map(|name| (name.to_string_lossy().into_owned(), String::new()));
    let kept: BTreeSet<String> = hardened
        .apply(names)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    for name in merged.into_keys() {
        if !kept.contains(&*name.to_string_lossy()) {
            environment.changes.insert(name, None);
        }
    }
    for (name, value) in &hardened.set {
        let value = Some(value.into());
        environment.changes.insert(name.into(), value);
    }
    environment
}
