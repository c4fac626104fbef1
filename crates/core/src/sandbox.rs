//! The sandbox of a call as values: the request, the plan, and what was observed.
//! `agent-bash-sandbox` enforces the plan with the kernel.

mod hidden_paths;
mod host_secret;
mod options;

pub use hidden_paths::{HiddenBelow, HiddenName, HiddenPaths};
pub use host_secret::HostSecret;
pub use options::{Escalation, LackingPolicy, TmpDirectory};

use crate::enum_words::enum_words;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The policy of a sandbox. All paths are absolute; the part that exists is canonical.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The write access of the call.
    pub level: WriteLevel,
    /// The network of the call.
    pub network: Network,
    /// The hosts that the call may reach with [`Network::Hosts`]; empty with another network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The secrets that the proxy of [`Network::Hosts`] puts into requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<HostSecret>,
    /// The means of enforcement.
    pub tier: Tier,
    /// Writable directories and files, without the private directories of each shell.
    pub writable: Vec<PathBuf>,
    /// Files and directories that cannot be read because they hold secrets.
    pub hidden: HiddenPaths,
    /// Files and directories below writable directories that cannot be changed. Calls can give them
    /// any name.
    #[serde(with = "crate::os_text::paths")]
    pub protected: Vec<PathBuf>,
    /// Accessible devices, in addition to harmless ones such as `/dev/null`.
    pub devices: Vec<PathBuf>,
    /// The caches of tools that the call may write.
    pub caches: Caches,
    /// The repository's `config`, if the call writes a private copy of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_config: Option<RedirectedFile>,
}

/// A protected file in whose place a sandboxed call sees and writes a private copy. [`Tier::Full`]
/// mounts a symbolic link to the copy over the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedirectedFile {
    /// The protected file.
    pub file: PathBuf,
    /// The writable directory with the copy.
    pub directory: PathBuf,
    /// The symbolic link to the copy, outside of `directory`.
    pub link: PathBuf,
}

/// The caches of tools that a sandboxed call may write. Changes in them are not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// Writable directories, which exist.
    pub writable: Vec<PathBuf>,
    /// Environment variables, and their values, that move the caches of tools into private
    /// directories.
    #[serde(with = "crate::os_text::variables")]
    pub variables: Vec<(OsString, OsString)>,
    /// Pairs of a private directory and a tool's fixed directory. [`Tier::Full`] mounts the private
    /// directory over the fixed one.
    pub mounts: Vec<(PathBuf, PathBuf)>,
}

/// Directories that a sandbox of [`Tier::Full`] replaces by private directories.
const PRIVATE_DEVICES: [&str; 3] = ["/dev/shm", "/dev/pts", "/dev/mqueue"];

impl Plan {
    /// Returns a plan without a network and without paths.
    pub fn new(level: WriteLevel, tier: Tier) -> Self {
        Self {
            level,
            network: Network::Off,
            hosts: Vec::new(),
            secrets: Vec::new(),
            tier,
            writable: Vec::new(),
            hidden: HiddenPaths::default(),
            protected: Vec::new(),
            devices: Vec::new(),
            caches: Caches::default(),
            git_config: None,
        }
    }

    /// True if the call does not run in the network namespace of the host. Calls with equal
    /// sandboxes may share a namespace.
    pub fn has_own_network(&self) -> bool {
        self.tier == Tier::Full && self.network != Network::On
    }

    /// True if refused writes are observed even if no changes are recorded. A call of this level
    /// attempts few writes, so that observing them is cheap.
    pub fn reports_refusals(&self) -> bool {
        self.level == WriteLevel::ReadOnly
    }

    /// True if this canonical path is an entry of [`Self::writable`], or is below an entry.
    pub fn is_writable(&self, path: &Path) -> bool {
        is_within(&self.writable, path)
    }

    /// True if this canonical path is an entry of [`Self::protected`], or is below an entry.
    pub fn is_protected(&self, path: &Path) -> bool {
        is_within(&self.protected, path)
    }

