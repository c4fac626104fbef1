//! Formats and lines that several layouts use.

pub(crate) mod output_notes;

use agent_bash_core::{Notice, NoticeKind, Status};
use agent_bash_sink::{
    CarriageReturn, CleanPiece, ShownOutput, SinkReport, SizeStyle, TailBuffer, binary_text,
    size_text, truncated_note,
};
use std::borrow::Cow;
use std::time::Duration;

/// Returns raw bytes as text, cleaned in the same way as a result's output.
pub fn clean(bytes: &[u8]) -> String {
    let mut buffer = TailBuffer::new(bytes.len(), CarriageReturn::Overwrite);
    buffer.push(bytes);
    buffer.snapshot()
}

/// Returns a number with thousands separators: `8,432`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns seconds without trailing zeros: `30`, `1.5`.
pub(crate) fn seconds(after_ms: u64) -> String {
    Duration::from_millis(after_ms).as_secs_f64().to_string()
}

/// Returns seconds with the unit: `30 seconds`, `1 second`.
pub(crate) fn seconds_text(after_ms: u64) -> String {
    let unit = if after_ms == 1000 {
        "second"
    } else {
        "seconds"
    };
    format!("{} {unit}", seconds(after_ms))
}

/// Returns the text of a size above `max`. If rounding makes this text equal the text of `max`, the
/// size is given in bytes.
pub(crate) fn size_over(bytes: u64, max: u64, style: SizeStyle) -> String {
    let text = size_text(bytes, style);
    if text == size_text(max, style) {
        format!("{bytes} bytes")
    } else {
        text
    }
}

/// Returns a number of lines with the unit: `1 line`, `8,432 lines`.
pub(crate) fn line_count(count: u64) -> String {
    let unit = if count == 1 { "line" } else { "lines" };
    format!("{} {unit}", thousands(count))
}

/// Returns the line `[Full output: PATH]` if a stream is not shown completely. The line has paths
/// because the model of such a profile reads files with commands.
pub(crate) fn files_line(printed: &[SinkReport]) -> Option<String> {
    let is_incomplete = |stream: &&SinkReport| stream.summary.truncated || stream.summary.binary;
    let incomplete = printed.iter().filter(is_incomplete);
    let artifacts = incomplete.filter_map(|stream| stream.artifact.as_ref());
    let paths: Vec<String> = artifacts
        .map(|artifact| format!("{}{}", artifact.path, truncated_note(artifact)))
        .collect();
    (!paths.is_empty()).then(|| format!("[Full output: {}]", paths.join(", ")))
}

/// Returns the vital notices, which every layout shows, each as a line `[…]`. They are about
/// survivors, held ports and locks, rules, lost output, prompts, the sandbox, and file changes.
pub(crate) fn vital_lines(notices: &[Notice]) -> impl Iterator<Item = String> {
    let is_vital = |notice: &&Notice| {
        let kind = &notice.kind;
        matches!(
            kind,
            NoticeKind::Survivors { .. }
                | NoticeKind::PortInUse { .. }
                | NoticeKind::LockHeld { .. }
                | NoticeKind::RuleAdvice { .. }
                | NoticeKind::AllowedByUser { .. }
                | NoticeKind::ArtifactFailed { .. }
                | NoticeKind::Overwritten { .. }
                | NoticeKind::SecretsMasked { .. }
                | NoticeKind::PromptUnanswered { .. }
                | NoticeKind::SandboxDenied { .. }
                | NoticeKind::SandboxSockets { .. }
                | NoticeKind::SandboxOperations { .. }
                | NoticeKind::SandboxCache { .. }
                | NoticeKind::SandboxNetwork { .. }
                | NoticeKind::SandboxHosts { .. }
                | NoticeKind::SandboxPartial { .. }
                | NoticeKind::SandboxUnknown { .. }
                | NoticeKind::ProtectedChanged { .. }
                | NoticeKind::ProtectedUncompared { .. }
                | NoticeKind::ProtectedInTrial { .. }
                | NoticeKind::GitConfigDropped { .. }
                | NoticeKind::SandboxUnsupported
                | NoticeKind::Changes { .. }
                | NoticeKind::ChangesUnknown { .. }
                | NoticeKind::ChangesLimit { .. }
                | NoticeKind::ChangesUntraced { .. }
        )
    };
    let vital = notices.iter().filter(is_vital);
    vital.map(|notice| format!("[{}]", notice.text))
}

