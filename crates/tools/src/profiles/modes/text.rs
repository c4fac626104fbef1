//! The text of the profile `modes`: a line with the failure, then the output. Of more than 128 KB,
//! only the first and last 4 KB are shown. Then come the path of the full output and vital notices.
//! Other notices are only in the result's data.

use crate::facts::{CallEnding, CallFacts};
use crate::refusal::Refusal;
use crate::wording::{
    binary_line, end_line, files_line, is_binary, plain, shell_code, size_over, vital_lines,
};
use agent_bash_core::{OutputLimits, Status, TruncatedBy, Truncation, short_duration};
use agent_bash_sink::{ShownOutput, SinkReport, SizeStyle, size_text};
use std::fmt::Write as _;
use std::time::Duration;

pub(crate) fn write(facts: &CallFacts<'_>) -> String {
    let status = match facts.end {
        CallEnding::Refused(Refusal::Cancelled) => &Status::Cancelled,
        CallEnding::Refused(
            refusal @ (Refusal::Rule(_) | Refusal::Denied(_) | Refusal::Escalation(_)),
        ) => {
            return refusal.to_string();
        }
        CallEnding::Refused(refusal) => return format!("[command not started: {refusal}]"),
        CallEnding::Ran(status) => status,
    };
    if let Status::MovedToBackground {
        pid, pgid, output, ..
    } = status
    {
        return format!(
            "<pid>{pid}</pid>\n<output_file>{output}</output_file>\n<reminder>To stop: kill -9 -{pgid}</reminder>"
        );
    }
    let mut text = header(status).map_or_else(String::new, |line| format!("{line}\n"));
    let before = text.len();
    for printed in facts.printed {
        if text.len() > before {
            end_line(&mut text);
        }
        body(&mut text, printed, facts.limits);
    }
    let files = files_line(facts.printed).into_iter();
    for line in files.chain(vital_lines(facts.notices)) {
        end_line(&mut text);
        text.push_str(&line);
    }
    text
}

/// Returns the first line of a call that did not succeed.
fn header(status: &Status) -> Option<String> {
    match status {
        Status::Exited { code: 0 } => None,
        Status::TimedOut { after_ms } => Some(format!(
            "[command timed out after {}]",
            short_duration(Duration::from_millis(*after_ms))
        )),
        Status::Cancelled => Some("[command cancelled]".to_owned()),
        Status::Lost { reason, .. } => {
            // A number such as -1 would look like an exit code of the command.
            Some(format!("[command failed: exit code unknown: {reason}]"))
        }
        other => shell_code(other).map(|code| format!("[command failed: exit code {code}]")),
    }
}

/// Writes one stream.
fn body(text: &mut String, printed: &SinkReport, limits: OutputLimits) {
    if is_binary(printed) {
        text.push_str(&binary_line(printed, SizeStyle::Spaced));
        return;
    }
    match (&printed.shown, limits.truncation) {
        (ShownOutput::Ends { head, tail }, Truncation::Middle { max, .. }) => {
            let _ = write!(
                text,
                "[output truncated in middle: got {}, max is {}]\n{}\n\n[snip]\n\n{}",
                size_over(printed.summary.total_bytes, max as u64, SizeStyle::Spaced),
                size_text(max as u64, SizeStyle::Spaced),
                head.text,
                tail.text
            );
        }
        // The call asked for one end of the output.
        (ShownOutput::Head(piece) | ShownOutput::Tail(piece), _) if is_over_limit(printed) => {
            let max = limits.truncation.max_bytes() as u64;
            let dropped_part = match printed.shown {
                ShownOutput::Head(_) => "end",
                _ => "beginning",
            };
            let _ = write!(
                text,
                "[output truncated at the {dropped_part}: got {}, max is {}]\n{}",
                size_over(printed.summary.total_bytes, max, SizeStyle::Spaced),
                size_text(max, SizeStyle::Spaced),
                piece.text
            );
        }
        _ => text.push_str(&plain(printed)),
    }
}

/// True if the limits truncated the output. False if the request's `head` or `tail` did.
fn is_over_limit(printed: &SinkReport) -> bool {
    printed.summary.truncated_by == Some(TruncatedBy::Bytes)
}
