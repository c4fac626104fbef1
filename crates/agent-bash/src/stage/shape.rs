//! Makes the result of a call from its outcome: status, counts, notices, and the text.

use crate::call::{Call, DetachedCall, FinishedRun, StartedCallEnd};
use crate::output_mask::mask_notices;
use crate::stage::holders::{CallNetwork, FailedCall};
use crate::stage::last_pipeline::failed_stage;
use crate::stage::{holders, limits, sandbox};
use crate::tool_context::ToolContext;
use agent_bash_core::{
    ArtifactEnd, Notice, NoticeKind, Outcome, ScriptEnding, Status, ToolResult, Window, masked_text,
};
use agent_bash_process::environment::PromptAnswers;
use agent_bash_sink::{CallReport, SinkReport};
use agent_bash_state::panics::WorkPanicked;
use agent_bash_tools::program_messages::{UserPrompts, unanswered_prompt};
use agent_bash_tools::{CallEnding, CallFacts, FinishedCall, Refusal, profiles};
use std::borrow::Cow;
use std::iter;
use std::path::Path;
use std::time::Duration;

/// SIGPIPE, the signal that a process gets if it writes to a pipe without readers.
const BROKEN_PIPE: i32 = 13;

/// Makes the finished call, whichever way the call ended.
pub(crate) async fn finished_call(
    tool: &ToolContext,
    call: Call,
    ended: Result<StartedCallEnd, Refusal>,
) -> FinishedCall {
    let limits = call.limits;
    let (result, refusal) = match ended {
        Ok(StartedCallEnd::Ran(ran)) => return finished(tool, call, *ran).await,
        Ok(StartedCallEnd::Detached(call_end)) => (detached(tool, call, *call_end), None),
        Ok(StartedCallEnd::Remote(result)) => (*result, None),
        Ok(StartedCallEnd::Lost(panicked)) => (lost(tool, call, &panicked), None),
        Err(refusal) => (refused(tool, call, &refusal), Some(refusal)),
    };
    let mut finished_call = FinishedCall::without_output(result, limits);
    finished_call.refusal = refusal;
    finished_call
}

/// Returns the result of a call that a stage refused.
fn refused(tool: &ToolContext, call: Call, refusal: &Refusal) -> ToolResult {
    let status = refusal.status();
    let mut result = without_output(tool, call, CallEnding::Refused(refusal), status);
    if let Status::Blocked {
        rule,
        suggested_tool,
    } = &result.status
    {
        result.rule = Some(rule.clone());
        result.suggested_tool.clone_from(suggested_tool);
    }
    if let Refusal::Rule(rule) = refusal {
        result.offers_trial = rule.explanation.offers_trial;
        result.exception_code.clone_from(&rule.explanation.code);
    }
    result
}

/// Returns the result of a started call whose task panicked.
fn lost(tool: &ToolContext, call: Call, panicked: &WorkPanicked) -> ToolResult {
    let status = status_after(panicked, true);
    without_output(tool, call, CallEnding::Ran(&status), status.clone())
}

fn status_after(panicked: &WorkPanicked, started: bool) -> Status {
    let reason = panicked.to_string();
    if started {
        Status::lost(reason)
    } else {
        Status::NotStarted { reason }
    }
}

/// Returns a finished call with only a status, for a call with a panic in [`finished_call`].
pub(crate) fn status_only(
    tool: &ToolContext,
    cwd: &Path,
    started: bool,
    panicked: &WorkPanicked,
) -> FinishedCall {
    let status = status_after(panicked, started);
    let result = bare(tool, cwd, panicked.to_string(), status);
    FinishedCall::without_output(result, tool.profile.output)
}

/// Returns whether the user could answer the prompts of a call with these answers.
fn user_prompts(answers: Option<&PromptAnswers>) -> UserPrompts {
    match answers {
        None => UserPrompts::Unavailable,
        Some(answers) if answers.is_declined() => UserPrompts::Declined,
        Some(_) => UserPrompts::Available,
    }
}

