//! The text of the `codex` adapter: a header with wall time, exit code and session, then the
//! command's output since the last answer.

use crate::adapter::printed::{PrintedText, TextEnds};
use crate::adapter::text::{ending_sentence, with_lines};
use crate::adapter::{CallFields, CallOutcome, FieldError, OutputChunk, WrittenAnswer};
use crate::finished_call::FinishedCall;
use agent_bash_core::{Status, Window};
use serde_json::json;
use std::fmt::Write as _;

/// The number of bytes that count as one token, as in codex.
const BYTES_PER_TOKEN: usize = 4;

/// The default maximum of output in an answer, in tokens.
const DEFAULT_TOKENS: u64 = 10_000;

/// Maximum number of tokens that a call can request. Both ends of an output are stored up to this
/// size.
const MAX_TOKENS: u64 = 32_768;

/// Returns the maximum number of bytes of output in an answer.
pub(super) fn budget(given: &CallFields) -> usize {
    let tokens = given.count("max_output_tokens").unwrap_or(DEFAULT_TOKENS);
    tokens.min(MAX_TOKENS) as usize * BYTES_PER_TOKEN
}

pub(super) fn write_exec(given: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    write("exec_command", given, done)
}

pub(super) fn write_stdin(given: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    write("write_stdin", given, done)
}

/// The beginning of codex's message about invalid arguments.
const PARSE_ERROR_PREFIX: &str = "failed to parse function arguments: ";

fn write(tool: &str, given: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    match done {
        CallOutcome::Chunk(chunk) => match &chunk.finished_call {
            Some(finished_call) if finished_call.refusal.is_some() => {
                WrittenAnswer::error(format!("{tool} failed: {}", finished_call.result.text))
            }
            _ => chunk_text(given, chunk),
        },
        CallOutcome::WrongFields(FieldError::Missing { field, .. }) => {
            WrittenAnswer::error(format!("{PARSE_ERROR_PREFIX}missing field `{field}`"))
        }
        CallOutcome::WrongFields(error) => {
            WrittenAnswer::error(format!("{PARSE_ERROR_PREFIX}{error}"))
        }
        CallOutcome::Invalid(error) => WrittenAnswer::error(format!("{tool} failed: {error}")),
        other => other.unexpected(),
    }
}

fn chunk_text(given: &CallFields, chunk: &OutputChunk) -> WrittenAnswer {
    let printed = PrintedText::of(&chunk.part, chunk.is_on_terminal);
    let finished_call = chunk.finished_call.as_deref();
    let is_stored =
        finished_call.is_none_or(|finished_call| !finished_call.result.artifacts.is_empty());
    // Output that no artifact has is shown in full; such output is short.
    let shortened = shortened(&printed, given.output_limit(budget(given)))
        .filter(|_| is_stored || printed.missing > 0);
    let mut lines = finished_call.map(lines).unwrap_or_default();
    if shortened.is_some() && finished_call.is_none() {
        chunk.keep.set();
        lines.push(
            "[The whole output is stored; the last answer of this command has the link]".to_owned(),
        );
    }
    let output = with_lines(&shortened.unwrap_or_else(|| printed.head.clone()), &lines);
    let seconds = chunk.waited.as_secs_f64();
    let tokens = tokens(printed.length());
    let mut head = format!("Chunk ID: {}\nWall time: {seconds:.4} seconds", chunk.id);
    let mut data = json!({
        "chunk_id": chunk.id,
        "wall_time_seconds": seconds,
        "original_token_count": tokens,
        "output": output,
    });
    if let Some(finished_call) = finished_call {
        let code = finished_call.result.status.exit_code();
        let _ = write!(head, "\nProcess exited with code {code}");
        data["exit_code"] = code.into();
    }
    if let Some(session) = chunk.session {
        let _ = write!(head, "\nProcess running with session ID {session}");
        data["session_id"] = session.into();
    }
    WrittenAnswer {
        content: format!("{head}\nOriginal token count: {tokens}\nOutput:\n{output}"),
        // A failed command is not an error of the tool. An unknown outcome is an error.
        is_error: finished_call.is_some_and(|finished_call| {
            matches!(finished_call.result.status, Status::Lost { .. })
        }),
        structured: Some(data),
    }
}

/// Returns the lines about an ended command: why it did not exit by itself, the link to its output,
/// its notices.
fn lines(finished_call: &FinishedCall) -> Vec<String> {
    let result = &finished_call.result;
    let mut lines = Vec::new();
    // The exit code in the header already reports a signal.
    if !matches!(
        result.status,
        Status::Exited { .. } | Status::Signaled { .. }
    ) {
        lines.extend(ending_sentence(finished_call).map(|sentence| format!("[{sentence}]")));
    }
    let artifacts = result.artifacts.iter();
    lines.extend(artifacts.map(|artifact| format!("[Full output: {}]", artifact.uri)));
    let for_model = result
        .notices
        .iter()
        .filter(|notice| notice.kind.is_for_model());
    lines.extend(for_model.map(|notice| format!("[{}]", notice.text)));
    lines
}

/// Returns the two ends of an output that does not fit into `room`. `None` if the output fits.
fn shortened(printed: &PrintedText, room: Window) -> Option<String> {
    let head = room.half();
    let TextEnds {
        head,
        tail,
        removed,
    } = printed.ends(head, room.less(head.bytes, head.lines))?;
    let (total, removed) = (tokens(printed.length()), tokens(removed));
    let lines = printed.lines;
    Some(format!(
        "Warning: truncated output (original token count: {total})\nTotal output lines: {lines}\n\n\
         {head}…{removed} tokens truncated…{tail}"
    ))
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(bytes: usize) -> Window {
        Window {
            bytes,
            lines: usize::MAX,
        }
    }

    #[test]
    fn cut_removes_the_middle_like_codex() {
        let seq = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let printed = PrintedText {
            head: seq.to_owned(),
            lines: 10,
            ..PrintedText::default()
        };
        for (budget, want) in [
            (16, "1\n2\n3\n4\n…2 tokens truncated…\n8\n9\n10\n"),
            (4, "1\n…5 tokens truncated…0\n"),
            (0, "…6 tokens truncated…"),
        ] {
            let text = shortened(&printed, bytes(budget)).unwrap();
            let head =
                "Warning: truncated output (original token count: 6)\nTotal output lines: 10\n\n";
            assert_eq!(text, format!("{head}{want}"));
        }
        assert_eq!(shortened(&printed, bytes(seq.len())), None);
    }
}
