//! The text of the `gemini` adapter: labelled lines as in gemini-cli, wrapped in
//! `<untrusted_context>`.

use crate::adapter::printed::{PrintedText, TextEnds};
use crate::adapter::text::{not_run, notes_without_survivors, output, with_lines};
use crate::adapter::{CallFields, CallOutcome, FieldError, FinishedRun, WrittenAnswer};
use crate::wording::thousands;
use agent_bash_core::{Status, Window};
use serde_json::json;
use std::fmt::Write as _;

/// Maximum number of bytes of output that are shown, as in gemini-cli.
pub(super) const MAX_OUTPUT_BYTES: usize = 40_000;

/// The number of bytes of the beginning that are shown of a longer output, as in gemini-cli.
const BEGINNING_BYTES: usize = 8_000;

pub(super) fn write(given: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    match done {
        CallOutcome::Ran([.., ran]) => ran_once(given, ran),
        CallOutcome::Ran([]) => WrittenAnswer::text(""),
        CallOutcome::WrongFields(FieldError::Missing { field, .. }) => {
            WrittenAnswer::error(format!("params must have required property '{field}'"))
        }
        CallOutcome::WrongFields(FieldError::WrongType {
            field, json_type, ..
        }) => WrittenAnswer::error(format!("params/{field} must be {json_type}")),
        other => not_run(other),
    }
}

fn ran_once(given: &CallFields, ran: &FinishedRun) -> WrittenAnswer {
    let finished_call = &*ran.finished_call;
    let (output, notes) = shown(given, ran);
    let status = &finished_call.result.status;
    match status {
        Status::MovedToBackground {
            job, pid, output, ..
        } => return background(given, ran, &job.0, *pid, output),
        Status::Cancelled if finished_call.refusal.is_some() => {
            return WrittenAnswer::error("Command was cancelled by user before it could start.");
        }
        Status::Cancelled => {
            let first = "Command was cancelled by user before it could complete.";
            return WrittenAnswer::error(untrusted(&stopped(first, &output, &notes)));
        }
        Status::TimedOut { after_ms } => {
            let minutes = *after_ms as f64 / 60_000.0;
            let first = format!(
                "Command was automatically cancelled because it exceeded the timeout of {minutes:.1} minutes."
            );
            return WrittenAnswer::error(untrusted(&stopped(&first, &output, &notes)));
        }
        _ => {}
    }
    let shown = match output.trim() {
        "" => "(empty)",
        output => output,
    };
    let mut text = format!("Output: {}", with_lines(shown, &notes));
    let mut line = |label: &str, value: &str| {
        let _ = write!(text, "\n{label}: {value}");
    };
    let error = match status {
        Status::Lost { reason, .. } => Some(reason.clone()),
        _ => finished_call
            .refusal
            .is_some()
            .then(|| finished_call.result.text.clone()),
    };
    if let Some(error) = &error {
        line("Error", error);
    }
    let code = match status {
        Status::Exited { code } => *code,
        // gemini-cli reports code 1 for a command that could not be started.
        Status::NotStarted { .. } => 1,
        _ => 0,
    };
    let structured = (code != 0).then(|| {
        line("Exit Code", &code.to_string());
        json!({ "exitCode": code, "isError": true })
    });
    if let Status::Signaled { number, .. } = status {
        line("Signal", &number.to_string());
    }
    let pids: Vec<String> = finished_call
        .result
        .survivors
        .iter()
        .map(|survivor| survivor.pid.to_string())
        .collect();
    if !pids.is_empty() {
        line("Background PIDs", &pids.join(", "));
    }
    if let Some(group) = ran.group {
        line("Process Group PGID", &group.to_string());
    }
    WrittenAnswer {
        content: untrusted(&text),
        is_error: error.is_some(),
        structured,
    }
}

/// Returns the output and its notes. A long output is reduced to its beginning and end, with the
/// path of the full output.
fn shown(given: &CallFields, ran: &FinishedRun) -> (String, Vec<String>) {
    let finished_call = &*ran.finished_call;
    let artifact = finished_call.result.artifacts.first();
    let printed = PrintedText::of(&ran.part, false);
    let room = given.output_limit(MAX_OUTPUT_BYTES);
    // As in gemini-cli, the beginning gets a fifth of the room.
    let head = Window {
        bytes: room.bytes / (MAX_OUTPUT_BYTES / BEGINNING_BYTES),
        lines: room.lines / (MAX_OUTPUT_BYTES / BEGINNING_BYTES),
    };
    let tail = room.less(head.bytes, head.lines);
    let ends = printed.ends(head, tail);
    let (Some(artifact), Some(ends)) = (artifact, ends) else {
        return (
            output(finished_call),
            notes_without_survivors(finished_call, &finished_call.printed),
        );
    };
    let TextEnds {
        head,
        tail,
        removed,
    } = ends;
    let [first, last] = [head, tail].map(|end: &str| thousands(end.len() as u64));
    let (removed, path) = (thousands(removed as u64), &artifact.path);
    let text = format!(
        "Output too large. Showing first {first} and last {last} characters. For full output see: {path}\n{head}\n\n... \
         [{removed} characters omitted] ...\n\n{tail}"
    );
    (text, notes_without_survivors(finished_call, &[]))
}

/// Returns the text of a cancelled command. `first` is the first sentence.
fn stopped(first: &str, output: &str, notes: &[String]) -> String {
    let text = match output.trim() {
        "" => format!("{first} There was no output before it was cancelled."),
        _ => format!("{first} Below is the output before it was cancelled:\n{output}"),
    };
    with_lines(&text, notes)
}

/// Returns the answer of a command that continues in the background.
fn background(
    given: &CallFields,
    ran: &FinishedRun,
    job: &str,
    pid: u32,
    path: &str,
) -> WrittenAnswer {
    let initial = ran.initial.clone().unwrap_or_default();
    let text = format!("Command is running in background. PID: {pid}. Initial output:\n{initial}");
    let line = format!("[The command is job {job}; its output goes to {path}]");
    WrittenAnswer {
        content: with_lines(&text, &[line]),
        is_error: false,
        structured: Some(json!({
            "pid": pid,
            "command": given.text("command"),
            "initialOutput": initial,
        })),
    }
}

/// Wraps a text in `<untrusted_context>`, and escapes the closing tag in the text.
fn untrusted(text: &str) -> String {
    let text = text.replace("</untrusted_context>", "&lt;/untrusted_context&gt;");
    format!("<untrusted_context>\n{text}\n</untrusted_context>")
}
