//! The answer of the `openai-shell` adapter: stdout, stderr and an outcome for each command, and
//! the text that `OpenAI`'s SDK makes from these.
//!
//! The SDK treats an outcome without an exit code as success. So every outcome has an exit code,
//! except a timeout. Messages of agent-bash (a refusal, the reason for missing output) are in
//! `stderr`.

use crate::adapter::text::{ending_sentence, notes, stream_text, with_lines};
use crate::adapter::{CallFields, CallOutcome, WrittenAnswer};
use crate::finished_call::FinishedCall;
use agent_bash_core::{Status, StreamId};
use serde_json::{Value, json};

/// The exit code of a refused command: shells use it for a program that is found, but not
/// executable.
const REFUSED_EXIT_CODE: i32 = 126;
/// The exit code of a command that did not start: shells use it for a program that is not found.
const NOT_STARTED_EXIT_CODE: i32 = 127;
/// The exit code of a cancelled command: shells use it for a program killed by SIGINT.
const CANCELLED_EXIT_CODE: i32 = 130;
/// The exit code of a command with an unknown outcome.
const LOST_EXIT_CODE: i32 = 125;

/// The part of the answer for one command.
struct CommandOutput {
    stdout: String,
    stderr: String,
    /// The exit code; `None` if the command timed out.
    exit_code: Option<i32>,
}

/// Returns the maximum number of characters of each command's output. The `commands` commands share
/// the requested length. `None` if no length was requested.
pub(super) fn share(given: &CallFields, commands: usize) -> Option<u64> {
    let length = given.count("max_output_length")?;
    Some(length / commands.max(1) as u64)
}

pub(super) fn write(given: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    let (entries, is_error) = match done {
        CallOutcome::Ran(ran) => {
            let room = share(given, given.texts("commands").len());
            let finished_calls = ran.iter().map(|ran| &*ran.finished_call);
            let entries: Vec<_> = finished_calls
                .map(|finished_call| entry(finished_call, room))
                .collect();
            let is_error = ran.iter().any(|ran| {
                let is_lost = matches!(ran.finished_call.result.status, Status::Lost { .. });
                ran.finished_call.refusal.is_some() || is_lost
            });
            (entries, is_error)
        }
        other => match other.error() {
            Some(error) => {
                let entry = CommandOutput {
                    stdout: String::new(),
                    stderr: error,
                    exit_code: Some(NOT_STARTED_EXIT_CODE),
                };
                (vec![entry], true)
            }
            None => return other.unexpected(),
        },
    };
    let output: Vec<Value> = entries.iter().map(CommandOutput::data).collect();
    let mut structured = json!({ "output": output });
    if let Some(length) = given.count("max_output_length") {
        structured["max_output_length"] = length.into();
    }
    let rendered: Vec<String> = entries.iter().map(CommandOutput::rendered).collect();
    WrittenAnswer {
        content: rendered.join("\n\n"),
        is_error,
        structured: Some(structured),
    }
}

/// Returns the part for a finished command, shortened to `room` characters.
fn entry(finished_call: &FinishedCall, room: Option<u64>) -> CommandOutput {
    let mut stdout = stream_text(finished_call, StreamId::Stdout);
    let mut stderr = stream_text(finished_call, StreamId::Stderr);
    let has_timed_out = matches!(finished_call.result.status, Status::TimedOut { .. });
    // The outcome already reports the timeout.
    let sentence = ending_sentence(finished_call).filter(|_| !has_timed_out);
    let mut lines: Vec<String> = sentence.into_iter().collect();
    lines.extend(notes(finished_call));
    if let Some(room) = room {
        fit(&mut stdout, &mut stderr, &mut lines, room as usize);
    }
    CommandOutput {
        stdout,
        stderr: with_lines(&stderr, &lines),
        exit_code: exit_code(&finished_call.result.status),
    }
}

fn exit_code(status: &Status) -> Option<i32> {
    match status {
        Status::Exited { code } => Some(*code),
        Status::Signaled { number, .. } => Some(128 + number),
        Status::TimedOut { .. } => None,
        Status::Cancelled => Some(CANCELLED_EXIT_CODE),
        Status::Blocked { .. } => Some(REFUSED_EXIT_CODE),
        Status::NotStarted { .. } => Some(NOT_STARTED_EXIT_CODE),
        Status::MovedToBackground { .. } => Some(0),
        // `Lost`, and variants that a later version adds.
        _ => Some(LOST_EXIT_CODE),
    }
}

