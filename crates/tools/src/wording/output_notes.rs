//! The output as one text, and the lines below it: the shown range, the link to the full output,
//! the notices. The profile `standard` and the adapters use them.

use super::{end_line, shown_text};
use agent_bash_core::{
    ArtifactRef, Notice, NoticeKind, OutputLimits, OutputSummary, StreamId, TruncatedBy, Truncation,
};
use agent_bash_sink::{SinkReport, SizeStyle, size_text, truncated_note};

/// Returns the shown part of the streams in the default profile's format, without other lines.
pub fn output_text(printed: &[SinkReport]) -> String {
    let mut text = String::new();
    output(&mut text, printed);
    text
}

/// Writes stdout, then stderr. A binary stream is replaced by a line with its size.
pub(crate) fn output(text: &mut String, printed: &[SinkReport]) {
    let before = text.len();
    for printed in printed.iter().filter(|printed| !printed.shown.is_empty()) {
        if text.len() > before {
            end_line(text);
        }
        text.push_str(&shown_text(printed));
    }
}

/// Returns the lines below the output: the shown range, the link to the full output, the notices.
pub(crate) fn notes(
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

/// Returns the notice `[Showing lines X-Y of Z (50.0KB limit). Full: artifact://ID]`. `count` is Z;
/// `None` leaves out ` of Z`.
///
/// The notice names the limit only if the limit caused the truncation. Returns `None` if the
/// request's `head` or `tail` omitted the lines, and no artifact has the omitted lines.
pub(crate) fn truncation_notice(
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
