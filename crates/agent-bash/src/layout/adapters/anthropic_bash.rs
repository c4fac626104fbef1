//! The output alone. A command's failure is left to its own messages; only external causes
//! (timeout, cancellation) are added.

use super::{not_run, notes, of_one, output, sentence, with_lines};
use crate::Account;
use crate::adapters::{CallFields, Done, Shown};
use agent_bash_core::Status;

pub(crate) fn write(_: &CallFields, done: &Done<'_>) -> Shown {
    match done {
        Done::Restarted => Shown::text("The shell was restarted."),
        Done::Ran(ran) => of_one(ran, ran_once),
        other => not_run(other),
    }
}

fn ran_once(account: &Account) -> Shown {
    let sentence = sentence(account).map(|sentence| format!("[{sentence}]"));
    let lines: Vec<String> = sentence.into_iter().chain(notes(account)).collect();
    Shown {
        is_error: !matches!(
            account.result.status,
            Status::Exited { .. } | Status::Signaled { .. }
        ),
        ..Shown::text(with_lines(&output(account), &lines))
    }
}