/// Shortens all texts to `room` characters in total. Removes the beginning of stdout first, then
/// the beginning of stderr, then lines of agent-bash. The SDK would otherwise cut the end, which
/// has the link to the full output.
fn fit(stdout: &mut String, stderr: &mut String, lines: &mut Vec<String>, room: usize) {
    // The blank line between the output and the lines.
    let separator_chars = if lines.is_empty() { 0 } else { 2 };
    let char_count = |lines: &[String]| {
        lines
            .iter()
            .map(|line| line.chars().count() + 1)
            .sum::<usize>()
    };
    while !lines.is_empty() && char_count(lines) + separator_chars > room {
        lines.pop();
    }
    let separator_chars = if lines.is_empty() { 0 } else { separator_chars };
    let mut left = room.saturating_sub(char_count(lines) + separator_chars);
    for text in [stderr, stdout] {
        let excess = text.chars().count().saturating_sub(left);
        if let Some((start, _)) = text.char_indices().nth(excess).filter(|_| excess > 0) {
            text.drain(..start);
        } else if excess > 0 {
            text.clear();
        }
        left -= text.chars().count();
    }
}

impl CommandOutput {
    /// Returns the part as structured data.
    fn data(&self) -> Value {
        let outcome = match self.exit_code {
            Some(code) => json!({ "type": "exit", "exit_code": code }),
            None => json!({ "type": "timeout" }),
        };
        json!({ "stdout": self.stdout, "stderr": self.stderr, "outcome": outcome })
    }

    /// Returns the text that the SDK would render for a model.
    fn rendered(&self) -> String {
        let (stdout, stderr) = (
            self.stdout.trim_end_matches('\n'),
            self.stderr.trim_end_matches('\n'),
        );
        let mut lines = Vec::new();
        if !stdout.is_empty() {
            lines.push(stdout.to_owned());
        }
        if !stderr.is_empty() {
            if !stdout.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!("stderr:\n{stderr}"));
        }
        match self.exit_code {
            None => lines.push("status: timeout".to_owned()),
            Some(0) => {}
            Some(code) => lines.push(format!("exit code: {code}")),
        }
        let text = lines.join("\n");
        match text.trim() {
            "" => "(no output)".to_owned(),
            text => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_removes_the_beginning_and_keeps_the_link() {
        let mut stdout = "1234567890".to_owned();
        let mut stderr = "abc".to_owned();
        let mut lines = vec!["[link]".to_owned()];
        fit(&mut stdout, &mut stderr, &mut lines, 16);
        assert_eq!((stdout.as_str(), stderr.as_str()), ("7890", "abc"));
        assert_eq!(lines, ["[link]"]);
        let whole = stdout.chars().count() + with_lines(&stderr, &lines).chars().count();
        assert!(whole <= 16, "{whole}");
        fit(&mut stdout, &mut stderr, &mut lines, 3);
        assert_eq!(
            (stdout.as_str(), stderr.as_str(), lines.len()),
            ("", "abc", 0)
        );
        fit(&mut stdout, &mut stderr, &mut lines, 0);
        assert_eq!((stdout.as_str(), stderr.as_str()), ("", ""));
    }

    #[test]
    fn exit_code_is_none_only_for_a_timeout() {
        for (status, want) in [
            (Status::Exited { code: 3 }, Some(3)),
            (
                Status::Signaled {
                    signal: "SIGKILL".into(),
                    number: 9,
                },
                Some(137),
            ),
            (Status::TimedOut { after_ms: 1 }, None),
            (Status::Cancelled, Some(130)),
            (
                Status::Blocked {
                    rule: "r".into(),
                    suggested_tool: None,
                },
                Some(126),
            ),
            (Status::NotStarted { reason: "x".into() }, Some(127)),
            (Status::lost("x"), Some(125)),
        ] {
            assert_eq!(exit_code(&status), want, "{status:?}");
        }
    }
}
