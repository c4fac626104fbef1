//! The output as it is. That a command failed is for its own words to say; what ended it from outside is ours.

use super::{notes, only, output, sentence, was_reset, with_lines};
use crate::adapters::{Done, Given, Shown};
use agent_bash_core::Status;

pub(crate) fn write(_: &Given, done: &Done<'_>) -> Shown {
    let ran = match done {
        Done::Invalid(error) => return Shown::error(*error),
        Done::Restarted => return Shown::text("The shell was restarted."),
        Done::Ran(ran) => *ran,
    };
    let Some(account) = only(ran) else {
        return Shown::text("");
    };
    if account.refusal.is_some() {
        return Shown::error(&account.result.text);
    }
    let mut lines = notes(account);
    lines.extend(sentence(account).map(|sentence| format!("[{sentence}]")));
    let timed_out = matches!(account.result.status, Status::TimedOut { .. });
    if timed_out && !was_reset(account) {
        lines.push(
            "[The shell was replaced: directory, variables and functions are gone]".to_owned(),
        );
    }
    Shown {
        is_error: !matches!(
            account.result.status,
            Status::Exited { .. } | Status::Signaled { .. } | Status::MovedToBackground { .. }
        ),
        ..Shown::text(with_lines(&output(account), &lines))
    }
}
