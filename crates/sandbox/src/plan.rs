//! The policy of one box as a value: what was decided, with nothing left to look up. Shells that wait are kept by it,
//! and it is what the launcher is handed.

use serde::{Deserialize, Serialize};
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

/// What is handed to the launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The policy.
    pub plan: Plan,
    /// Writable directories of this one shell: its temporary directory, the directory it reports in.
    pub own: Vec<PathBuf>,
}
