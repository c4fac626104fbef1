//! The output as it is. That a command failed is for its own words to say; what ended it from outside is ours.

use super::{notes, only, output, sentence, with_lines};
use crate::Account;
use crate::adapters::{Done, Given, Shown};
use agent_bash_core::Status;

pub(crate) fn write(_: &Given, done: &Done<'_>) -> Shown {
    match done {
        Done::Restarted => Shown::text("The shell was restarted."),
        Done::Ran(ran) => only(ran).map_or_else(|| Shown::text(""), ran_once),
        other => other
            .error()
            .map_or_else(|| other.unexpected(), Shown::error),
    }
}

fn ran_once(account: &Account) -> Shown {
    if account.refusal.is_some() {
        return Shown::error(&account.result.text);
    }
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
