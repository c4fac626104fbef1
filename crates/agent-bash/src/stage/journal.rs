//! Writes a finished call to the journal, if the conversation has a journal.

use crate::tool_context::ToolContext;
use agent_bash_core::{Notice, NoticeKind};
use agent_bash_journal::{
    Escalation, JournalEntry, JournalLevel, PrintedOutputCollector, RefusalEntry,
};
use agent_bash_state::panics::catch_panic;
use agent_bash_tools::Refusal;

/// Returns a collector for the end of the output, if the journal records outputs.
pub(crate) fn printed(tool: &ToolContext) -> Option<PrintedOutputCollector> {
    let journal = tool.journal.as_ref()?;
    (journal.level() == JournalLevel::Full).then(PrintedOutputCollector::default)
}

/// Returns a refusal as part of a journal entry. `None` if no check refused the call.
pub(crate) fn objection(refusal: &Refusal) -> Option<RefusalEntry> {
    let (message, instead, span) = match refusal {
        Refusal::Rule(rule) => (
            rule.to_string(),
            rule.explanation.instead.clone(),
            rule.explanation.span.map(|span| [span.start, span.end]),
        ),
        Refusal::NotStarted(_) | Refusal::Cancelled => return None,
        other => (other.to_string(), None, None),
    };
    Some(RefusalEntry {
        message,
        instead,
        span,
    })
}

/// Returns the journal entry of a request to leave the sandbox, with the answer.
pub(crate) fn escalation(reason: &str, answer: &Result<(), Refusal>) -> Escalation {
    let (allowed, text) = match answer {
        Ok(()) => (Some(true), None),
        Err(Refusal::Cancelled) => (None, None),
        Err(refusal) => (Some(false), Some(refusal.to_string())),
    };
    Escalation {
        reason: reason.to_owned(),
        allowed,
        answer: text,
    }
}

/// Records a call in the journal. Returns a notice if the recording fails.
pub(crate) fn record(tool: &ToolContext, entry: impl FnOnce() -> JournalEntry) -> Option<Notice> {
    let journal = tool.journal.as_ref()?;
    let reason = match catch_panic(|| journal.record(&entry())) {
        Ok(Ok(())) => return None,
        Ok(Err(error)) => error.to_string(),
        Err(panicked) => panicked.to_string(),
    };
    tracing::warn!(
        reason,
        "a call could not be written into the session's journal"
    );
    Some(NoticeKind::JournalFailed { reason }.into())
}
