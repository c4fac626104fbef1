//! Lets a command that a rule refuses pass, if the user allows the command. The user allows a
//! command with the code of the refusal, in the host's dialog, or by the setting that lets trials
//! pass.

use crate::approval::Approval;
use crate::call::Call;
use crate::tool_context::ToolContext;
use crate::trials;
use agent_bash_core::{Cancel, NoticeKind, Request};
use agent_bash_policy::{Finding, Verdict};
use agent_bash_state::exceptions::CheckedBy;
use agent_bash_tools::{Refusal, RuleRefusal};

/// Decides on a command that a rule refuses. Returns `Ok` if the command may run. Otherwise returns
/// the refusal, with a code that the user can allow.
pub(crate) async fn decide(
    tool: &ToolContext,
    call: &mut Call,
    request: &Request,
    verdict: &Verdict,
    refusal: RuleRefusal,
    is_on_terminal: bool,
    cancel: &Cancel,
) -> Result<(), Refusal> {
    // A remote call has no exceptions: the same path exists on both machines, but exceptions are
    // stored by path.
    let exceptions = tool
        .exceptions
        .as_ref()
        .filter(|_| tool.remote_host.is_none());
    let is_allowed = exceptions
        .is_some_and(|all| all.consume_permission(&call.command, &call.cwd, CheckedBy::Call));
    if is_allowed {
        pass(call, &refusal);
        return Ok(());
    }
    let Err(mut refusal) = trials::decide(tool, call, request, is_on_terminal, refusal).await
    else {
        return Ok(());
    };
    let Some(finding) = verdict.finding() else {
        return Err(refusal.into());
    };
    match ask_host(tool, call, request, verdict, finding, cancel).await? {
        Some(Approval::Allow) => {
            pass(call, &refusal);
            return Ok(());
        }
        Some(Approval::Deny { reason }) => refusal.reason = Some(reason),
        None => {
            refusal.explanation.code =
                exceptions.and_then(|all| all.add(&call.command, &call.cwd, finding, &tool.host));
        }
    }
    Err(refusal.into())
}

/// Asks the host's user, until the call is cancelled. `None` if the host cannot ask.
async fn ask_host(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    verdict: &Verdict,
    finding: &Finding,
    cancel: &Cancel,
) -> Result<Option<Approval>, Refusal> {
    let proposal = call.proposal(request, verdict);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Refusal::Cancelled),
        answer = tool.approver.allow_once(&proposal, finding) => Ok(answer),
    }
}

/// Records that the user allowed the call despite the rule, and adds a notice.
fn pass(call: &mut Call, refusal: &RuleRefusal) {
    let rule = refusal.rule.clone();
    call.overridden_rule = Some(rule.clone());
    call.notices.push(NoticeKind::AllowedByUser { rule }.into());
}
