//! The output alone. A command's failure is left to its own messages; only external causes
//! (timeout, cancellation) are added.

use super::{not_run, notes, of_one, output, sentence, with_lines};
use crate::FinishedCall;
use crate::adapters::{CallFields, CallOutcome, WrittenAnswer};
use agent_bash_core::Status;

pub(crate) fn write(_: &CallFields, done: &CallOutcome<'_>) -> WrittenAnswer {
    match done {
        CallOutcome::Restarted => WrittenAnswer::text("The shell was restarted."),
        CallOutcome::Ran(ran) => of_one(ran, ran_once),
        other => not_run(other),
    }
}

fn ran_once(account: &FinishedCall) -> WrittenAnswer {
    let sentence = sentence(account).map(|sentence| format!("[{sentence}]"));
    let lines: Vec<String> = sentence.into_iter().chain(notes(account)).collect();
    WrittenAnswer {
        is_error: !matches!(
            account.result.status,
            Status::Exited { .. } | Status::Signaled { .. }
        ),
        ..WrittenAnswer::text(with_lines(&output(account), &lines))
    }
}
