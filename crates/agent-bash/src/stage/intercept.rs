//! Refuses a command for which the model has a better tool, or adds advice. Does nothing unless the
//! host provides rules and the names of the model's tools. `agent-bash-policy` matches the rules.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_core::NoticeKind;
use agent_bash_policy::{InterceptMode, Script, Verdict};
use agent_bash_tools::RuleRefusal;

/// Refuses a command that a rule of the interceptor matches, or adds advice to the call, as the
/// mode determines.
pub(crate) fn check(
    tool: &ToolContext,
    call: &mut Call,
    script: &Script<'_>,
) -> Result<(), RuleRefusal> {
    let Some(interception) = &tool.interception else {
        return Ok(());
    };
    let tools = call.tools.as_ref().or(tool.host.tools.as_ref());
    let tools = tools.map_or(&[][..], Vec::as_slice);
    let Verdict::Block(finding) = interception.rules.check(script, tools) else {
        return Ok(());
    };
    match interception.mode {
        InterceptMode::Off => {}
        InterceptMode::Block => return Err(finding.into()),
        InterceptMode::Advise => {
            if let Some(suggested_tool) = finding.suggested_tool {
                let advice = NoticeKind::Advice {
                    suggested_tool,
                    message: finding.message,
                };
                call.notices.push(advice.into());
            }
        }
    }
    Ok(())
}
