//! The text of the profile `standard`: annotation line, output or `(no output)`, blank line,
//! truncation notice, other notices, blank line, exit line.

use crate::facts::{CallEnding, CallFacts};
use crate::refusal::Refusal;
use crate::wording::output_notes::{notes, output};
use crate::wording::{background_line, blank_line, seconds_text};
use agent_bash_core::Status;
use agent_bash_sink::SinkReport;

pub(crate) const NO_OUTPUT: &str = "(no output)";

pub(crate) fn write(facts: &CallFacts<'_>) -> String {
    match facts.end {
        CallEnding::Refused(Refusal::Cancelled) => annotated("[Command cancelled]", NO_OUTPUT),
        CallEnding::Refused(
            refusal @ (Refusal::Rule(_) | Refusal::Denied(_) | Refusal::Escalation(_)),
        ) => {
            format!("Blocked: {refusal}\n\nOriginal command: {}", facts.command)
        }
        CallEnding::Refused(refusal) => refusal.to_string(),
        CallEnding::Ran(status) => ran(facts, status),
    }
}

fn ran(facts: &CallFacts<'_>, status: &Status) -> String {
    let mut text = annotation(status).map_or_else(String::new, |line| annotated(&line, ""));
    match background_line(status) {
        Some(line) => text.push_str(&line),
        None => body(&mut text, facts.printed),
    }
    let notes = notes(facts.printed, facts.notices, facts.limits);
    if !notes.is_empty() {
        blank_line(&mut text);
        text.push_str(&notes.join("\n"));
    }
    if let Some(line) = exit_line(status) {
        blank_line(&mut text);
        text.push_str(&line);
    }
    text
}

fn annotated(line: &str, rest: &str) -> String {
    format!("{line}\n{rest}")
}

/// Returns the first line of a call that timed out or was cancelled.
pub(crate) fn annotation(status: &Status) -> Option<String> {
    match status {
        Status::TimedOut { after_ms } => Some(format!(
            "[Command timed out after {}]",
            seconds_text(*after_ms)
        )),
        Status::Cancelled => Some("[Command cancelled]".to_owned()),
        _ => None,
    }
}

/// Returns the last line of a call that did not succeed.
pub(crate) fn exit_line(status: &Status) -> Option<String> {
    match status {
        Status::Exited { code: 0 } => None,
        Status::Exited { code } => Some(format!("Command exited with code {code}")),
        Status::Signaled { signal, .. } => Some(format!("Command terminated by {signal}")),
        Status::Lost { .. } => Some("Command failed: missing exit status".to_owned()),
        _ => None,
    }
}

/// Writes stdout, then stderr; `(no output)` if both are empty.
fn body(text: &mut String, printed: &[SinkReport]) {
    let before = text.len();
    output(text, printed);
    if text.len() == before {
        text.push_str(NO_OUTPUT);
    }
}
