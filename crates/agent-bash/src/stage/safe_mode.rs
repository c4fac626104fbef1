//! Lets only commands on a list run, and those in an environment in which they run nothing else. What is on the list
//! and what the environment must be is `agent-bash-policy`'s.

use crate::refusal::RuleRefusal;
use crate::wiring::Wiring;
use agent_bash_core::Environment;
use agent_bash_policy::{HardenedEnvironment, SafeRun, Script, safe_run};
use std::collections::BTreeSet;

/// Judges the command and says what may be run in its place. `None` where safe mode is off.
pub(crate) fn check(tool: &Wiring, script: &Script<'_>) -> Result<Option<SafeRun>, RuleRefusal> {
    let Some(mode) = &tool.safe_mode else {
        return Ok(None);
    };
    match safe_run(script, mode) {
        Ok(run) => Ok(Some(run)),
        Err(finding) => Err((*finding).into()),
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
