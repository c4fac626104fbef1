//! The box that a call may run in, as values: what is asked for, what was decided, what was observed. How the kernel
//! is made to hold it is in `agent-bash-sandbox`.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Its own temporary directory.
    ReadOnly,
    /// That, and the workspace.
    WorkspaceWrite,
}

/// A level, or no box. Those that allow more are greater.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Only its own temporary directory may be written.
    ReadOnly,
    /// That, and the workspace.
    WorkspaceWrite,
    /// The call is not confined.
    #[default]
    Off,
}

impl SandboxLevel {
    /// The level of the box; `None` if there is none.
    pub fn confined(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::ReadOnly => Some(Level::ReadOnly),
            Self::WorkspaceWrite => Some(Level::WorkspaceWrite),
        }
    }
}

impl From<Level> for SandboxLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::ReadOnly => Self::ReadOnly,
            Level::WorkspaceWrite => Self::WorkspaceWrite,
        }
    }
}

/// What network a call has. Those that allow more are greater.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// What an executor observed of the box that a script ran in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confined {
    /// What the box of this very shell said about itself.
    pub report: Report,
    /// Attempts to reach a network that is not there; `None` where they cannot be counted.
    pub network_refused: Option<u64>,
}

impl Confined {
    /// A box of which nothing but its own report is known.
    pub fn new(report: Report) -> Self {
        Self {
            report,
            network_refused: None,
        }
    }
}

/// The box of a job, as it was observed when its shell started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobBox {
    /// How much it can write.
    pub level: SandboxLevel,
    /// What network it has.
    pub network: Network,
    /// How much of the promise is enforced.
    pub enforced: Enforced,
    /// What of it is not.
    pub missing: Vec<Lack>,
}

impl JobBox {
    /// The box with this plan, of which this was observed.
    pub fn new(plan: &Plan, report: &Report) -> Self {
        Self {
            level: plan.level.into(),
            network: plan.network,
            enforced: Enforced::but_for(&report.missing),
            missing: report.missing.clone(),
        }
    }
}

/// What a request asks for in place of what the settings say. What is left out stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SandboxRequest {
    /// How much may be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<SandboxLevel>,
    /// What network there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Writable in addition; absolute, or beginning with `~/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// Why, for whoever decides.
    pub reason: String,
}

/// The box that a call ran in, in its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Sandboxed {
    /// How much could be written.
    pub level: SandboxLevel,
    /// What network there was.
    pub network: Network,
    /// How much of the promise was observed to be enforced.
    pub enforced: Enforced,
    /// What of it was not.
    pub missing: Vec<Lack>,
    /// Whether more was allowed to this call than the settings allow.
    pub escalated: bool,
    /// Attempts to reach a network that is not there; absent where they cannot be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_refused: Option<u64>,
    /// What the output says was denied, and the box forbids.
    pub denied: Vec<DeniedAccess>,
}

impl Sandboxed {
    /// What `confined` was observed to be, of what was asked for; `None` for a call that was let out of the box.
    pub fn new(level: SandboxLevel, network: Network, confined: Option<&Confined>) -> Self {
        let missing = confined.map(|confined| confined.report.missing.clone());
        Self {
            level,
            network,
            enforced: missing
                .as_deref()
                .map_or(Enforced::Nothing, Enforced::but_for),
            missing: missing.unwrap_or_default(),
            escalated: false,
            network_refused: confined.and_then(|confined| confined.network_refused),
            denied: Vec::new(),
        }
    }
}

/// How much of a box's promise is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Enforced {
    /// All of it.
    Full,
    /// What is essential.
    Partial,
    /// The call was let out of the box.
    Nothing,
}

impl Enforced {
    /// What a box enforces that lacks this.
    fn but_for(missing: &[Lack]) -> Self {
        if missing.is_empty() {
            Self::Full
        } else {
            Self::Partial
        }
    }
}

/// A file to which access was denied, as far as can be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeniedAccess {
    /// Its path; absolute.
    pub path: String,
    /// What the box forbids.
    pub access: Access,
    /// How it is known.
    pub basis: Basis,
}

/// An access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reading it.
    Read,
    /// Writing, creating or removing it.
    Write,
}

/// How a denial is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Basis {
    /// An error message in the output names the file, the box forbids it, and the host itself could do it.
    Inferred,
}

/// What could not be found out about a call in its box, as a file system does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unknown {
    /// Which protected files it changed.
    Changed,
    /// Which files it was denied.
    Denied,
}

/// `Display` by the words that serde writes.
macro_rules! words {
    ($($type:ident { $($variant:ident => $word:literal),* $(,)? })*) => {$(
        impl $type {
            /// The word in settings, requests and results.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    )*};
}

words! {
    SandboxLevel { ReadOnly => "read_only", WorkspaceWrite => "workspace_write", Off => "off" }
    Network { Off => "off", Loopback => "loopback", On => "on" }
    Lack {
        Protected => "protected",
        Metadata => "metadata",
        Stat => "stat",
        Ipc => "ipc",
        Terminals => "terminals",
        Signals => "signals",
        Truncate => "truncate",
        Moves => "moves",
    }
    Access { Read => "read", Write => "write" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_what_serde_writes() {
        let levels = [
            SandboxLevel::ReadOnly,
            SandboxLevel::WorkspaceWrite,
            SandboxLevel::Off,
        ];
        for level in levels {
            assert_eq!(serde_json::to_value(level).unwrap(), level.word());
        }
        for network in [Network::Off, Network::Loopback, Network::On] {
            assert_eq!(serde_json::to_value(network).unwrap(), network.word());
        }
        for lack in [
            Lack::Protected,
            Lack::Metadata,
            Lack::Stat,
            Lack::Ipc,
            Lack::Terminals,
            Lack::Signals,
            Lack::Truncate,
            Lack::Moves,
        ] {
            assert_eq!(serde_json::to_value(lack).unwrap(), lack.word());
        }
        for access in [Access::Read, Access::Write] {
            assert_eq!(serde_json::to_value(access).unwrap(), access.word());
        }
    }

    #[test]
    fn what_is_enforced_is_what_was_observed() {
        let with = |missing: &[Lack]| {
            let report = Report {
                tier: Tier::Full,
                missing: missing.to_vec(),
            };
            let confined = Confined::new(report);
            Sandboxed::new(SandboxLevel::ReadOnly, Network::Off, Some(&confined)).enforced
        };
        assert_eq!(with(&[]), Enforced::Full);
        assert_eq!(with(&[Lack::Stat]), Enforced::Partial);
        let out = Sandboxed::new(SandboxLevel::Off, Network::On, None);
        assert_eq!(out.enforced, Enforced::Nothing);
    }

    #[test]
    fn what_allows_more_is_greater() {
        assert!(SandboxLevel::ReadOnly < SandboxLevel::WorkspaceWrite);
        assert!(SandboxLevel::WorkspaceWrite < SandboxLevel::Off);
        assert!(Network::Off < Network::Loopback && Network::Loopback < Network::On);
    }
}
