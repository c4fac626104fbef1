//! Whether a command may run, as the user's settings have it: the same questions that a call through the tool meets.

use super::call::Call;
use crate::HostContext;
use crate::settings::{self, Settings};
use agent_bash_policy::{Context, Finding, SafeMode, printable, safe_run};
use serde_json::{Map, Value};

/// What the agent is told.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    /// Nothing.
    Pass,
    /// That the command must not run, and why.
    Refuse(String),
    /// That the tool is to be given this instead.
    Replace(Map<String, Value>),
}

/// Judges the command.
///
/// # Errors
/// The settings cannot be used.
pub(super) fn decide(call: &Call, host: &HostContext) -> Result<Decision, String> {
    let host = HostContext {
        cwd: call.session.clone(),
        ..host.clone()
    };
    let settings = settings::load(&host)
        .map_err(|error| error.to_string())?
        .settings;
    let policy = settings.policy().map_err(|error| error.to_string())?;
    let context = Context {
        cwd: call.cwd.clone(),
        home: host.home,
        tools: host.tools.or_else(|| settings.interceptor_tools.clone()),
    };
    let verdict = policy.decide(&call.script, &context);
    if let Some(finding) = verdict.finding().filter(|_| verdict.refuses()) {
        return Ok(Decision::Refuse(refusal(finding)));
    }
    Ok(match hardened(&settings, &call.script, &context) {
        Some(script) => {
            let mut input = call.input.clone();
            input.insert(call.field.to_owned(), script.into());
            Decision::Replace(input)
        }
        None => Decision::Pass,
    })
}

/// What the model reads: what is wrong, and what to do instead.
fn refusal(finding: &Finding) -> String {
    let mut text = format!(
        "Blocked by agent-bash ({}): {}",
        finding.rule, finding.message
    );
    if !finding.suggestion.is_empty() {
        text.push_str("\nInstead: ");
        text.push_str(&finding.suggestion);
    }
    // Words of the command may stand in it.
    let lines: Vec<String> = text.lines().map(printable).collect();
    lines.join("\n")
}

/// The script as safe mode would start it, where that is another. What safe mode changes of the environment no hook can:
/// the shell is the agent's.
fn hardened(settings: &Settings, script: &str, context: &Context) -> Option<String> {
    let mode = SafeMode {
        level: settings.safe_mode?,
        allowed: settings.safe_mode_allowed.clone(),
    };
    let run = safe_run(script, context, &mode).ok()?;
    (run.script != script).then_some(run.script)
}
