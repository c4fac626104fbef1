//! Allows only listed commands. `agent-bash-policy` has the list. The call's sandbox makes the
//! kernel refuse writes (`crate::SandboxSettings::in_safe_mode`).

use crate::tool_context::ToolContext;
use agent_bash_core::{Environment, Request};
use agent_bash_policy::{Check, Finding, NOT_ALLOWED, Script, check_safe_mode};
use agent_bash_tools::RuleRefusal;

/// Refuses a command that is not listed, or that sets environment variables.
pub(crate) fn check(
    tool: &ToolContext,
    request: &Request,
    script: &Script<'_>,
) -> Result<(), RuleRefusal> {
    let Some(mode) = &tool.safe_mode else {
        return Ok(());
    };
    let verdict = check_safe_mode(script, mode);
    if verdict.refuses()
        && let Some(finding) = verdict.finding()
    {
        return Err(finding.clone().into());
    }
    // A variable of the request can start another program (`PATH`, `GIT_EXTERNAL_DIFF`), as
    // `NAME=value command` can.
    match request.env.keys().next() {
        None => Ok(()),
        Some(name) => Err(variable_refusal(name)),
    }
}

fn variable_refusal(name: &str) -> RuleRefusal {
    RuleRefusal::from(Finding {
        check: Check::SafeMode,
        rule: "environment".to_owned(),
        message: NOT_ALLOWED.to_owned(),
        suggestion: format!("leave out the variable `{name}`: in safe mode a call sets none"),
        ..Finding::default()
    })
}

/// Sets `GIT_OPTIONAL_LOCKS=0`: `git status` otherwise writes the index, which safe mode forbids.
pub(crate) fn disable_git_locks(environment: &mut Environment) {
    let off = Some("0".into());
    environment.changes.insert("GIT_OPTIONAL_LOCKS".into(), off);
}
