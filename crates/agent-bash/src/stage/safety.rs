//! Refuses what would do harm that nobody meant. The rules are `agent-bash-policy`'s.

use crate::pipeline::Call;
use crate::refusal::RuleRefusal;
use crate::tool::Wiring;
use agent_bash_policy::{Context, Verdict, check_safety};

/// Judges the command; what is not blocked is handed on with its reading, for the host to decide.
pub(crate) fn check(tool: &Wiring, call: &Call) -> Result<Verdict, RuleRefusal> {
    let context = Context {
        cwd: call.cwd.clone(),
        home: tool.host.home.clone(),
        tools: tool.host.tools.clone(),
    };
    match check_safety(&call.command, &context, &tool.rules) {
        Verdict::Block(finding) => Err(RuleRefusal {
            rule: finding.rule.clone(),
            message: finding.message.clone(),
            suggested_tool: finding.suggested_tool.clone(),
        }),
        passed => Ok(passed),
    }
}
