//! Sends an allowed call to a remote host, with the findings of the policy.

use crate::call::{Call, CallOptions, StartedCallEnd};
use crate::stage::policy::PolicyVerdict;
use agent_bash_core::{Cancel, Findings, NotRun, PolicyFindings, RemoteHost, StdinSource};
use agent_bash_tools::Refusal;

/// Runs a call on the remote host to its end. The remote host determines the working directory, the
/// time limit, the output and the text of the result.
pub(crate) async fn run(
    remote_host: &dyn RemoteHost,
    call: &mut Call,
    verdict: PolicyVerdict,
    options: CallOptions<'_>,
    cancel: &Cancel,
) -> Result<StartedCallEnd, Refusal> {
    let PolicyVerdict {
        request, findings, ..
    } = verdict;
    if options.stdin != StdinSource::Null {
        return Err(Refusal::NotOffered(
            "the stdin of agent-bash is not passed to a target; put the input into the command, or into a file on the target (`agent-bash cp`)",
        ));
    }
    if options.terminal.is_some() {
        return Err(Refusal::NotOffered(
            "a target has no terminals; run it without one, or use `ssh -t` and the like for programs that need one",
        ));
    }
    let is_changed = call.command != request.command;
    let findings = Findings {
        command: is_changed.then(|| call.command.clone()),
        notices: std::mem::take(&mut call.notices),
        unlimited: options.unlimited,
        window: call.window,
        ..findings
    };
    let checked = PolicyFindings { request, findings };
    call.started = true;
    match remote_host.run(&checked, options.live, cancel).await {
        Ok(result) => Ok(StartedCallEnd::Remote(Box::new(result))),
        Err(NotRun::NotStarted(reason)) => Err(reason.into()),
        Err(NotRun::Cancelled) => Err(Refusal::Cancelled),
    }
}
