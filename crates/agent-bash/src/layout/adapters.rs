//! The texts of adapters, in the words of the tools that models know; one file an adapter. What they have in common is here.

pub(crate) mod anthropic_agent;
pub(crate) mod anthropic_bash;
pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod gemini;
pub(crate) mod openai_shell;
mod printed;

use super::{standard, wording};
use crate::Account;
use crate::adapters::{Done, Ran, Shown};
use agent_bash_core::{NoticeKind, Status, StreamId};
use agent_bash_sink::SinkReport;

/// What is shown of the output, stdout before stderr.
fn output(account: &Account) -> String {
    let mut text = String::new();
    standard::output(&mut text, &account.printed);
    text
}

/// What a model should know beside the output, a line each: where the whole of it is, who lives on, what became of a shell.
fn notes(account: &Account) -> Vec<String> {
    standard::notes(&account.printed, &account.result.notices, account.limits)
}

/// The same for a tool that names those who live on in its own way.
fn notes_but_survivors(account: &Account, printed: &[SinkReport]) -> Vec<String> {
    let notices = account.result.notices.iter();
    let others = notices.filter(|notice| !matches!(notice.kind, NoticeKind::Survivors { .. }));
    let others: Vec<_> = others.cloned().collect();
    standard::notes(printed, &others, account.limits)
}

/// The output, and below it, after a blank line, what else there is to say.
fn with_lines(output: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return output.to_owned();
    }
    let mut text = output.to_owned();
    wording::blank_line(&mut text);
    text.push_str(&lines.join("\n"));
    text
}

/// Why a command did not come to its own end, in a sentence; `None` where it did.
fn sentence(account: &Account) -> Option<String> {
    if account.refusal.is_some() {
        return Some(account.result.text.clone());
    }
    match &account.result.status {
        Status::TimedOut { after_ms } => Some(format!(
            "Command timed out after {}",
            wording::seconds_text(*after_ms)
        )),
        Status::Cancelled => Some("Command cancelled".to_owned()),
        Status::Signaled { signal, .. } => Some(format!("Command terminated by {signal}")),
        Status::Lost { reason } => Some(format!("Command failed: {reason}")),
        _ => None,
    }
}

/// What is shown of one of the streams.
fn stream_text(account: &Account, stream: StreamId) -> String {
    let mut printed = account.printed.iter();
    let printed = printed.find(|printed| printed.stream == stream);
    printed.map(wording::shown_text).unwrap_or_default()
}

/// Of a call that has one command: what `write` makes of it, unless it was refused.
fn of_one(ran: &[Ran], write: impl FnOnce(&Account) -> Shown) -> Shown {
    match only(ran) {
        None => Shown::text(""),
        Some(account) if account.refusal.is_some() => Shown::error(&account.result.text),
        Some(account) => write(account),
    }
}

/// Of a call in which nothing was run: why, in our own words.
fn not_run(done: &Done<'_>) -> Shown {
    done.error().map_or_else(|| done.unexpected(), Shown::error)
}

/// The command of a call that has one.
fn only(ran: &[Ran]) -> Option<&Account> {
    ran.last().map(|ran| &*ran.account)
}
