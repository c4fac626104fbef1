//! Checks a command with the user's settings, in the same way as a call of the tool.

use super::hook_call::HookCall;
use agent_bash::exceptions::{CheckedBy, Exceptions};
use agent_bash::settings::{self, Settings};
use agent_bash::{HostContext, allow_line, rule_advice};
use agent_bash_core::{Notice, NoticeKind, visible};
use agent_bash_policy::{
    Check, Context, Dialect, Finding, InterceptMode, Interceptor, SafeLevel, Script, Verdict,
};
use agent_bash_process::SystemClock;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::Arc;

/// The decision for the agent.
#[derive(Debug, PartialEq)]
pub(super) enum HookDecision {
    /// Refuse the command, for this reason.
    Refuse(String),
    /// The command may run, possibly with advice for the model.
    Continue(Option<String>),
}

/// The reason for refusing all commands in safe mode `read_only`: a hook cannot sandbox the agent's
/// shell.
const SAFE_MODE_REFUSAL: &str = "Blocked by agent-bash (safe_mode): safe mode needs the sandbox `read_only`, but a hook \
     cannot run the agent's own shell in a sandbox.\nInstead: use the tool of `agent-bash mcp --safe-mode`, or set \
     safe_mode.level = \"listed\", which checks only the text of a command";

/// Decides whether the command may run, by the settings of the user and of the call's directory.
///
/// # Errors
/// The settings are invalid.
pub(super) fn decide(
    call: &HookCall,
    host: &HostContext,
    check: CheckedBy,
) -> Result<HookDecision, String> {
    let host = HostContext {
        cwd: call.conversation_cwd.clone(),
        ..host.clone()
    };
    let settings = settings::load(&host)
        .map_err(|error| error.to_string())?
        .settings;
    let mut policy = settings.policy().map_err(|error| error.to_string())?;
    policy.tools = host.tools.clone().unwrap_or(policy.tools);
    // Agents do not report which shell they start; most use `$SHELL`.
    let users_shell = host.env.get(OsStr::new("SHELL"));
    let users_shell = users_shell.map_or(Dialect::Bash, Dialect::of_shell);
    let contexts = call.directories.iter().map(|directory| Context {
        cwd: directory.clone(),
        protected: host.protected(),
        home: host.home.clone(),
        dialect: users_shell,
        ..Context::new("/")
    });
    let mut first_advice = None;
    let mut permitted = BTreeMap::new();
    let exceptions = host.state_dir();
    let exceptions = exceptions.map(|state| Exceptions::new(state, Arc::new(SystemClock::new())));
    for context in contexts {
        for text in &call.scripts {
            let script = Script::read(text, &context);
            let verdict = policy.decide(&script);
            if let Some(finding) = verdict.finding().filter(|_| verdict.refuses()) {
                let exceptions = exceptions
                    .as_ref()
                    .filter(|_| finding.check == Check::Safety);
                let cwd = &context.cwd;
                // No permission is consumed before all checks of the call have passed.
                let is_permitted =
                    |all: &Exceptions| all.consume_permission(text, cwd, CheckedBy::HookBeforeCall);
                if !exceptions.is_some_and(is_permitted) {
                    let code = exceptions.and_then(|all| all.add(text, cwd, finding, &host));
                    return Ok(HookDecision::Refuse(refusal(finding, code.as_deref())));
                }
                permitted.insert((text, cwd.clone()), finding.clone());
            }
            let rules = policy.safety.iter();
            let notices = rules.flat_map(|rules| rule_advice(&script, rules));
            let lines = notices.map(|notice| notice.text);
            let lines = lines.reduce(|lines, line| lines + "\n" + &line);
            let lines = lines.map(|text| visible::shown(&text).into_owned());
            first_advice = first_advice.or(lines);
            first_advice = first_advice.or_else(|| advice(&settings, &script, &policy.tools));
        }
    }
    if settings.safe_mode == Some(SafeLevel::ReadOnly) {
        return Ok(HookDecision::Refuse(SAFE_MODE_REFUSAL.to_owned()));
    }
    for ((text, cwd), finding) in permitted {
        let exceptions = exceptions.as_ref();
        // Another process can have consumed the permission.
        if !exceptions.is_some_and(|all| all.consume_permission(text, &cwd, check)) {
            return Ok(HookDecision::Refuse(refusal(&finding, None)));
        }
    }
    Ok(HookDecision::Continue(first_advice))
}

/// Returns the advice to use a better tool, if the interceptor's mode is `advise`. A result of the
/// tool has the same text.
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

/// Returns the refusal for the model: the reason, and what to do instead.
fn refusal(finding: &Finding, code: Option<&str>) -> String {
    let mut text = format!(
        "Blocked by agent-bash ({}): {}",
        finding.rule, finding.message
    );
    if !finding.suggestion.is_empty() {
        text.push_str("\nInstead: ");
        text.push_str(&finding.suggestion);
    }
    if let Some(code) = code {
        text.push('\n');
        text.push_str(&allow_line(code));
    }
    // The text may quote the command, whose control characters must be marked.
    visible::shown(&text).into_owned()
}