/// Returns the result of a call that continues as a job.
fn detached(tool: &ToolContext, mut call: Call, detached: DetachedCall) -> ToolResult {
    let DetachedCall {
        job,
        sandbox: call_sandbox,
        changed,
    } = detached;
    call.notices.extend(changed.notices);
    let sandbox = call_sandbox.map(|call_sandbox| {
        let sandboxed = sandbox::of_job(&call_sandbox, &job);
        call.notices
            .extend(sandbox::notices(&call_sandbox, tool, &sandboxed));
        sandboxed
    });
    let output = job.output.as_deref().map(shown).unwrap_or_default();
    let status = Status::MovedToBackground {
        job: job.id,
        pid: job.pid,
        pgid: job.pgid,
        output,
    };
    let mut result = without_output(tool, call, CallEnding::Ran(&status), status.clone());
    result.started_at = job.started_at;
    result.sandbox = sandbox;
    result.changes = changed.changes;
    result
}

/// Returns the result of a call without output.
fn without_output(
    tool: &ToolContext,
    call: Call,
    end: CallEnding<'_>,
    status: Status,
) -> ToolResult {
    let facts = CallFacts {
        end,
        shell_signal: None,
        command: &call.command,
        printed: &[],
        notices: &call.notices,
        limits: call.limits,
    };
    let text = profiles::text(tool.profile.name, &facts);
    let mut result = bare(tool, &call.cwd, text, status);
    result.notices = call.notices;
    result
}

/// Returns a result with only a text and a status.
fn bare(tool: &ToolContext, cwd: &Path, text: String, status: Status) -> ToolResult {
    let mut result = ToolResult::new(status, text, tool.clock.wall());
    result.output.direction = tool.profile.output.truncation.direction();
    result.cwd = shown(cwd);
    result
}

/// Returns the finished call of a script that ended.
async fn finished(tool: &ToolContext, call: Call, ran: FinishedRun) -> FinishedCall {
    let FinishedRun {
        mut outcome,
        mut output,
        exit_1_is_ok,
        last_pipeline,
        sandbox: call_sandbox,
        changed,
    } = ran;
    holders::add_ports(&mut outcome).await;
    let status = status_of(&outcome, exit_1_is_ok);
    let mut limits = call.limits;
    if let Some(window) = call.window {
        let window = window_for_output(window, &call.notices, &outcome);
        output.narrow(window);
        limits.truncation = limits.truncation.within(window);
    }
    let report = output.finish(&ArtifactEnd {
        status: status.clone(),
        duration: outcome.duration,
    });
    let mut notices = notices(call.notices, &outcome, &report);
    notices.extend(limits::hit(&tool.limits, &outcome));
    if let (Some(exit_1_is_ok), Some(stages)) = (&last_pipeline, &outcome.stages) {
        notices.extend(failed_stage(exit_1_is_ok, stages, &status));
    }
    let summary = report.summary();
    let artifacts = report.artifacts();
    let printed: Vec<SinkReport> = iter::once(report.first).chain(report.stderr).collect();
    let directory = outcome.initial_cwd.as_deref().unwrap_or(&call.cwd);
    if status.is_error() {
        let network = match &call_sandbox {
            Some(sandbox) if sandbox.has_own_network() => {
                let observed = outcome.sandbox.as_ref();
                let namespace = observed.and_then(|sandbox| sandbox.network_namespace.clone());
                CallNetwork::Sandbox(namespace)
            }
            _ => CallNetwork::Host,
        };
        let lines: Vec<&str> = printed.iter().flat_map(SinkReport::shown_lines).collect();
        let failed = FailedCall {
            command: &call.command,
            cwd: directory,
            network: &network,
            plan: call_sandbox
                .as_ref()
                .and_then(|sandbox| sandbox.plan.as_ref()),
        };
        notices.extend(holders::notices(tool, failed, &lines).await);
        let prompts = user_prompts(call.answers.as_ref());
        notices.extend(unanswered_prompt(&lines, prompts));
    }
    let mut sandbox = None;
    if let Some(mut call_sandbox) = call_sandbox {
        let sandboxed =
            sandbox::result(&mut call_sandbox, tool, &outcome, directory, &printed).await;
        notices.extend(sandbox::notices(&call_sandbox, tool, &sandboxed));
        sandbox = Some(sandboxed);
    }
    notices.extend(changed.notices);
    let facts = CallFacts {
        end: CallEnding::Ran(&status),
        shell_signal: outcome.shell_signal,
        command: &call.command,
        printed: &printed,
        notices: &notices,
        limits,
    };
    let text = profiles::text(tool.profile.name, &facts);
    // Notices may quote commands and output.
    let text = match masked_text(tool.mask.as_deref(), &text) {
        Cow::Owned(masked) => masked,
        Cow::Borrowed(_) => text,
    };
    mask_notices(tool.mask.as_deref(), &mut notices);
    for survivor in &mut outcome.survivors {
        if let Cow::Owned(masked) = masked_text(tool.mask.as_deref(), &survivor.command) {
            survivor.command = masked;
        }
    }
    let mut result = ToolResult::new(status, text, outcome.started_at);
    result.output = summary;
    result.duration_ms = to_millis(outcome.duration);
    result.cwd = shown(directory);
    result.sandbox = sandbox;
    result.changes = changed.changes;
    // The result of a single command has no stages, because the status has the exit code.
    result.stages = outcome
        .stages
        .filter(|stages| stages.len() > 1)
        .unwrap_or_default();
    result.survivors = outcome.survivors;
    result.notices = notices;
    result.artifacts = artifacts;
    let mut finished_call = FinishedCall::without_output(result, limits);
    finished_call.printed = printed;
    finished_call
}

