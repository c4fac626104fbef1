//! The checks of a call before a process is started: the rules, the requested sandbox, and the
//! approval. The checks are the same for calls on this machine and on a remote host.

use crate::call::Call;
use crate::predefined;
use crate::stage::parsed_script;
use crate::stage::sandbox::RequestedSandbox;
use crate::stage::{approve, exception, journal, sandbox};
use crate::tool_context::ToolContext;
use agent_bash_core::{Cancel, Findings, Request};
use agent_bash_tools::Refusal;

/// The verdict on an allowed call.
pub(crate) struct PolicyVerdict {
    pub(crate) request: Request,
    /// The findings, without the notices, which are in [`Call::notices`].
    pub(crate) findings: Findings,
    /// The requested sandbox; `None` if the call runs without a sandbox.
    pub(crate) sandbox: Option<RequestedSandbox>,
}

/// Parses the script, runs the checks, and asks the approver.
pub(crate) async fn run_policy(
    tool: &ToolContext,
    call: &mut Call,
    mut request: Request,
    escalation: Option<&str>,
    is_on_terminal: bool,
    cancel: &Cancel,
) -> Result<PolicyVerdict, Refusal> {
    call.predefined = predefined::of_call(tool, &request, &call.cwd).await;
    let mut read = parsed_script::read(tool, call, &mut request)?;
    let refusal = read.refusal.take();
    let excepted = refusal.is_some();
    if let Some(refusal) = refusal {
        let verdict = &read.verdict;
        exception::decide(
            tool, call, &request, verdict, refusal, is_on_terminal, cancel,
        )
        .await?;
    }
    let requested = sandbox::requested(tool, &mut request, escalation);
    call.sandbox.clone_from(&request.sandbox);
    let requested = requested?;
    let sandbox_reason = requested
        .as_ref()
        .and_then(|sandbox| sandbox.reason.as_deref());
    let reason = sandbox_reason.or(escalation);
    let answer = approve::ask(tool, call, &request, &read.verdict, reason, cancel).await;
    call.details.escalation = reason.map(|reason| journal::escalation(reason, &answer));
    answer.map_err(|refusal| sandbox::denied(refusal, sandbox_reason))?;
    let findings = Findings {
        lifted: read.filters_lifted,
        exit_1_is_ok: read.exit_1_is_ok,
        last_pipeline: read.last_pipeline,
        takes_privileges: read.takes_privileges.map(str::to_owned),
        excepted,
        escalated: sandbox_reason.is_some(),
        ..Findings::default()
    };
    Ok(PolicyVerdict {
        request,
        findings,
        sandbox: requested,
    })
}

/// Admits a call that the policy of another host has allowed. Checks the rules again, with the
/// directory and the definitions of the call's shell, which only this machine knows. Refuses a call
/// that asks to leave the sandbox if that host has not approved the escalation.
pub(crate) async fn admit(
    tool: &ToolContext,
    call: &mut Call,
    mut request: Request,
    findings: Findings,
) -> Result<PolicyVerdict, Refusal> {
    call.sandbox.clone_from(&request.sandbox);
    let requested = sandbox::requested(tool, &mut request, None)?;
    let is_escalation = requested
        .as_ref()
        .is_some_and(|sandbox| sandbox.reason.is_some());
    if is_escalation && !findings.escalated {
        let reason = "this call asks to leave the sandbox, but its host did not approve this";
        return Err(Refusal::Escalation(reason.to_owned()));
    }
    if !findings.excepted {
        call.predefined = predefined::of_call(tool, &request, &call.cwd).await;
        parsed_script::check_again(tool, call, &request.command)?;
    }
    Ok(PolicyVerdict {
        request,
        findings,
        sandbox: requested,
    })
}
