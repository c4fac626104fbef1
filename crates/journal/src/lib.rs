//! The journal of a conversation's calls, for the user: commands, outcomes, and at level
//! [`JournalLevel::Full`] outputs. Unlike an audit log, a journal has a size limit and expires.
//! [`History`] stores the commands that the user typed.
//!
//! Each process appends to its own file, `<state>/journal/<session>/<start>-<pid>.jsonl`: directory
//! 0700, file 0600. Sandboxed calls cannot read `<state>/journal`.

mod entry;
mod history;
mod printed;
mod recording;
mod retention;
mod writer;

pub use agent_bash_core as core;
pub use entry::{Escalation, JournalEntry, JournalLevel, PrintedOutput, RefusalEntry};
pub use history::{History, HistoryEnd, HistoryEntry};
pub use printed::PrintedOutputCollector;
pub use recording::{JournalContents, Recording, check_readable, recordings};
pub use retention::{RetentionLimits, SweptJournals, sweep, sweep_when_due};
pub use writer::{FULL_REASON, Journal, JournalOptions, MaskSecrets};

/// The directory with the journals of all conversations, in the state directory.
const DIRECTORY_NAME: &str = "journal";

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
