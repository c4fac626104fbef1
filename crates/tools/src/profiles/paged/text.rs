//! The text of the profile `paged`: stdout, stderr, vital notices, and a last line with the
//! outcome. A stream that exceeds the limits is shown as its two ends and the path of a file with
//! the whole stream. Other notices are only in the result's data.

use crate::facts::{CallEnding, CallFacts};
use crate::refusal::Refusal;
use crate::wording::{
    background_line, binary_line, blank_line, end_line, is_binary, line_count, marked,
    seconds_text, shell_code, vital_lines,
};
use agent_bash_core::{Status, StreamId, TruncatedBy};
use agent_bash_sink::{ShownOutput, SinkReport, SizeStyle, truncated_note};
use std::fmt::Write as _;

pub(crate) fn write(facts: &CallFacts<'_>) -> String {
    let status = match facts.end {
        CallEnding::Refused(Refusal::Cancelled) => &Status::Cancelled,
        CallEnding::Refused(refusal) => return refusal.to_string(),
        CallEnding::Ran(status) => status,
    };
    if let Some(line) = background_line(status) {
        return line;
    }
    let mut text = String::new();
    for printed in facts
        .printed
        .iter()
        .filter(|printed| !printed.shown.is_empty())
    {
        if !text.is_empty() {
            text.push('\n');
        }
        stream(&mut text, printed);
    }
    if text.is_empty() {
        text.push_str("no output");
    }
    for line in vital_lines(facts.notices).chain(last_line(status)) {
        end_line(&mut text);
        text.push_str(&line);
    }
    text
}

/// Returns the line with the outcome of a call that did not succeed.
fn last_line(status: &Status) -> Option<String> {
    match status {
        Status::Exited { code: 0 } => None,
        Status::TimedOut { after_ms } => Some(format!(
            "Command timed out after {}",
            seconds_text(*after_ms)
        )),
        Status::Cancelled => Some("Command was aborted before completion".to_owned()),
        Status::Lost { .. } => Some("Exit code unknown".to_owned()),
        other => shell_code(other).map(|code| format!("Exit code {code}")),
    }
}

/// Writes one stream.
fn stream(text: &mut String, printed: &SinkReport) {
    let name = match printed.stream {
        StreamId::Stderr => "stderr",
        StreamId::Merged | StreamId::Stdout => "stdout",
    };
    if is_binary(printed) {
        text.push_str(&binary_line(printed, SizeStyle::Tight));
        if let Some(line) = saved_line(printed) {
            let _ = write!(text, "\n{line}");
        }
        return;
    }
    // A stream gets headings only if the limits truncated it. Requested `head` and `tail` lines get
    // no headings.
    let is_over_limit = matches!(
        printed.summary.truncated_by,
        Some(TruncatedBy::Bytes | TruncatedBy::Lines)
    );
    if !is_over_limit {
        text.push_str(&marked(printed));
        return;
    }
    let total = line_count(printed.summary.total_lines);
    let _ = writeln!(text, "<{name} truncated: {total} total>");
    if let Some(line) = saved_line(printed) {
        let _ = writeln!(
            text,
            "{line}\nUse the view tool with offset/limit to read specific sections."
        );
    }
    let previews = match &printed.shown {
        ShownOutput::Ends { head, tail } => [Some(("First", head)), Some(("Last", tail))],
        ShownOutput::Head(head) => [Some(("First", head)), None],
        ShownOutput::Whole(tail) | ShownOutput::Tail(tail) => [None, Some(("Last", tail))],
        ShownOutput::Binary => [None, None],
    };
    for (end, piece) in previews.into_iter().flatten() {
        blank_line(text);
        let _ = write!(
            text,
            "--- {end} {} ---\n{}",
            line_count(piece.line_count()),
            piece.marked()
        );
    }
}

/// Returns the line with the path of the full output.
fn saved_line(printed: &SinkReport) -> Option<String> {
    let artifact = printed.artifact.as_ref()?;
    let note = truncated_note(artifact);
    Some(format!("Full output saved to: {}{note}", artifact.path))
}
