//! Refuses, or remarks on, a command for which the model has a better tool. Off unless the host gives rules and the
//! names of the tools; the rules and how they match are `agent-bash-policy`'s.

use crate::call::Call;
use crate::refusal::RuleRefusal;
use crate::wiring::Wiring;
use agent_bash_core::NoticeKind;
use agent_bash_policy::{InterceptMode, Script, Verdict};

/// Asks the rules, in their order.
pub(crate) fn check(
    tool: &Wiring,
    call: &mut Call,
    script: &Script<'_>,
) -> Result<(), RuleRefusal> {
    let Some(interception) = &tool.interception else {
        return Ok(());
    };
    let Verdict::Block(finding) = interception.rules.check(script) else {
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
