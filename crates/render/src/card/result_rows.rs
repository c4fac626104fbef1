//! Extracts the output from the text of a result: removes the lines that the layout of the standard
//! profile adds, because a card shows those facts itself. Texts of other profiles stay unchanged if
//! those lines are not recognised.

use crate::{OutputLimits, OutputText};
use agent_bash_core::{Direction, NoticeKind, Status, ToolResult, TruncatedBy};

/// Lines that `head` and `tail` print by default.
const DEFAULT_LINES: u64 = 10;

/// The `head` or `tail` at the end of the command that was applied to the output instead of being
/// run.
pub(crate) fn filter(result: &ToolResult) -> Option<&str> {
    result.notices.iter().find_map(|notice| match &notice.kind {
        NoticeKind::Lifted { filter } => Some(filter.as_str()),
        _ => None,
    })
}

/// True if the result lacks lines that the command printed, because a filter was applied to its
/// output.
pub(crate) fn is_partial(result: &ToolResult) -> bool {
    let output = &result.output;
    output.truncated_by == Some(TruncatedBy::HeadTail)
        || (output.truncated && filter(result).is_some())
}

/// Returns the rows in the result. Rows that are missing before these count as dropped.
pub(crate) fn output(result: &ToolResult) -> OutputText {
    let mut output = OutputText::new(OutputLimits::CARD);
    let missing = missing_before(result);
    if missing > 0 {
        output.skip_lines(missing);
    }
    output.push(rows(result).as_bytes());
    output
}

/// Number of lines that the filter would have printed before the shown lines.
fn missing_before(result: &ToolResult) -> u64 {
    let output = &result.output;
    let is_end = output.direction == Direction::Tail && output.shown_ranges.len() == 1;
    let is_as_requested = output.truncated_by == Some(TruncatedBy::HeadTail);
    match filter(result) {
        Some(filter) if is_end && !is_as_requested => {
            let wanted = filter_lines(filter).min(output.total_lines);
            wanted.saturating_sub(output.shown_lines)
        }
        _ => 0,
    }
}

/// Maximum number of lines that a `head`, a `tail`, or a `head` before a `tail` prints: the last
/// number in `filter`.
fn filter_lines(filter: &str) -> u64 {
    let last = filter.rsplit('|').next().unwrap_or_default();
    let digits = last.split(|c: char| !c.is_ascii_digit());
    let number = digits.filter_map(|digits| digits.parse().ok()).next_back();
    number.unwrap_or(DEFAULT_LINES)
}

/// The text after the line about a timeout or a cancellation, and before the notices and the exit
/// line.
fn rows(result: &ToolResult) -> &str {
    let mut text = result.text.as_str();
    if matches!(result.status, Status::TimedOut { .. } | Status::Cancelled)
        && text.starts_with("[Command ")
    {
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
    }
    if !matches!(result.status, Status::Exited { code: 0 })
        && let Some((before, last)) = text.rsplit_once('\n')
        && last.starts_with("Command ")
    {
        text = before.strip_suffix('\n').unwrap_or(before);
    }
    let mut notes = text;
    for notice in result.notices.iter().rev() {
        let note = format!("[{}]", notice.text);
        if let Some(before) = notes.strip_suffix(&note) {
            notes = before.strip_suffix('\n').unwrap_or(before);
        }
    }
    while let Some((before, last)) = notes.rsplit_once('\n')
        && (last.starts_with("[Showing ") || last.starts_with("[stderr: showing "))
        && last.ends_with(']')
    {
        notes = before;
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::{Notice, Timestamp};

    fn lifted(filter: &str, status: Status, text: &str) -> ToolResult {
        let mut result = ToolResult::new(status, text, Timestamp(0));
        result.output.truncated = true;
        let filter = filter.to_owned();
        result.notices = vec![Notice::from(NoticeKind::Lifted { filter })];
        result
    }

    #[test]
    fn rows_are_extracted_from_the_text_around_them() {
        let failed = || Status::Exited { code: 1 };
        let ok = || Status::Exited { code: 0 };
        let overwritten = Notice::from(NoticeKind::Overwritten { artifact: None });
        let note = format!("[{}]", overwritten.text);
        for (status, text, want) in [
            (ok(), "99\n100\n".to_owned(), "99\n100\n"),
            (
                failed(),
                "99\n100\n\nCommand exited with code 1".to_owned(),
                "99\n100",
            ),
            (
                failed(),
                format!(
                    "99\n100\n\n[Showing lines 99-100 of 100. Full: artifact://1]\n{note}\n\nCommand exited with code 1"
                ),
                "99\n100\n",
            ),
            (
                Status::Cancelled,
                "[Command cancelled]\n100\n".to_owned(),
                "100\n",
            ),
            // Output of the command itself.
            (
                ok(),
                "Command exited with code 1".to_owned(),
                "Command exited with code 1",
            ),
            (ok(), "[a note]\n".to_owned(), "[a note]\n"),
        ] {
            let mut result = lifted("tail -2", status, &text);
            result.notices.push(overwritten.clone());
            assert_eq!(rows(&result), want, "{text:?}");
        }
    }

    #[test]
    fn missing_rows_are_those_that_the_filter_would_have_let_through() {
        for (filter, total, want) in [
            ("head -n 100000", 262_218, 91_478),
            ("head -n 100000", 100_000, 91_478),
            ("tail -n 20000", 3_000_000, 11_478),
            ("head -99999 | tail -9000", 3_000_000, 478),
            ("tail", 3_000_000, 0),
        ] {
            let mut result = lifted(filter, Status::Exited { code: 0 }, "99999\n100000\n");
            result.output.truncated_by = Some(TruncatedBy::Bytes);
            result.output.total_lines = total;
            result.output.shown_lines = 8522;
            result.output.shown_ranges = vec![[91_479, 100_000]];
            assert!(is_partial(&result));
            let output = output(&result);
            assert_eq!(output.dropped_lines(), want, "{filter}");
            assert_eq!(output.plain(), "99999\n100000\n");
        }
    }
}