/// Maximum bytes and maximum lines that layouts add around the output: headings, the paths of both
/// files, the outcome.
const FRAME_BYTES_AND_LINES: (usize, usize) = (2 * 1024, 24);

/// Returns the part of a window that remains for the output, after the notices.
fn window_for_output(window: Window, notices: &[Notice], outcome: &Outcome) -> Window {
    let survivors = (!outcome.survivors.is_empty()).then(|| {
        let survivors = outcome.survivors.clone();
        Notice::from(NoticeKind::Survivors { survivors })
    });
    let (bytes, lines) = notices
        .iter()
        .chain(&outcome.notices)
        .chain(&survivors)
        .map(|notice| notice.text.len() + "[]\n".len())
        .fold(FRAME_BYTES_AND_LINES, |(bytes, lines), notice_bytes| {
            (bytes + notice_bytes, lines + 1)
        });
    window.less(bytes, lines)
}

/// Returns the notices, in chronological order.
pub(crate) fn notices(
    mut notices: Vec<Notice>,
    outcome: &Outcome,
    report: &CallReport,
) -> Vec<Notice> {
    for stream in report.reports() {
        notices.extend(stream.artifact_error.clone().map(|reason| {
            let kind = NoticeKind::ArtifactFailed { reason };
            Notice::from(kind)
        }));
        // If the limits also truncated the stream, another line already names the file.
        notices.extend((stream.overwritten && !stream.summary.truncated).then(|| {
            let artifact = stream.artifact.as_ref();
            let artifact = artifact.map(|artifact| artifact.uri.clone());
            Notice::from(NoticeKind::Overwritten { artifact })
        }));
        let cut_off = stream.head_satisfied.filter(|_| outcome.closed_early);
        notices.extend(cut_off.map(|lines| NoticeKind::HeadSatisfied { lines }.into()));
    }
    let count = report.reports().map(|stream| stream.masked_secrets).sum();
    if count > 0 {
        let mut masked = report.reports().filter(|stream| stream.masked_secrets > 0);
        let artifact = masked.find_map(|stream| Some(stream.artifact.as_ref()?.uri.clone()));
        notices.push(NoticeKind::SecretsMasked { count, artifact }.into());
    }
    notices.extend(outcome.notices.iter().cloned());
    let is_survivors = |notice: &Notice| matches!(notice.kind, NoticeKind::Survivors { .. });
    if !outcome.survivors.is_empty() && !notices.iter().any(is_survivors) {
        let survivors = outcome.survivors.clone();
        notices.push(NoticeKind::Survivors { survivors }.into());
    }
    notices
}

/// Returns the observed ending as a status. docs/contract.md has two exceptions:
/// - If SIGPIPE killed a process because `head` had its lines, the call has succeeded.
/// - If a filter was lifted and exit code 1 is a result of the command, the call has succeeded, as
///   with the filter.
fn status_of(outcome: &Outcome, exit_1_is_ok: bool) -> Status {
    let is_broken_pipe = match outcome.ending {
        ScriptEnding::Exited { code } => code == 128 + BROKEN_PIPE,
        ScriptEnding::Signaled { number, .. } => number == BROKEN_PIPE,
        _ => false,
    };
    if outcome.closed_early && is_broken_pipe {
        return Status::Exited { code: 0 };
    }
    if exit_1_is_ok && matches!(outcome.ending, ScriptEnding::Exited { code: 1 }) {
        return Status::Exited { code: 0 };
    }
    Status::from(&outcome.ending)
}

/// Returns the duration in milliseconds, with microsecond resolution.
pub(crate) fn to_millis(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

/// Returns the path as text; invalid UTF-8 is replaced.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