    /// True if the call may not change the file at this canonical path.
    pub fn refuses_write(&self, path: &Path) -> bool {
        let may_write = self.is_writable(path) || is_within(&self.devices, path);
        (!may_write || self.is_protected(path)) && !self.covers(path)
    }

    /// True if the sandbox mounts another directory or file over this canonical path.
    pub fn covers(&self, path: &Path) -> bool {
        let is_replaced = || PRIVATE_DEVICES.iter().any(|dir| path.starts_with(dir));
        self.tier == Tier::Full && (is_replaced() || self.hidden.hiding(path).is_some())
    }
}

fn is_within(list: &[PathBuf], path: &Path) -> bool {
    list.iter().any(|entry| path.starts_with(entry))
}

/// The write access of a sandboxed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteLevel {
    /// A call may write only its private temporary directory.
    ReadOnly,
    /// A call may write its private temporary directory and the workspace.
    WorkspaceWrite,
}

/// The sandbox level of the settings. Levels that allow more are greater.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// The call may write its private temporary directory.
    ReadOnly,
    /// The call may write its private temporary directory and the workspace.
    WorkspaceWrite,
    /// The call runs without a sandbox.
    #[default]
    Off,
}

impl SandboxLevel {
    /// Returns the level for a [`Plan`]; `None` for [`Self::Off`].
    pub fn write_level(self) -> Option<WriteLevel> {
        match self {
            Self::Off => None,
            Self::ReadOnly => Some(WriteLevel::ReadOnly),
            Self::WorkspaceWrite => Some(WriteLevel::WorkspaceWrite),
        }
    }
}

impl From<WriteLevel> for SandboxLevel {
    fn from(level: WriteLevel) -> Self {
        match level {
            WriteLevel::ReadOnly => Self::ReadOnly,
            WriteLevel::WorkspaceWrite => Self::WorkspaceWrite,
        }
    }
}

/// The network of a call. Values that allow more are greater.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// No network.
    #[default]
    Off,
    /// A private loopback interface.
    Loopback,
    /// A private loopback interface with a proxy that connects to listed hosts.
    Hosts,
    /// The network of the host.
    On,
}

impl Network {
    /// True if the call can reach other machines.
    pub fn leads_outside(self) -> bool {
        self >= Self::Hosts
    }

    /// True if the call has a loopback interface that equal sandboxes share.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::Loopback | Self::Hosts)
    }
}

/// The means by which a sandbox is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Landlock, seccomp, no new privileges, capabilities dropped.
    Base,
    /// The base tier, and namespaces for protected paths, metadata, names of secrets, IPC and
    /// terminals.
    Full,
}

/// The observed enforcement by the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The means of enforcement.
    pub tier: Tier,
    /// The promises that are not enforced, sorted.
    pub missing: Vec<MissingPromise>,
}

/// A promise that is not enforced. These promises are optional: if an essential promise cannot be
/// enforced, the call does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingPromise {
    /// Protected paths can be written.
    Protected,
    /// Permissions, times and attributes can be changed outside of writable directories.
    Metadata,
    /// The existence, names and sizes of hidden files are visible.
    Stat,
    /// Shared memory, semaphores and message queues of the user's other processes are accessible,
    /// and `/dev/shm` is not private.
    Ipc,
    /// Terminals cannot be opened by name.
    Terminals,
    /// Signals reach the user's other processes.
    Signals,
    /// Files can be shortened without being written.
    Truncate,
    /// Files cannot be moved between directories, not even between writable ones.
    Moves,
}

impl MissingPromise {
    /// Returns the effect of this missing promise on commands, as a clause.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Protected => {
                "hooks and configuration of git, editors and agents in the workspace can be written"
            }
            Self::Metadata => "permissions and times of files outside can be changed",
            Self::Stat => "names and sizes of secrets can be seen",
            Self::Ipc => "shared memory of the user's other processes can be reached",
            Self::Terminals => "terminals cannot be opened by name",
            Self::Signals => "the user's other processes can be signalled",
            Self::Truncate => "files outside can be shortened",
            Self::Moves => "files cannot be moved between directories",
        }
    }

    /// Returns the consequences of all missing promises, each with its word; empty if `missing` is
    /// empty.
    pub fn consequences(missing: &[Self]) -> String {
        let clause = |lack: &Self| format!("{} ({lack})", lack.consequence());
        let clauses: Vec<String> = missing.iter().map(clause).collect();
        clauses.join(", ")
    }
}

