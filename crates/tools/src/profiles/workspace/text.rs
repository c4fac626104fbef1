//! The text of the profile `workspace`: stdout, newline, stderr, at most 100 KB in total; then the
//! path of the full output and vital notices; `[Exit code: N]` as the last line. Other notices are
//! only in the result's data.

use crate::facts::{CallEnding, CallFacts};
use crate::refusal::{DirectoryError, Refusal};
use crate::wording::{
    background_line, binary_line, files_line, is_binary, line_count, plain, shell_code, vital_lines,
};
use agent_bash_core::{RequestError, Status, TruncatedBy, short_duration};
use agent_bash_sink::{CleanPiece, ShownOutput, SizeStyle, size_text};
use std::fmt::Write as _;
use std::time::Duration;

pub(crate) fn write(facts: &CallFacts<'_>) -> String {
    let status = match facts.end {
        CallEnding::Refused(refusal) => return refused(refusal),
        CallEnding::Ran(status) => status,
    };
    if let Some(line) = background_line(status) {
        return line;
    }
    let (mut text, cut) = joined(facts);
    if let Some(limit) = cut {
        let _ = write!(text, "\n[Output truncated at {limit}]");
    }
    let files = files_line(facts.printed).into_iter();
    for line in files.chain(vital_lines(facts.notices)) {
        let _ = write!(text, "\n{line}");
    }
    if let Status::TimedOut { after_ms } = status {
        let after = short_duration(Duration::from_millis(*after_ms));
        let _ = write!(
            text,
            "\n[Process timed out after {after} and was terminated]"
        );
    }
    let _ = write!(
        text,
        "\n[Exit code: {}]",
        exit_code(status, facts.shell_signal)
    );
    text
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Request(RequestError::MissingCommand | RequestError::EmptyCommand) => {
            "Error: Missing required parameter 'command'".to_owned()
        }
        Refusal::Directory(
            DirectoryError::Missing(path)
            | DirectoryError::NotADirectory(path)
            | DirectoryError::Unreadable { path, .. },
        ) => format!("Error: Workspace not accessible: '{}'", path.display()),
        Refusal::NotStarted(error) => format!("Error: Failed to launch process: {error}"),
        // The contract fixes these texts. They do not contain the reason.
        Refusal::Rule(rule) => match rule.offer() {
            Some(offer) => format!("{}\n{offer}", rule.message),
            None => rule.message.clone(),
        },
        Refusal::Denied(_) | Refusal::Escalation(_) => refusal.to_string(),
        Refusal::Request(_)
        | Refusal::NotOffered(_)
        | Refusal::NotSandboxed(_)
        | Refusal::Cancelled => {
            format!("Error: {refusal}")
        }
    }
}

/// The number that a shell adds to the number of a fatal signal.
const SIGNAL_EXIT_BASE: i32 = 128;

const SIGTERM: i32 = 15;

/// Returns the exit code as in `$?`. For a call that timed out or was cancelled, the signal is
/// SIGTERM, unless the supervisor has observed another signal.
fn exit_code(status: &Status, signal: Option<i32>) -> String {
    match status {
        Status::TimedOut { .. } | Status::Cancelled => {
            (SIGNAL_EXIT_BASE + signal.unwrap_or(SIGTERM)).to_string()
        }
        other => shell_code(other).map_or_else(|| "unknown".to_owned(), |code| code.to_string()),
    }
}

/// Returns both streams joined, and the limit that truncated them, if a limit did. The limit
/// applies to both streams together, so the second stream is dropped if the first is truncated.
fn joined(facts: &CallFacts<'_>) -> (String, Option<String>) {
    let limit = facts.limits.truncation.max_bytes();
    let by_size = || Some(size_text(limit as u64, SizeStyle::Short));
    let mut text = String::new();
    for printed in facts
        .printed
        .iter()
        .filter(|printed| !printed.shown.is_empty())
    {
        if !text.is_empty() {
            text.push('\n');
        }
        if is_binary(printed) {
            text.push_str(&binary_line(printed, SizeStyle::Tight));
        } else {
            text.push_str(&plain(printed));
        }
        // A stream with a gap may exceed the limit by the line between its two ends.
        let has_gap = matches!(printed.shown, ShownOutput::Ends { .. });
        if text.len() > limit && !has_gap {
            let boundary = (0..=limit).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(boundary.unwrap_or(0));
            return (text, by_size());
        }
        match printed.summary.truncated_by {
            Some(TruncatedBy::Bytes) => return (text, by_size()),
            Some(TruncatedBy::Lines) => {
                let shown: u64 = printed.shown.pieces().map(CleanPiece::line_count).sum();
                return (text, Some(line_count(shown)));
            }
            _ => {}
        }
    }
    (text, None)
}