/// Returns the line that is shown instead of a binary stream.
pub(crate) fn binary_line(printed: &SinkReport, style: SizeStyle) -> String {
    binary_text(printed.summary.total_bytes, style)
}

/// Returns the shown part of a text stream, with a mark at the end of each truncated line.
pub(crate) fn marked(printed: &SinkReport) -> String {
    joined(printed, |piece| piece.marked().into())
}

/// The line between the beginning and the end of an output.
const GAP_LINE: &str = "…\n";

/// Joins the pieces of a stream, with [`GAP_LINE`] in place of the omitted middle.
fn joined(printed: &SinkReport, text_of: impl Fn(&CleanPiece) -> Cow<'_, str>) -> String {
    let mut text = String::new();
    for piece in printed.shown.pieces() {
        if !text.is_empty() {
            end_line(&mut text);
            text.push_str(GAP_LINE);
        }
        text.push_str(&text_of(piece));
    }
    text
}

/// Returns the shown part of a text stream, without marks at truncated lines.
pub(crate) fn plain(printed: &SinkReport) -> String {
    joined(printed, |piece| piece.text.as_str().into())
}

/// Returns the shown part of a stream, or the line for a binary stream.
pub(crate) fn shown_text(printed: &SinkReport) -> String {
    if is_binary(printed) {
        binary_line(printed, SizeStyle::Tight)
    } else {
        marked(printed)
    }
}

/// True if the stream is binary. Layouts then show a line instead of the stream.
pub(crate) fn is_binary(printed: &SinkReport) -> bool {
    matches!(printed.shown, ShownOutput::Binary)
}

/// Returns the text of a call that continues in the background, in every profile except `modes`.
pub(crate) fn background_line(status: &Status) -> Option<String> {
    match status {
        Status::MovedToBackground {
            job, pid, output, ..
        } => Some(format!(
            "Started in the background as job {job} (pid {pid}). Output: {output}"
        )),
        _ => None,
    }
}

/// Returns the exit code as in `$?`, which is 128 + n for signal n. `None` for a call that neither
/// exited nor was killed by a signal.
pub(crate) fn shell_code(status: &Status) -> Option<i32> {
    match status {
        Status::Exited { code } => Some(*code),
        Status::Signaled { number, .. } => Some(128 + number),
        _ => None,
    }
}

/// Adds a newline if the last line lacks one.
pub(crate) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Ends the last line and adds a blank line, unless the text is empty.
pub(crate) fn blank_line(text: &mut String) {
    if !text.is_empty() {
        end_line(text);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, want) in [
            (0, "0"),
            (999, "999"),
            (8432, "8,432"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(number), want);
        }
    }

    #[test]
    fn seconds_have_no_trailing_zeros() {
        for (millis, want) in [(30_000, "30"), (1500, "1.5"), (1, "0.001"), (0, "0")] {
            assert_eq!(seconds(millis), want);
        }
        for (millis, want) in [(1000, "1 second"), (1500, "1.5 seconds"), (0, "0 seconds")] {
            assert_eq!(seconds_text(millis), want);
        }
    }

    #[test]
    fn size_over_never_equals_the_text_of_the_limit() {
        let max = 128 * 1024;
        for (bytes, want) in [
            (max + 1, "131073 bytes"),
            (max + 103, "128.1 KB"),
            (2 * max, "256 KB"),
        ] {
            assert_eq!(size_over(bytes, max, SizeStyle::Spaced), want);
        }
    }

    #[test]
    fn blank_line_adds_exactly_one_blank_line() {
        for (before, want) in [("", ""), ("a", "a\n\n"), ("a\n", "a\n\n")] {
            let mut text = before.to_owned();
            blank_line(&mut text);
            assert_eq!(text, want);
        }
    }
}
