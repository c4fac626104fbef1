//! Whether a command may run, as the user's settings have it: the same questions that a call through the tool meets.

use super::agents::agent::GoOn;
use super::call::Call;
use crate::HostContext;
use crate::settings::{self, Settings};
use agent_bash_core::{Notice, NoticeKind, visible};
use agent_bash_policy::{
    Context, Dialect, Finding, InterceptMode, Interceptor, SafeMode, Verdict, safe_run,
};
use std::ffi::OsStr;

/// What the agent is told.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    /// That the command must not run, and why.
    Refuse(String),
    /// Nothing, or only what goes with it.
    GoOn(GoOn),
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
    // Which shell an agent starts nobody says; most start the user's.
    let users_shell = host.env.get(OsStr::new("SHELL"));
    let users_shell = users_shell.map_or(Dialect::Bash, Dialect::of_shell);
    let context = Context {
        cwd: call.cwd.clone(),
        home: host.home,
        tools: host.tools.or_else(|| settings.interceptor_tools.clone()),
        dialect: users_shell,
    };
    let verdict = policy.decide(&call.script, &context);
    if let Some(finding) = verdict.finding().filter(|_| verdict.refuses()) {
        return Ok(Decision::Refuse(refusal(finding)));
    }
    let input = hardened(&settings, &call.script, &context).map(|script| {
        let mut input = call.input.clone();
        input.insert(call.field.to_owned(), script.into());
        input
    });
    Ok(Decision::GoOn(GoOn {
        input,
        advice: advice(&settings, &call.script, &context),
    }))
}

/// The better tool, where the interceptor is to advise, in the words that a result has for it.
fn advice(settings: &Settings, script: &str, context: &Context) -> Option<String> {
    if settings.interceptor != InterceptMode::Advise {
        return None;
    }
    let rules = Interceptor::new(settings.interceptor_rules.iter().cloned());
    let Verdict::Block(finding) = rules.check(script, context) else {
        return None;
    };
    let advice = Notice::from(NoticeKind::Advice {
        suggested_tool: finding.suggested_tool?,
        message: finding.message,
    });
    Some(visible::one_line(&advice.text).into_owned())
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
    visible::shown(&text).into_owned()
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