/// The observed sandbox of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedSandbox {
    /// The report of this shell's sandbox.
    pub report: Report,
    /// The number of refused attempts to reach the network; `None` where they cannot be counted.
    pub network_refused: Option<u64>,
    /// The name of the sandbox's own network namespace, such as `net:[4026532000]`; `None` in the
    /// host's network, and if unknown.
    pub network_namespace: Option<PathBuf>,
    /// The targets that the proxy refused, or to which it refused a secret.
    pub refused_hosts: Vec<RefusedHost>,
}

/// A target that the proxy of a sandbox refused, or to which it refused a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefusedHost {
    /// The host with its port, such as `example.org:443`.
    pub host: String,
    /// The number of refused connections.
    pub count: u64,
    /// A variable of the setting `sandbox.secrets`. The connections were made; their requests had
    /// the placeholder of this variable, and did not get its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

impl ObservedSandbox {
    /// Returns an observation with the report alone.
    pub fn new(report: Report) -> Self {
        Self {
            report,
            network_refused: None,
            network_namespace: None,
            refused_hosts: Vec::new(),
        }
    }
}

/// The sandbox of a job, as observed when its shell started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobSandbox {
    /// The write access of the job.
    pub level: SandboxLevel,
    /// The network of the job.
    pub network: Network,
    /// How much of the sandbox is enforced.
    pub enforced: Enforced,
    /// The promises that are not enforced.
    pub missing: Vec<MissingPromise>,
}

impl JobSandbox {
    /// Returns the sandbox with this plan and this report.
    pub fn new(plan: &Plan, report: &Report) -> Self {
        Self {
            level: plan.level.into(),
            network: plan.network,
            enforced: Enforced::without(&report.missing),
            missing: report.missing.clone(),
        }
    }
}

/// The sandbox that a request asks for. An absent field keeps the value of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SandboxRequest {
    /// The write access of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<SandboxLevel>,
    /// The network of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The hosts that the call may reach, as in the setting `sandbox.network`. Without `network`,
    /// the network is `hosts`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Further writable paths; absolute, or beginning with `~/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// The reason, shown to the user who decides.
    pub reason: String,
}

/// The sandbox of a finished call, in its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Sandboxed {
    /// The write access of the call.
    pub level: SandboxLevel,
    /// The network of the call.
    pub network: Network,
    /// How much of the sandbox was observed to be enforced.
    pub enforced: Enforced,
    /// The promises that were not enforced.
    pub missing: Vec<MissingPromise>,
    /// True if this call was allowed more than the settings allow.
    pub escalated: bool,
    /// The number of refused attempts to reach the network; absent where they cannot be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_refused: Option<u64>,
    /// The targets that the proxy of the network `hosts` refused, or to which it refused a secret,
    /// at most 64; absent without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_hosts: Vec<RefusedHost>,
    /// Files that the output names as denied and that the sandbox forbids.
    pub denied: Vec<DeniedAccess>,
}

impl Sandboxed {
    /// Returns the sandbox of a call. `observed` is `None` if the call was allowed to run without a
    /// sandbox.
    pub fn new(level: SandboxLevel, network: Network, observed: Option<&ObservedSandbox>) -> Self {
        let missing = observed.map(|observed| observed.report.missing.clone());
        Self {
            level,
            network,
            enforced: missing
                .as_deref()
                .map_or(Enforced::Nothing, Enforced::without),
            missing: missing.unwrap_or_default(),
            escalated: false,
            network_refused: observed.and_then(|observed| observed.network_refused),
            refused_hosts: observed
                .map_or_else(Vec::new, |observed| observed.refused_hosts.clone()),
            denied: Vec::new(),
        }
    }

