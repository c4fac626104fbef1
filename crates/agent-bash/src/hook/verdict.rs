//! Checks a command against the user's settings, in the same way as a call through the tool.

use super::call::Call;
use crate::HostContext;
use crate::settings::{self, Settings};
use agent_bash_core::{Notice, NoticeKind, visible};
use agent_bash_policy::{
    Context, Dialect, Finding, InterceptMode, Interceptor, SafeLevel, Script, Verdict,
};
use std::ffi::OsStr;

/// The decision for the agent.
#[derive(Debug, PartialEq)]
pub(super) enum HookDecision {
    /// Refuse the command, for this reason.
    Refuse(String),
    /// The command may run, possibly with advice for the model.
    GoOn(Option<String>),
}

/// The shell is the agent's: what safe mode promises of it cannot be kept.
const SAFE_MODE_REFUSAL: &str = "Blocked by agent-bash (safe_mode): safe mode needs the sandbox `read_only`, in which a hook \
     cannot have the agent's own shell run.\nInstead: use the tool of `agent-bash mcp --safe-mode`, or set \
     safe_mode.level = \"listed\", which is what the text of a command alone can promise";

/// Checks the command.
///
/// # Errors
/// The settings are invalid.
pub(super) fn decide(call: &Call, host: &HostContext) -> Result<HookDecision, String> {
    let host = HostContext {
        cwd: call.session.clone(),
        ..host.clone()
    };
    let settings = settings::load(&host)
        .map_err(|error| error.to_string())?
        .settings;
    let mut policy = settings.policy().map_err(|error| error.to_string())?;
    policy.tools = host.tools.unwrap_or(policy.tools);
    // Agents do not say which shell they start; most use the user's.
    let users_shell = host.env.get(OsStr::new("SHELL"));
    let users_shell = users_shell.map_or(Dialect::Bash, Dialect::of_shell);
    let context = Context {
        cwd: call.cwd.clone(),
        home: host.home,
        dialect: users_shell,
        ..Context::new("/")
    };
    let mut first_advice = None;
    for script in &call.scripts {
        let script = Script::read(script, &context);
        let verdict = policy.decide(&script);
        if let Some(finding) = verdict.finding().filter(|_| verdict.refuses()) {
            return Ok(HookDecision::Refuse(refusal(finding)));
        }
        first_advice = first_advice.or_else(|| advice(&settings, &script, &policy.tools));
    }
    if settings.safe_mode == Some(SafeLevel::ReadOnly) {
        return Ok(HookDecision::Refuse(SAFE_MODE_REFUSAL.to_owned()));
    }
    Ok(HookDecision::GoOn(first_advice))
}

/// The advice to use a better tool, if the interceptor is in advise mode; the same text as in a
/// result.
fn advice(settings: &Settings, script: &Script<'_>, tools: &[String]) -> Option<String> {
    if settings.interceptor != InterceptMode::Advise {
        return None;
    }
    let rules = Interceptor::new(settings.interceptor_rules.iter().cloned());
    let Verdict::Block(finding) = rules.check(script, tools) else {
        return None;
    };
    let advice = Notice::from(NoticeKind::Advice {
        suggested_tool: finding.suggested_tool?,
        message: finding.message,
    });
    Some(visible::one_line(&advice.text).into_owned())
}

/// The refusal for the model: what is wrong, and what to do instead.
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
    visible::shown(&text).into_owned()
}
