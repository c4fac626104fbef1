//! What a box says about itself before it becomes the shell: what is enforced, or why there is no box.

use crate::plan::Tier;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What was observed to be enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// By which means.
    pub tier: Tier,
    /// What is not enforced although it is part of the promise, in order.
    pub missing: Vec<Lack>,
}

/// A part of the promise that is not kept. None of them is essential: without the essential ones there is no box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// Protected paths can be written.
    Protected,
    /// Permissions, times and attributes can be changed outside of what may be written.
    Metadata,
    /// That a hidden path exists, its names and sizes can be seen.
    Stat,
    /// Shared memory, semaphores and message queues of the user's other processes are within reach, and there are none
    /// of its own in `/dev/shm`.
    Ipc,
    /// Terminals cannot be opened by name.
    Terminals,
    /// Signals reach the user's other processes.
    Signals,
    /// Files can be shortened without being written.
    Truncate,
    /// Files cannot be moved between directories, not even within what may be written.
    Moves,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protected => "protected",
            Self::Metadata => "metadata",
            Self::Stat => "stat",
            Self::Ipc => "ipc",
            Self::Terminals => "terminals",
            Self::Signals => "signals",
            Self::Truncate => "truncate",
            Self::Moves => "moves",
        })
    }
}

/// What the launcher writes to its report pipe, a line each. After `Enforced` comes the end of the file when the
/// program runs, and otherwise `Failed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// The box is closed; the program is about to start.
    Enforced(Report),
    /// The program was not started, and why.
    Failed(String),
}
