//! The checks of a call before anything is started: the rules, the requested sandbox, and the
//! approval. They are the same for calls on this machine and on a remote host.

use crate::call::Call;
use crate::parsed_script;
use crate::predefined;
use crate::refusal::Refusal;
use crate::stage::sandbox::RequestedSandbox;
use crate::stage::{approve, exception, journal, sandbox};
use crate::tool_context::ToolContext;
use agent_bash_core::{Cancel, Findings, Request};

/// An allowed call.
pub(crate) struct PolicyVerdict {
    pub(crate) request: Request,
    /// The findings, without the notices, which are in [`Call::notices`].
    pub(crate) findings: Findings,
    /// The requested sandbox.
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
    if let Some(refusal) = read.refusal.take() {
        let verdict = &read.verdict;
        exception::decide(
            tool,
            call,
            &request,
            verdict,
            refusal,
            is_on_terminal,
            cancel,
        )
        .await?;
    }
    let asked = sandbox::requested(tool, &mut request, escalation);
    call.sandbox.clone_from(&request.sandbox);
    let asked = asked?;
    let leaves = asked.as_ref().and_then(|asked| asked.reason.as_deref());
    let reason = leaves.or(escalation);
    let answer = approve::ask(tool, call, &request, &read.verdict, reason, cancel).await;
    call.details.escalation = reason.map(|reason| journal::escalation(reason, &answer));
    answer.map_err(|refusal| sandbox::denied(refusal, leaves))?;
    let findings = Findings {
        lifted: read.filters_lifted,
        exit_1_is_ok: read.exit_1_is_ok,
        last_pipeline: read.last_pipeline,
        takes_privileges: read.takes_privileges.map(str::to_owned),
        escalated: leaves.is_some(),
        ..Findings::default()
    };
    Ok(PolicyVerdict {
        request,
        findings,
        sandbox: asked,
    })
}

/// Admits a call that another host's policy has allowed.
pub(crate) fn admit(
    tool: &ToolContext,
    call: &mut Call,
    mut request: Request,
    findings: Findings,
) -> Result<PolicyVerdict, Refusal> {
    call.sandbox.clone_from(&request.sandbox);
    let asked = sandbox::requested(tool, &mut request, None)?;
    let leaves = asked.as_ref().is_some_and(|asked| asked.reason.is_some());
    if leaves && !findings.escalated {
        let reason = "this call asks to leave the sandbox, which its host did not approve";
        return Err(Refusal::Escalation(reason.to_owned()));
    }
    Ok(PolicyVerdict {
        request,
        findings,
        sandbox: asked,
    })
}
