//! The answers of adapters, in the formats of the tools that models know. Each adapter has a file;
//! this file has the shared parts.

pub(crate) mod anthropic_agent;
pub(crate) mod anthropic_bash;
pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod gemini;
pub(crate) mod openai_shell;
mod printed;

use super::{standard, wording};
use crate::FinishedCall;
use crate::adapters::{CallOutcome, FinishedRun, WrittenAnswer};
use agent_bash_core::{NoticeKind, Status, StreamId};
use agent_bash_sink::SinkReport;

/// Returns the shown output, stdout before stderr.
fn output(account: &FinishedCall) -> String {
    let mut text = String::new();
    standard::output(&mut text, &account.printed);
    text
}

/// Returns the lines below the output: the link to the full output, and the notices.
fn notes(account: &FinishedCall) -> Vec<String> {
    standard::notes(&account.printed, &account.result.notices, account.limits)
}

/// Returns the lines of [`notes`] for the streams `printed`, but without the notice about
/// survivors. For a tool that reports survivors in its own way.
fn notes_without_survivors(account: &FinishedCall, printed: &[SinkReport]) -> Vec<String> {
    let notices = account.result.notices.iter();
    let others = notices.filter(|notice| !matches!(notice.kind, NoticeKind::Survivors { .. }));
    let others: Vec<_> = others.cloned().collect();
    standard::notes(printed, &others, account.limits)
}

/// Returns the output, a blank line, and the lines. Without lines, returns only the output.
fn with_lines(output: &str, lines: &[String]) -> String {
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
fn ending_sentence(account: &FinishedCall) -> Option<String> {
    if account.refusal.is_some() {
        return Some(account.result.text.clone());
    }
    match &account.result.status {
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
fn stream_text(account: &FinishedCall, stream: StreamId) -> String {
    let mut printed = account.printed.iter();
    let printed = printed.find(|printed| printed.stream == stream);
    printed.map(wording::shown_text).unwrap_or_default()
}

/// Returns the answer of `write` for a call with a single command. If the command was refused,
/// returns the refusal as an error.
fn write_single(
    ran: &[FinishedRun],
    write: impl FnOnce(&FinishedCall) -> WrittenAnswer,
) -> WrittenAnswer {
    match last_run(ran) {
        None => WrittenAnswer::text(""),
        Some(account) if account.refusal.is_some() => WrittenAnswer::error(&account.result.text),
        Some(account) => write(account),
    }
}

/// Returns the answer of a call that ran no command: the reason, in the words of agent-bash.
fn not_run(done: &CallOutcome<'_>) -> WrittenAnswer {
    done.error()
        .map_or_else(|| done.unexpected(), WrittenAnswer::error)
}

/// Returns the last finished command of a call.
fn last_run(ran: &[FinishedRun]) -> Option<&FinishedCall> {
    ran.last().map(|ran| &*ran.account)
}
