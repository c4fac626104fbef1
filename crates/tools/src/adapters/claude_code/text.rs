//! The structured answers of the `claude-code` adapter. Claude Code's texts are not published, so
//! the model reads the text of the profile in force.
//!
//! Unused fields are omitted, because they must not be `null`.

use crate::adapter::text::{last_run, not_run, stream_text};
use crate::adapter::{CallFields, CallOutcome, WrittenAnswer};
use crate::finished_call::FinishedCall;
use agent_bash_core::{Status, StreamId};
use serde_json::json;

pub(super) fn write(given: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    match done {
        CallOutcome::Ran(ran) => {
            last_run(ran).map_or_else(|| WrittenAnswer::text(""), |ran| ran_once(given, ran))
        }
        other => match other.error() {
            Some(error) => WrittenAnswer {
                structured: Some(json!({ "stdout": "", "stderr": &error, "interrupted": false })),
                ..WrittenAnswer::error(error)
            },
            None => other.unexpected(),
        },
    }
}

fn ran_once(given: &CallFields, finished_call: &FinishedCall) -> WrittenAnswer {
    let result = &finished_call.result;
    let refused = finished_call.refusal.as_ref().map(|_| result.text.clone());
    let is_interrupted = matches!(result.status, Status::TimedOut { .. } | Status::Cancelled);
    let mut data = json!({
        "stdout": stream_text(finished_call, StreamId::Stdout),
        "stderr": refused.unwrap_or_else(|| stream_text(finished_call, StreamId::Stderr)),
        "interrupted": is_interrupted,
    });
    match &result.status {
        Status::MovedToBackground { job, .. } => data["backgroundTaskId"] = job.0.as_str().into(),
        Status::TimedOut { after_ms } => data["timedOutAfterMs"] = (*after_ms).into(),
        _ => {}
    }
    // An artifact with output of survivors only is not reported.
    if let Some(artifact) = result.artifacts.first()
        && result.output.truncated
    {
        data["persistedOutputPath"] = artifact.path.as_str().into();
        data["persistedOutputSize"] = artifact.bytes.into();
    }
    if given.flag("dangerouslyDisableSandbox") && finished_call.refusal.is_none() {
        data["dangerouslyDisableSandbox"] = true.into();
    }
    WrittenAnswer {
        content: result.text.clone(),
        is_error: result.is_error,
        structured: Some(data),
    }
}

pub(super) fn write_stop(_: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    match done {
        CallOutcome::Stopped(killed) => {
            let (id, command) = (&killed.id.0, &killed.command);
            let mut message = format!("Successfully stopped task: {id} ({command})");
            let stuck: Vec<String> = killed
                .survivors
                .iter()
                .map(|survivor| {
                    let (pid, command) = (survivor.pid, &survivor.command);
                    format!("pid {pid} withstood SIGKILL: {command}")
                })
                .collect();
            if !stuck.is_empty() {
                message = format!("Task {id} was not stopped entirely: {}", stuck.join("; "));
            }
            WrittenAnswer {
                is_error: !stuck.is_empty(),
                structured: Some(json!({
                    "message": message,
                    "task_id": id,
                    "task_type": "local_bash",
                    "command": command,
                })),
                ..WrittenAnswer::text(message.clone())
            }
        }
        other => not_run(other),
    }
}
