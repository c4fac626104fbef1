//! A record of a session's calls, kept for people: what ran, how it ended, and at level [`JournalLevel::Full`] what it
//! printed. Unlike an audit log it belongs to the session, is bounded, and expires.
//!
//! Besides, the [`History`] of what a person typed.
//!
//! Each process appends to a file of its own, `<state>/<session>/journal/<start>-<pid>.jsonl`: directory 0700, file 0600.

mod entry;
mod history;
mod keep;
mod printed;
mod recording;
mod writer;

pub use agent_bash_core as core;
pub use entry::{Entry, Escalation, JournalLevel, Objection, Printed};
pub use history::{History, HistoryEnd, HistoryEntry};
pub use keep::{Keep, Swept, sweep};
pub use printed::PrintedTail;
pub use recording::{Recorded, Recording, recordings};
pub use writer::{FULL, Hide, Journal, JournalOptions};

/// The directory of journals in that of a session.
const DIRECTORY: &str = "journal";

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
