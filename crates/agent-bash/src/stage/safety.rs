//! Checks commands with the safety rules of `agent-bash-policy`.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_core::{Notice, NoticeKind};
use agent_bash_policy::{Context, RuleSelection, Script, Verdict, check_safety};
use std::sync::Arc;

/// Returns the verdict of the safety rules. If the rules do not block the command, the approver
/// gets the verdict. A script with a syntax error passes if the rules find no harmful command in
/// the script, because bash reports the error.
pub(crate) fn check(tool: &ToolContext, script: &Script<'_>) -> Verdict {
    check_safety(script, &tool.rules)
}

/// Returns the advice of the user's rules about a command that may run.
pub fn rule_advice(script: &Script<'_>, rules: &RuleSelection) -> Vec<Notice> {
    let advice = agent_bash_policy::advice(script, rules).into_iter();
    let notices = advice.map(|finding| NoticeKind::RuleAdvice {
        rule: finding.rule,
        message: finding.message,
        instead: finding.suggestion,
    });
    notices.map(Notice::from).collect()
}

/// Returns the facts about the call that the rules need in addition to the script.
pub(crate) fn context(tool: &ToolContext, call: &Call) -> Context {
    Context {
        cwd: call.cwd.clone(),
        home: tool.host.home.clone(),
        dialect: tool.dialect(),
        predefined: Arc::clone(&call.predefined),
        protected: match tool.remote_host {
            Some(_) => Arc::default(),
            None => tool.host.protected(),
        },
    }
}
