//! The parts that the answers of several adapters share.

use super::plan::{CallOutcome, FinishedRun, WrittenAnswer};
use crate::finished_call::FinishedCall;
use crate::wording::{self, output_notes};
use agent_bash_core::{NoticeKind, Status, StreamId};
use agent_bash_sink::SinkReport;

/// Returns the shown output, stdout before stderr.
pub(crate) fn output(finished_call: &FinishedCall) -> String {
    let mut text = String::new();
    output_notes::output(&mut text, &finished_call.printed);
    text
}

/// Returns the lines below the output: the link to the full output, and the notices.
pub(crate) fn notes(finished_call: &FinishedCall) -> Vec<String> {
    output_notes::notes(
        &finished_call.printed, &finished_call.result.notices, finished_call.limits,
    )
}

/// Returns the lines of [`notes`] for the streams `printed`, but without the notice about
/// survivors. For a tool that reports survivors in its own way.
pub(crate) fn notes_without_survivors(
    finished_call: &FinishedCall,
    printed: &[SinkReport],
) -> Vec<String> {
    let notices = finished_call.result.notices.iter();
    let others = notices.filter(|notice| !matches!(notice.kind, NoticeKind::Survivors { .. }));
    let others: Vec<_> = others.cloned().collect();
    output_notes::notes(printed, &others, finished_call.limits)
}

/// Returns the output, a blank line, and the lines. Without lines, returns only the output.
pub(crate) fn with_lines(output: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return output.to_owned();
    }
    let mut text = output.to_owned();
    wording::blank_line(&mut text);
    text.push_str(&lines.join("\n"));
    text
}

/// Returns a sentence that says why a command did not run or did not exit by itself. `None` if the
/// command exited by itself.
pub(crate) fn ending_sentence(finished_call: &FinishedCall) -> Option<String> {
    if finished_call.refusal.is_some() {
        return Some(finished_call.result.text.clone());
    }
    match &finished_call.result.status {
        Status::TimedOut { after_ms } => Some(format!(
            "Command timed out after {}",
            wording::seconds_text(*after_ms)
        )),
        Status::Cancelled => Some("Command cancelled".to_owned()),
        Status::Signaled { signal, .. } => Some(format!("Command terminated by {signal}")),
        Status::Lost { reason, .. } => Some(format!("Command failed: {reason}")),
        _ => None,
    }
}

/// Returns the shown part of one stream.
pub(crate) fn stream_text(finished_call: &FinishedCall, stream: StreamId) -> String {
    let mut printed = finished_call.printed.iter();
    let printed = printed.find(|printed| printed.stream == stream);
    printed.map(wording::shown_text).unwrap_or_default()
}

/// Returns the answer of `write` for a call with a single command. If the command was refused,
/// returns the refusal as an error.
pub(crate) fn write_single(
    ran: &[FinishedRun],
    write: impl FnOnce(&FinishedCall) -> WrittenAnswer,
) -> WrittenAnswer {
    match last_run(ran) {
        None => WrittenAnswer::text(""),
        Some(finished_call) if finished_call.refusal.is_some() => {
            WrittenAnswer::error(&finished_call.result.text)
        }
        Some(finished_call) => write(finished_call),
    }
}

/// Returns the answer of a call that ran no command: the reason, in the words of agent-bash.
pub(crate) fn not_run(done: &CallOutcome<'_>) -> WrittenAnswer {
    done.error()
        .map_or_else(|| done.unexpected(), WrittenAnswer::error)
}

/// Returns the last finished command of a call.
pub(crate) fn last_run(ran: &[FinishedRun]) -> Option<&FinishedCall> {
    ran.last().map(|ran| &*ran.finished_call)
}
