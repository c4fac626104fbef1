//! Runs the stages of a call in their order. Each stage is a function in a file of its own below
//! `stage/`. A stage that refuses ends the call before anything is started. `stage::offer` refuses
//! requests for components that this tool lacks.

use crate::call::{Call, CallOptions, FinishedRun, StartedCallEnd};
use crate::journal::RequestDetails;
use crate::stage::audit::{self, AuditFacts};
use crate::stage::changes::ChangeRecord;
use crate::stage::parse_input::{Input, ParsedInput};
use crate::stage::policy::PolicyVerdict;
use crate::stage::{
    artifact, askpass, background, changes, journal, offer, parse_input, policy, remote, run,
    safe_mode, shape, terminal, timeout, working_directory,
};
use crate::tool_context::ToolContext;
use agent_bash_core::{Caller, Cancel, Mode, NotStarted, Request};
use agent_bash_journal::{JournalEntry, PrintedOutputCollector};
use agent_bash_state::in_order::{QueuePermit, QueueSlot};
use agent_bash_state::panics::await_catching_panic;
use agent_bash_tools::{FinishedCall, Refusal};

/// Takes a call through all stages.
pub(crate) async fn call(
    tool: &ToolContext,
    input: Input,
    options: CallOptions<'_>,
    cancel: &Cancel,
) -> FinishedCall {
    let prepared = askpass::prepare(tool);
    let answers = prepared.as_ref().map(|(_, answers)| answers.clone());
    let tool = prepared.as_ref().map_or(tool, |(tool, _)| tool);
    let mut call = Call {
        tools: options.tools.clone(),
        window: options.window,
        printed: journal::printed(tool),
        invocation: options.invocation.clone(),
        answers,
        ..Call::new(tool.host.cwd.clone(), tool.profile.output)
    };
    let ended = await_catching_panic(stages(tool, input, options, cancel, &mut call)).await;
    let ended = match ended {
        Ok(ended) => ended,
        Err(panicked) if call.started => Ok(StartedCallEnd::Lost(panicked)),
        Err(panicked) => Err(NotStarted::new(panicked.to_string()).into()),
    };
    let (command, allowed) = (call.command.clone(), call.allowed);
    let (sandbox, overridden_rule) = (call.sandbox.take(), call.overridden_rule.take());
    let (cwd, started) = (call.cwd.clone(), call.started);
    let (details, printed) = (std::mem::take(&mut call.details), call.printed.take());
    let mut finished_call =
        match await_catching_panic(shape::finished_call(tool, call, ended)).await {
            Ok(finished_call) => finished_call,
            Err(panicked) => shape::status_only(tool, &cwd, started, &panicked),
        };
    let result = &mut finished_call.result;
    let recorded = AuditFacts {
        by: Caller::Model,
        command: &command,
        sandbox,
        allowed,
        overridden_rule,
        status: &result.status,
        time: result.started_at,
        duration_ms: result.duration_ms,
    };
    let audit_failure = audit::record(tool, recorded);
    finished_call.result.notices.extend(audit_failure);
    let journal_failure = journal::record(tool, || {
        let (by, profile) = (Caller::Model, tool.profile.name);
        let mut entry = JournalEntry::new(by, profile, command, finished_call.result.clone());
        details.write_to(&mut entry);
        entry.objection = finished_call.refusal.as_ref().and_then(journal::objection);
        entry.printed = printed.map(PrintedOutputCollector::finish);
        entry
    });
    finished_call.result.notices.extend(journal_failure);
    finished_call
}