    /// True if the sandbox is known to have denied something to the call.
    pub fn has_denials(&self) -> bool {
        let has_refused = self.network_refused.is_some_and(|count| count > 0);
        has_refused || !self.denied.is_empty() || !self.refused_hosts.is_empty()
    }
}

/// How much of a sandbox is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Enforced {
    /// All promises.
    Full,
    /// The essential promises.
    Partial,
    /// No promise is enforced: the call was allowed to run without a sandbox.
    Nothing,
}

impl Enforced {
    /// Returns how much is enforced if the promises in `missing` are not.
    fn without(missing: &[MissingPromise]) -> Self {
        if missing.is_empty() {
            Self::Full
        } else {
            Self::Partial
        }
    }
}

/// Operations that a sandbox refuses, by the error with which they fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RefusedOperations {
    /// `EPERM`: operations that need a privilege, or concern a process outside.
    Privileged,
    /// `EOPNOTSUPP`: requests to file systems.
    FileAttributes,
    /// `ENOSYS`: system calls whose arguments the sandbox cannot check.
    Unchecked,
    /// `EAFNOSUPPORT`: kinds of sockets.
    SocketFamilies,
    /// `EACCES` without a file, in [`Tier::Base`]: sockets and shared memory.
    Sockets,
    /// `ECONNREFUSED`, on a private loopback: servers of the machine and of other calls.
    OutsideServers,
    /// `EROFS` without a file, in [`Tier::Full`]: writes outside of writable directories.
    Writes,
}

impl RefusedOperations {
    /// Returns the error of the operations, and their list.
    pub fn error_and_list(self) -> (&'static str, &'static str) {
        match self {
            Self::Privileged => (
                "Operation not permitted",
                "mounts, namespaces, device files, set-ID bits, raw sockets, settings of the kernel, performance counters, more privileges, and signals to other processes",
            ),
            Self::FileAttributes => (
                "Operation not supported",
                "attributes of files (`chattr`) and other requests to file systems",
            ),
            Self::Unchecked => ("Function not implemented", "io_uring and openat2"),
            Self::SocketFamilies => (
                "Address family not supported",
                "sockets other than IP and Unix sockets",
            ),
            Self::Sockets => (
                "Permission denied",
                "Unix sockets, shared memory (`/dev/shm`) and, without a network, all sockets",
            ),
            Self::OutsideServers => (
                "Connection refused",
                "servers of this machine other than those of the call's own network",
            ),
            Self::Writes => (
                "Read-only file system",
                "writes outside of its writable directories, also in `/tmp` (use `$TMPDIR`)",
            ),
        }
    }

    /// The setting that allows the operations.
    pub fn setting(self) -> &'static str {
        match self {
            Self::OutsideServers => "sandbox.network",
            Self::Writes => "sandbox.writable",
            _ => "sandbox.level",
        }
    }
}

/// A file to which the sandbox denied access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeniedAccess {
    /// The path of the file; absolute.
    pub path: String,
    /// The access that the sandbox forbids.
    pub access: Access,
    /// How the denial was detected.
    pub basis: DenialBasis,
}

/// An access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reading the file.
    Read,
    /// Writing, creating or removing the file.
    Write,
}

/// How a denial was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DenialBasis {
    /// An error message in the output names the file, the sandbox forbids the access, and the host
    /// has that access.
    Inferred,
    /// A system call of the command would have changed the file, or asked whether the command can
    /// write it. The sandbox forbids that, and the host could do it. Reported if the command failed
    /// and no message names a file.
    Observed,
}

/// An observation of a sandboxed call that is unknown, because a file system did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownObservation {
    /// The protected files that the call changed.
    Changed,
    /// The files that the call was denied.
    Denied,
}

enum_words! {
    SandboxLevel { ReadOnly => "read_only", WorkspaceWrite => "workspace_write", Off => "off" }
    Network { Off => "off", Loopback => "loopback", Hosts => "hosts", On => "on" }
    MissingPromise {
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
#[path = "sandbox_tests.rs"]
mod tests;
