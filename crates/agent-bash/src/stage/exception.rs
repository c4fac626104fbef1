//! Lets a command pass that a rule refuses, if the user allows it: by its code, by the host's
//! question, or as a trial.

use crate::approval::{Approval, Proposal};
use crate::call::Call;
use crate::exceptions::CheckedBy;
use crate::refusal::{Refusal, RuleRefusal};
use crate::tool_context::ToolContext;
use crate::trials;
use agent_bash_core::{Cancel, NoticeKind, Request};
use agent_bash_policy::{Finding, Verdict};

/// Decides on a command with a finding: it passes, or the refusal stands, with a code.
pub(crate) async fn decide(
    tool: &ToolContext,
    call: &mut Call,
    request: &Request,
    verdict: &Verdict,
    refusal: RuleRefusal,
    is_on_terminal: bool,
    cancel: &Cancel,
) -> Result<(), Refusal> {
    // A path of another machine may be one of this machine, too.
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
    match asked(tool, call, request, verdict, finding, cancel).await? {
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
async fn asked(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    reading: &Verdict,
    finding: &Finding,
    cancel: &Cancel,
) -> Result<Option<Approval>, Refusal> {
    let proposal = Proposal {
        command: &request.command,
        cwd: &call.cwd,
        request,
        verdict: reading,
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Refusal::Cancelled),
        answer = tool.approver.except(&proposal, finding) => Ok(answer),
    }
}

fn pass(call: &mut Call, refusal: &RuleRefusal) {
    let rule = refusal.rule.clone();
    call.excepted_from = Some(rule.clone());
    call.notices.push(NoticeKind::AllowedByUser { rule }.into());
}