/// Runs all stages up to the end of the command.
async fn stages(
    tool: &ToolContext,
    input: Input,
    options: CallOptions<'_>,
    cancel: &Cancel,
    call: &mut Call,
) -> Result<StartedCallEnd, Refusal> {
    let ParsedInput {
        command,
        request,
        notices,
        findings,
    } = parse_input::parse(input)?;
    (call.command, call.notices) = (command, notices);
    let window = findings.as_ref().and_then(|findings| findings.window);
    call.window = call.window.or(window);
    call.limits = call.limits.for_call(request.show, request.show_kb);
    call.details = RequestDetails::of(tool.journal.as_ref(), &tool.environment_policy, &request);
    call.cwd = working_directory::resolve(&tool.host, request.cwd.as_deref());

    let queue_slot = queue_slot(tool, &request);
    // Yield, so that later calls also take their slots before this call continues.
    tokio::task::yield_now().await;

    offer::check(tool, &request)?;
    // The shell's directory and definitions are known once the shell's earlier calls have ended.
    let permit = match queue_slot {
        Some(queue_slot) => queue_slot.acquire(cancel).await,
        None => None,
    };
    let in_session = request.session.as_ref().filter(|_| request.cwd.is_none());
    if let Some(cwd) = in_session.and_then(|name| tool.executor.session_cwd(name)) {
        call.cwd = cwd;
    }

    let escalation = options.escalation.as_deref();
    let on_terminal = options.terminal.is_some();
    let policy_verdict = match findings {
        Some(findings) => policy::admit(tool, call, request, findings).await?,
        None => policy::run_policy(tool, call, request, escalation, on_terminal, cancel).await?,
    };
    call.allowed = true;
    match &tool.remote_host {
        Some(remote_host) => {
            let remote_host = &**remote_host;
            begin_run(permit.as_ref())?;
            remote::run(remote_host, call, policy_verdict, options, cancel).await
        }
        None => run_locally(tool, call, policy_verdict, permit.as_ref(), options, cancel).await,
    }
}

