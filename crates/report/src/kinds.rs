//! Kinds of calls that the page can filter.

use agent_bash_core::changes::Changes;
use agent_bash_core::sandbox::Sandboxed;
use agent_bash_core::{Caller, Status};
use agent_bash_journal::JournalEntry;

/// A filter of the page: it shows the calls of one kind.
pub(crate) struct Filter {
    /// The name in the page's markup.
    pub(crate) key: &'static str,
    /// The label of the filter's button.
    pub(crate) label: &'static str,
    applies: fn(&JournalEntry, &[Changes]) -> bool,
}

/// The filters of the page, in order.
pub(crate) const FILTERS: [Filter; 7] = [
    Filter {
        key: "failed",
        label: "Failed",
        applies: |entry, _| entry.result.is_error && !is_refused(entry),
    },
    Filter {
        key: "refused",
        label: "Refused",
        applies: |entry, _| is_refused(entry),
    },
    Filter {
        key: "slow",
        label: "Over 10 s",
        applies: |entry, _| entry.result.duration_ms > 10_000.0,
    },
    Filter {
        key: "files",
        label: "Changed files",
        applies: |entry, background| {
            let call_changes = entry.result.changes.iter();
            let changed = call_changes
                .chain(background)
                .any(|changes| changes.counts.total() > 0);
            changed || outside_files(entry) > 0
        },
    },
    Filter {
        key: "jobs",
        label: "Jobs and survivors",
        applies: |entry, _| {
            !entry.result.survivors.is_empty()
                || matches!(entry.result.status, Status::MovedToBackground { .. })
        },
    },
    Filter {
        key: "denied",
        label: "Sandbox",
        applies: |entry, _| {
            let has_escalation = entry.escalation.is_some();
            has_escalation
                || entry
                    .result
                    .sandbox
                    .as_ref()
                    .is_some_and(Sandboxed::has_denials)
        },
    },
    Filter {
        key: "user",
        label: "By the user",
        applies: |entry, _| entry.by == Caller::User,
    },
];

impl Filter {
    /// True if a call is of this kind. `background` has the changes of the call's background
    /// processes.
    pub(crate) fn applies(&self, entry: &JournalEntry, background: &[Changes]) -> bool {
        (self.applies)(entry, background)
    }
}

/// True if a rule refused the call. An unreadable request does not count.
fn is_refused(entry: &JournalEntry) -> bool {
    matches!(entry.result.status, Status::Blocked { .. })
}

/// Returns the number of files that the call changed outside of the recorded directory.
pub(crate) fn outside_files(entry: &JournalEntry) -> u64 {
    let changes = entry.result.changes.as_ref();
    changes.map_or(0, |changes| changes.outside.values().sum())
}
