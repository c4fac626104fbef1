//! The box of a call: what it may touch, and what was observed to be enforced.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// What a call may touch. All paths are absolute and canonical, as far as they exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// How much may be written.
    pub level: Level,
    /// What network there is.
    pub network: Network,
    /// By which means the kernel enforces it.
    pub tier: Tier,
    /// Directories and files that may be written, besides those that belong to one shell alone.
    pub writable: Vec<PathBuf>,
    /// Files and directories that cannot be read: secrets.
    pub hidden: Vec<PathBuf>,
    /// Files and directories that stay as they are although they are within writable ones.
    pub protected: Vec<PathBuf>,
    /// Devices that may be used in addition to the harmless ones.
    pub devices: Vec<PathBuf>,
}

/// How much a call may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Its own temporary directory.
    ReadOnly,
    /// That, and the workspace.
    WorkspaceWrite,
}

/// What network a call has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None.
    #[default]
    Off,
    /// A loopback interface of its own.
    Loopback,
    /// The host's.
    On,
}

/// By which means a box is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Landlock, seccomp, no new privileges, capabilities dropped.
    Base,
    /// Namespaces as well: protected paths, metadata, names of secrets, IPC, terminals.
    Full,
}

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
