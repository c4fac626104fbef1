//! The text of the `anthropic-agent` adapter, in the format of the tool in Anthropic's SDK. The
//! text is the output, without the exit code. A failed command is reported as an error. Truncated
//! output begins with `[output truncated]`.

use crate::adapter::text::{ending_sentence, not_run, notes, output, with_lines, write_single};
use crate::adapter::{CallFields, CallOutcome, WrittenAnswer};
use crate::finished_call::FinishedCall;
use agent_bash_core::Status;

pub(super) fn write(_: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    match done {
        CallOutcome::Restarted => WrittenAnswer::text("bash session restarted"),
        CallOutcome::Ran(ran) => write_single(ran, write_finished_call),
        CallOutcome::WrongFields(error) => WrittenAnswer::error(format!("bash: {error}")),
        other => not_run(other),
    }
}

fn write_finished_call(call: &FinishedCall) -> WrittenAnswer {
    let output = output(call);
    let output = output.trim_end_matches('\n');
    let cut = if call.result.output.truncated {
        "[output truncated]\n"
    } else {
        ""
    };
    let first = match &call.result.status {
        Status::TimedOut { after_ms } => {
            // Rust's debug format of a float equals Python's format: `120.0`.
            let seconds = *after_ms as f64 / 1000.0;
            format!("bash: bash command timed out after {seconds:?}s\n")
        }
        Status::Exited { .. } => String::new(),
        _ => {
            ending_sentence(call).map_or_else(String::new, |sentence| format!("bash: {sentence}\n"))
        }
    };
    let text = with_lines(&[&first, cut, output].concat(), &notes(call));
    WrittenAnswer {
        is_error: call.result.is_error,
        ..WrittenAnswer::text(text.trim_end_matches('\n'))
    }
}