/// Runs the stages of an allowed call on this machine.
#[expect(
    clippy::too_many_lines,
    reason = "all stages, readable from top to bottom"
)]
async fn run_locally(
    tool: &ToolContext,
    call: &mut Call,
    policy_verdict: PolicyVerdict,
    permit: Option<&QueuePermit>,
    options: CallOptions<'_>,
    cancel: &Cancel,
) -> Result<StartedCallEnd, Refusal> {
    let PolicyVerdict {
        request,
        findings,
        sandbox: requested_sandbox,
    } = policy_verdict;
    let mode = match options.terminal {
        // The client follows a call on its own terminal like a job.
        Some(_) => Mode::Background,
        None => request.mode.unwrap_or_default(),
    };
    let (limit, clamped) = timeout::clamp(&tool.profile.timeouts, mode, request.timeout);
    call.notices.extend(clamped);
    // The shell of an invocation inherits this process's directory, even if it was removed.
    if call.invocation.is_none() && working_directory::is_wanted(&request) {
        working_directory::check(tool, &call.cwd, limit, cancel).await?;
    }

    let streams = artifact::streams(tool, call.invocation.as_deref(), &request);
    let call_terminal = terminal::of_call(tool, options.terminal)?;
    let terminal = match &call_terminal {
        Some(terminal) => Some(terminal),
        None => terminal::choose(tool, &request, options.stdin),
    };
    let mut sandbox = match requested_sandbox {
        Some(requested) => {
            let executor = run::executor(tool, terminal);
            let in_session = request.session.is_some();
            Some(requested.decide(tool, executor, in_session).await?)
        }
        None => None,
    };
    let mut output = artifact::allocate(tool, call, &request, streams, terminal);
    let is_attended = options.is_attended && terminal.is_some();
    let waits = request.wait == Some(true);
    let is_unlimited = request.timeout.is_none()
        && (is_attended || waits || options.unlimited || findings.unlimited);
    let untraceable = changes::untraceable_reason(findings.takes_privileges.as_deref());
    let executor = run::executor(tool, terminal);
    let typed = call.command.clone();
    let begun = changes::begin(
        tool,
        call,
        &request,
        executor,
        untraceable.as_deref(),
        &typed,
    );
    let mut change_record = begun.await?;
    // In a pipeline, `cd` does not change the shell's directory. A command with lifted filters runs
    // in a subshell, so that `cd` does not change the directory of a persistent shell either. If a
    // pipeline remains, its stages run in subshells anyway.
    let subshell = findings.lifted && request.session.is_some() && findings.last_pipeline.is_none();
    let mut spec = run::spec(tool, call, &request, terminal, subshell)?
        .report_stages(findings.last_pipeline.is_some())
        .timeout((!is_unlimited).then_some(limit))
        .streams(streams)
        .stdin(options.stdin)
        .sandbox(sandbox.as_ref().and_then(|sandbox| sandbox.plan.clone()))
        .pool(sandbox.as_ref().map_or(Some(0), |sandbox| sandbox.pool))
        .trial(change_record.as_ref().and_then(ChangeRecord::trial))
        .trace(change_record.as_ref().and_then(ChangeRecord::trace))
        .untraced(untraceable.is_some());
    if tool.safe_mode.is_some() {
        // No function or alias may replace an allowed command.
        spec.snapshot = false;
        safe_mode::disable_git_locks(&mut spec.env);
    } else if options.definitions.is_some() {
        // Warm shells do not have these definitions.
        (spec.definitions, spec.pool) = (options.definitions, None);
    }
    let askpass = askpass::open(tool, call, &request, spec.sandbox.as_ref());
    match &askpass {
        Some(askpass) => askpass.add_variables(&mut spec.env),
        None => call.answers = None,
    }
    begin_run(permit)?;
    change_record.as_mut().map_or(Ok(()), ChangeRecord::mark)?;
    call.started = true;
    if let (Some(Mode::Background), Some(jobs)) = (request.mode, &tool.jobs) {
        let stdin = request.stdin;
        let started = background::start(&**jobs, &spec, stdin, sandbox, output, cancel).await;
        let unrecorded_reason = started.as_ref().ok().map(|(_, reason)| reason.clone());
        let recorded = unrecorded_reason.map(|reason| reason.map_or(Ok(()), Err));
        let changed = changes::leave_to_job(tool, change_record, recorded).await;
        let (mut ended, _) = started?;
        match &mut ended {
            StartedCallEnd::Ran(ran) => {
                if let Some(sandbox) = &mut ran.sandbox {
                    sandbox.merge_git_config(&tool.sandbox, &tool.clock).await;
                    let recorded = (&tool.changes, &changed);
                    let find = sandbox.find_changed(&tool.sandbox, recorded, &tool.clock);
                    find.await;
                }
                ran.changed = changed;
            }
            StartedCallEnd::Detached(detached) => detached.changed = changed,
            StartedCallEnd::Remote(_) | StartedCallEnd::Lost(_) => {}
        }
        return Ok(ended);
    }
    let original = (&request, &*typed);
    let records = (&mut change_record, &mut output);
    let outcome = changes::run(
        tool,
        call,
        original,
        (terminal, spec),
        records,
        options.live,
        cancel,
    );
    let outcome = askpass::serving(tool, askpass, outcome).await;
    if let Some(sandbox) = &mut sandbox {
        sandbox.merge_git_config(&tool.sandbox, &tool.clock).await;
    }
    let changed = changes::complete_record(tool, change_record, outcome.as_ref().ok()).await;
    let outcome = outcome?;
    if let Some(sandbox) = &mut sandbox {
        let recorded = (&tool.changes, &changed);
        let find = sandbox.find_changed(&tool.sandbox, recorded, &tool.clock);
        find.await;
    }
    if options.keep.is_some_and(|keep| keep.is_set()) {
        output.store_always();
    }
    Ok(StartedCallEnd::Ran(Box::new(FinishedRun {
        outcome,
        output,
        exit_1_is_ok: findings.exit_1_is_ok,
        last_pipeline: findings.last_pipeline,
        sandbox,
        changed,
    })))
}

/// Marks a call as running in its persistent shell, if it has one.
fn begin_run(permit: Option<&QueuePermit>) -> Result<(), NotStarted> {
    permit.map_or(Ok(()), QueuePermit::begin_run)
}

/// Returns the call's slot in the queue of its persistent shell. `None` without such a shell, and
/// for a job, which has a shell of its own.
fn queue_slot(tool: &ToolContext, request: &Request) -> Option<QueueSlot> {
    let name = request.session.as_ref()?;
    (request.mode != Some(Mode::Background)).then(|| tool.queues.join(name))
}
