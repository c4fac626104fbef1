//! Numbers as the texts write them, and joints between parts of a text.

use agent_bash_core::{Notice, NoticeKind, Status};
use agent_bash_sink::{
    Piece, Shown, SinkReport, SizeStyle, binary_text, size_text, truncated_note,
};
use std::time::Duration;

/// `8,432`.
pub(super) fn thousands(number: u64) -> String {
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

/// `30`, `1.5`: seconds without needless decimals.
pub(super) fn seconds(after_ms: u64) -> String {
    Duration::from_millis(after_ms).as_secs_f64().to_string()
}

/// `30 seconds`, `1 second`.
pub(super) fn seconds_text(after_ms: u64) -> String {
    let unit = if after_ms == 1000 {
        "second"
    } else {
        "seconds"
    };
    format!("{} {unit}", seconds(after_ms))
}

/// A size that is over `max`: in bytes where it would be written as `max` is.
pub(super) fn size_over(bytes: u64, max: u64, style: SizeStyle) -> String {
    let written = size_text(bytes, style);
    if written == size_text(max, style) {
        format!("{bytes} bytes")
    } else {
        written
    }
}

/// `1 line`, `8,432 lines`.
pub(super) fn line_count(count: u64) -> String {
    let unit = if count == 1 { "line" } else { "lines" };
    format!("{} {unit}", thousands(count))
}

/// The files with all that the streams printed, where something of it is not shown: `[Full output: PATH]`, for a model that
/// reads files by commands.
pub(super) fn files_line(printed: &[SinkReport]) -> Option<String> {
    let cut = |one: &&SinkReport| one.summary.truncated || one.summary.binary;
    let cut = printed.iter().filter(cut);
    let artifacts = cut.filter_map(|one| one.artifact.as_ref());
    let paths: Vec<String> = artifacts
        .map(|artifact| format!("{}{}", artifact.path, truncated_note(artifact)))
        .collect();
    (!paths.is_empty()).then(|| format!("[Full output: {}]", paths.join(", ")))
}

/// What no layout leaves in the data alone: that something lives on, or that something is lost. A `[…]` line each.
pub(super) fn vital_lines(notices: &[Notice]) -> impl Iterator<Item = String> {
    let is_vital = |notice: &&Notice| {
        let kind = &notice.kind;
        matches!(
            kind,
            NoticeKind::Survivors { .. }
                | NoticeKind::ArtifactFailed { .. }
                | NoticeKind::Overwritten { .. }
        )
    };
    let vital = notices.iter().filter(is_vital);
    vital.map(|notice| format!("[{}]", notice.text))
}

/// What stands for a stream that is not text.
pub(super) fn binary_line(printed: &SinkReport, style: SizeStyle) -> String {
    binary_text(printed.summary.total_bytes, style)
}

/// What is shown of a stream that is text, with a mark where a line was cut inside.
pub(super) fn marked(printed: &SinkReport) -> String {
    printed.shown.pieces().map(Piece::marked).collect()
}

/// What is shown of a stream that is text, as it was printed.
pub(super) fn plain(printed: &SinkReport) -> String {
    let pieces = printed.shown.pieces();
    pieces.map(|piece| piece.text.as_str()).collect()
}

/// What stands for a stream by itself: its text, or the line that says that it is none.
pub(super) fn shown_text(printed: &SinkReport) -> String {
    if is_binary(printed) {
        binary_line(printed, SizeStyle::Tight)
    } else {
        marked(printed)
    }
}

/// Whether a stream is reported instead of being shown.
pub(super) fn is_binary(printed: &SinkReport) -> bool {
    matches!(printed.shown, Shown::Binary)
}

/// The text of a call that goes on without its caller, in every profile but `modes`.
pub(super) fn background_line(status: &Status) -> Option<String> {
    match status {
        Status::MovedToBackground {
            job, pid, output, ..
        } => Some(format!(
            "Started in the background as job {job} (pid {pid}). Output: {output}"
        )),
        _ => None,
    }
}

/// The exit code as a shell would show it in `$?`: 128 + n for a signal. `None` where there is none to show.
pub(super) fn shell_code(status: &Status) -> Option<i32> {
    match status {
        Status::Exited { code } => Some(*code),
        Status::Signaled { number, .. } => Some(128 + number),
        _ => None,
    }
}

/// Ends the last line, if there is one that has no end.
pub(super) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Ends the last line and leaves one line blank, if there is anything before.
pub(super) fn blank_line(text: &mut String) {
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
    fn seconds_have_no_needless_decimals() {
        for (millis, want) in [(30_000, "30"), (1500, "1.5"), (1, "0.001"), (0, "0")] {
            assert_eq!(seconds(millis), want);
        }
        for (millis, want) in [(1000, "1 second"), (1500, "1.5 seconds"), (0, "0 seconds")] {
            assert_eq!(seconds_text(millis), want);
        }
    }

    #[test]
    fn a_size_over_a_limit_is_never_written_as_the_limit() {
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
    fn joints_leave_exactly_one_blank_line() {
        for (before, want) in [("", ""), ("a", "a\n\n"), ("a\n", "a\n\n")] {
            let mut text = before.to_owned();
            blank_line(&mut text);
            assert_eq!(text, want);
        }
    }
}
