//! Asks the host's approver before a command is started.

use crate::approval::Approval;
use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_core::{Cancel, Request};
use agent_bash_policy::Verdict;
use agent_bash_tools::{ApprovalDenied, Refusal};

/// Asks the host's approver to approve the call, or, with the reason `escalation`, to let the call
/// leave the sandbox. Stops waiting if the call is cancelled.
pub(crate) async fn ask(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    verdict: &Verdict,
    escalation: Option<&str>,
    cancel: &Cancel,
) -> Result<(), Refusal> {
    let proposal = call.proposal(request, verdict);
    let answer = async {
        match escalation {
            Some(reason) => tool.approver.escalate(&proposal, reason).await,
            None => tool.approver.approve(&proposal).await,
        }
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Refusal::Cancelled),
        answer = answer => match answer {
            Approval::Allow => Ok(()),
            Approval::Deny { reason } => Err(ApprovalDenied { reason }.into()),
        },
    }
}
