//! The text of the `anthropic-bash` adapter: the output, without the exit code. A line after the
//! output reports a timeout, a cancellation or a signal.

use crate::adapter::text::{ending_sentence, not_run, notes, output, with_lines, write_single};
use crate::adapter::{CallFields, CallOutcome, WrittenAnswer};
use crate::finished_call::FinishedCall;
use agent_bash_core::Status;

pub(super) fn write(_: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    match done {
        CallOutcome::Restarted => WrittenAnswer::text("The shell was restarted."),
        CallOutcome::Ran(ran) => write_single(ran, ran_once),
        other => not_run(other),
    }
}

fn ran_once(finished_call: &FinishedCall) -> WrittenAnswer {
    let sentence = ending_sentence(finished_call).map(|sentence| format!("[{sentence}]"));
    let lines: Vec<String> = sentence.into_iter().chain(notes(finished_call)).collect();
    WrittenAnswer {
        is_error: !matches!(
            finished_call.result.status,
            Status::Exited { .. } | Status::Signaled { .. }
        ),
        ..WrittenAnswer::text(with_lines(&output(finished_call), &lines))
    }
}
