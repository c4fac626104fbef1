//! Kinds of calls that can be looked at alone.

use agent_bash_core::changes::Changes;
use agent_bash_core::{Caller, Status};
use agent_bash_journal::JournalEntry;

/// A kind of calls.
pub(crate) struct Filter {
    /// In the page's markup.
    pub(crate) key: &'static str,
    /// For people.
    pub(crate) label: &'static str,
    applies: fn(&JournalEntry, &[Changes]) -> bool,
}

/// Those of the page, in their order.
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
        applies: |entry, late| {
            let own = entry.result.changes.iter();
            let changed = own.chain(late).any(|changes| changes.counts.total() > 0);
            changed || outside(entry) > 0
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
            let asked = entry.escalation.is_some();
            asked
                || entry.result.sandbox.as_ref().is_some_and(|sandbox| {
                    !sandbox.denied.is_empty()
                        || sandbox.network_refused.is_some_and(|count| count > 0)
                })
        },
    },
    Filter {
        key: "user",
        label: "By the user",
        applies: |entry, _| entry.by == Caller::User,
    },
];

impl Filter {
    /// Whether a call is one of these, of which what it left running has changed this.
    pub(crate) fn applies(&self, entry: &JournalEntry, late: &[Changes]) -> bool {
        (self.applies)(entry, late)
    }
}

/// By a rule: a request that could not be read was refused by nobody.
fn is_refused(entry: &JournalEntry) -> bool {
    matches!(entry.result.status, Status::Blocked { .. })
}

/// Files that it changed beyond the directory that is looked at.
pub(crate) fn outside(entry: &JournalEntry) -> u64 {
    let changes = entry.result.changes.as_ref();
    changes.map_or(0, |changes| changes.outside.values().sum())
}
