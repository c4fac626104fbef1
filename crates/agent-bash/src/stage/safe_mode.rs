//! Allows only listed commands, and only in an environment in which they run nothing else. The list and the
//! environment are defined in `agent-bash-policy`.

use crate::refusal::RuleRefusal;
use crate::wiring::Wiring;
use agent_bash_core::Environment;
use agent_bash_policy::{HardenedEnvironment, SafeRun, Script, safe_run};
use std::collections::BTreeSet;

/// Judges the command and returns what may be run in its place. `None` if safe mode is off.
pub(crate) fn check(tool: &Wiring, script: &Script<'_>) -> Result<Option<SafeRun>, RuleRefusal> {
    let Some(mode) = &tool.safe_mode else {
        return Ok(None);
    };
    match safe_run(script, mode) {
        Ok(run) => Ok(Some(run)),
        Err(finding) => Err((*finding).into()),
    }
}

/// The environment with safe mode's changes, applied on top of everything the call sets.
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
