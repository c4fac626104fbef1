//! The text of the profile `standard`: annotation line, output or `(no output)`, blank line,
//! truncation notice, other notices, blank line, exit line.

use super::wording::{background_line, blank_line, end_line, seconds_text, shown_text};
use super::{CallEnding, CallFacts};
use crate::refusal::Refusal;
use agent_bash_core::{
    ArtifactRef, Notice, NoticeKind, OutputLimits, OutputSummary, Status, StreamId, TruncatedBy,
    Truncation,
};
use agent_bash_sink::{SinkReport, SizeStyle, size_text, truncated_note};

pub(super) const NO_OUTPUT: &str = "(no output)";

pub(super) fn write(facts: &CallFacts<'_>) -> String {
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
    let mut text = match annotation(status) {
        Some(line) => annotated(&line, ""),
        None => String::new(),
    };
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

/// Returns the lines below the output: the shown range, the link to the full output, the notices.
pub(super) fn notes(
    printed: &[SinkReport],
    notices: &[Notice],
    limits: OutputLimits,
) -> Vec<String> {
    let is_lifted = |notice: &Notice| matches!(notice.kind, NoticeKind::Lifted { .. });
    let is_early_end = |notice: &Notice| matches!(notice.kind, NoticeKind::HeadSatisfied { .. });
    let has_ended_early = notices.iter().any(is_early_end);
    // A model that wrote `| head` itself expects the early end, so the notice is left out.
    let is_expected = |notice: &Notice| is_early_end(notice) && notices.iter().any(is_lifted);
    let mut notes: Vec<String> = printed
        .iter()
        .filter_map(|printed| {
            let artifact = printed.artifact.as_ref();
            // The total number of lines means nothing if the command was stopped early.
            let count = match printed.head_satisfied {
                Some(_) if has_ended_early => None,
                _ => Some(printed.summary.total_lines),
            };
            truncation_notice(printed.stream, &printed.summary, count, artifact, limits)
        })
        .collect();
    let for_model = notices.iter().filter(|n| n.kind.is_for_model());
    let for_model = for_model.filter(|notice| !is_expected(notice));
    notes.extend(for_model.map(|notice| format!("[{}]", notice.text)));
    notes
}

fn annotated(line: &str, rest: &str) -> String {
    format!("{line}\n{rest}")
}

/// Returns the first line of a call that timed out or was cancelled.
pub(super) fn annotation(status: &Status) -> Option<String> {
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
pub(super) fn exit_line(status: &Status) -> Option<String> {
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

/// Writes stdout, then stderr. A binary stream is replaced by a line with its size.
pub(super) fn output(text: &mut String, printed: &[SinkReport]) {
    let before = text.len();
    for printed in printed.iter().filter(|printed| !printed.shown.is_empty()) {
        if text.len() > before {
            end_line(text);
        }
        text.push_str(&shown_text(printed));
    }
}

/// Returns the notice `[Showing lines X-Y of Z (50.0KB limit). Full: artifact://ID]`. `count` is Z;
/// `None` leaves out ` of Z`.
///
/// The notice names the limit only if the limit caused the truncation. Returns `None` if the
/// request's `head` or `tail` omitted the lines, and no artifact has the omitted lines.
pub(super) fn truncation_notice(
    stream: StreamId,
    summary: &OutputSummary,
    count: Option<u64>,
    artifact: Option<&ArtifactRef>,
    limits: OutputLimits,
) -> Option<String> {
    let is_requested = summary.truncated_by == Some(TruncatedBy::HeadTail) && artifact.is_none();
    if is_requested || (!summary.truncated && !summary.binary) {
        return None;
    }
    let full =
        artifact.map(|artifact| format!("Full: {}{}", artifact.uri, truncated_note(artifact)));
    if summary.binary {
        return full.map(|full| format!("[{full}]"));
    }
    let (subject, verb) = match stream {
        StreamId::Merged | StreamId::Stdout => ("", "Showing"),
        StreamId::Stderr => ("stderr: ", "showing"),
    };
    let ranges = summary
        .shown_ranges
        .iter()
        .map(|[first, last]| format!("{first}-{last}"))
        .collect::<Vec<_>>()
        .join(", ");
    let shown = if ranges.is_empty() {
        "none".to_owned()
    } else {
        format!("lines {ranges}")
    };
    let limit = limit_text(summary.truncated_by, limits);
    let full = full.map(|full| format!(" {full}")).unwrap_or_default();
    let period = if full.is_empty() { "" } else { "." };
    let of_total = count
        .map(|count| format!(" of {count}"))
        .unwrap_or_default();
    Some(format!(
        "[{subject}{verb} {shown}{of_total}{limit}{period}{full}]"
    ))
}

/// Returns the limit that truncated the output, in brackets after a space; empty for no limit.
fn limit_text(by: Option<TruncatedBy>, limits: OutputLimits) -> String {
    let bytes = limits.truncation.max_bytes();
    match (by, limits.truncation, limits.max_line_chars) {
        (Some(TruncatedBy::Bytes), _, _) => {
            format!(" ({} limit)", size_text(bytes as u64, SizeStyle::Tight))
        }
        (Some(TruncatedBy::Lines), Truncation::HeadTail { max_lines, .. }, _) => {
            format!(" ({max_lines} line limit)")
        }
        (Some(TruncatedBy::LineLength), _, Some(chars)) => {
            format!(" (lines cut at {chars} characters)")
        }
        _ => String::new(),
    }
}
