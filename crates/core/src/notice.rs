//! Notices: facts about a call other than its status and output. Each kind has one sentence.

mod sentences;

use crate::changes::ChangesId;
use crate::enum_words::enum_words;
use crate::sandbox::{
    Access, DenialBasis, MissingPromise, Network, RefusedHost, RefusedOperations, SandboxLevel,
    UnknownObservation,
};
use crate::{Holder, Stage, Survivor, WaitingFor, visible};
use serde::{Deserialize, Serialize};

/// A notice: its kind with values, and the sentence generated from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Notice {
    /// Kind and values.
    #[serde(flatten)]
    pub kind: NoticeKind,
    /// The sentence for people and models; generated from `kind`, never parsed.
    pub text: String,
}

impl From<NoticeKind> for Notice {
    fn from(kind: NoticeKind) -> Self {
        // A command chooses names of files and processes, which must not look like other lines.
        let text = visible::one_line(&kind.sentence()).into_owned();
        Self { kind, text }
    }
}

/// The kinds of notices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// Processes started by the call are still alive.
    Survivors {
        /// The processes; the same list as in the result.
        survivors: Vec<Survivor>,
    },
    /// An earlier stage of a pipeline failed, which the exit code does not show.
    FailedStage {
        /// Position in the pipeline, from 1.
        stage: usize,
        /// The stage's exit status.
        code: i32,
        /// The exit statuses of all stages.
        stages: Vec<Stage>,
    },
    /// The persistent shell has ended; the next call starts a new one.
    SessionReset {
        /// The reason, and what was preserved.
        reason: String,
    },
    /// The requested timeout was out of bounds.
    TimeoutClamped {
        /// Requested, in milliseconds.
        asked_ms: u64,
        /// The value in force, in milliseconds.
        used_ms: u64,
    },
    /// The full output could not be stored.
    ArtifactFailed {
        /// For example `No space left on device`.
        reason: String,
    },
    /// Visible text was overwritten on its line, by a carriage return or backspaces, and is not
    /// shown.
    Overwritten {
        /// The full output; `None` if it could not be stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifact: Option<String>,
    },
    /// Secrets in the output are masked.
    SecretsMasked {
        /// The number of masked places in the output.
        count: u64,
        /// The full output, which has the secrets as printed; `None` if it is not stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifact: Option<String>,
    },
    /// `head` received its lines, so the producer's pipe was closed.
    HeadSatisfied {
        /// The number of requested lines.
        lines: u64,
    },
    /// A program waits for input that no user can type.
    WaitingForInput {
        /// `line`, `secret`, `raw` or `full_screen`.
        state: WaitingFor,
    },
    /// A program wanted to ask the user, and could not: the call has no terminal.
    PromptUnanswered {
        /// The program; absent if the output does not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        /// The requested input, such as `a password`.
        wanted: String,
        /// How a call can avoid the prompt.
        advice: String,
    },
    /// A field was given under an alternative name.
    FieldRenamed {
        /// The name in the request.
        name: String,
        /// The canonical name.
        used: String,
    },
    /// A trailing `head` or `tail` was removed from the command and applied to its output.
    Lifted {
        /// The filter as written in the command.
        filter: String,
    },
    /// Another tool is more suitable; the command was run.
    Advice {
        /// The tool.
        suggested_tool: String,
        /// The rule's message.
        message: String,
    },
    /// A rule of the user's advises against the command; the command was run.
    RuleAdvice {
        /// The rule's name.
        rule: String,
        /// The reason.
        message: String,
        /// The alternative; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        instead: String,
    },
    /// The user allowed a command that a rule refuses.
    AllowedByUser {
        /// The rule.
        rule: String,
    },
    /// The processes of the call reached a resource limit: one or all of them were killed, were
    /// refused further processes, or were slowed.
    LimitHit {
        /// The name of the limit, as in the settings.
        limit: LimitKind,
        /// The limit in force.
        value: u64,
    },
    /// Limits for all processes of the call together could not be applied. They hold for each
    /// process (`memory_mb`), for this user (`processes`), or not at all (`cpu_percent`).
    WithoutCgroup {
        /// The names of the limits; not empty.
        limits: Vec<LimitKind>,
        /// Why.
        reason: String,
    },
    /// The user's shell configuration was not loaded.
    SnapshotSkipped {
        /// Why.
        reason: String,
    },
    /// The user's shell configuration, which took long to read, is loaded from this call on.
    SnapshotLoaded,
    /// A command was not found. The user's shell configuration defines it, but is not loaded.
    DefinitionMissing {
        /// The name of the command.
        name: String,
        /// Why.
        reason: String,
    },
    /// The call could not be written to the host's audit log.
    AuditFailed {
        /// For example `Permission denied`.
        reason: String,
    },
    /// The call could not be written to the session's journal.
    JournalFailed {
        /// For example `No space left on device`.
        reason: String,
    },
    /// The sandbox forbids a file that a message in the output names, or that a failed command
    /// tried to change, or asked whether it can.
    SandboxDenied {
        /// The file; absolute.
        path: String,
        /// The forbidden access.
        access: Access,
        /// How the denial was detected.
        basis: DenialBasis,
        /// The level in force.
        level: SandboxLevel,
        /// True if the file is protected below a writable directory, so that no setting allows
        /// the access.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_protected: bool,
    },
    /// A message in the output says that a Unix socket was refused.
    SandboxSockets {
        /// True if a full sandbox with its own network lets the call's processes connect to each
        /// other.
        is_full: bool,
        /// The level in force.
        level: SandboxLevel,
    },
    /// A command failed, and its output has an error of operations that the sandbox refuses.
    SandboxOperations {
        /// The operations that fail with this error.
        refused: RefusedOperations,
        /// The level in force.
        level: SandboxLevel,
    },
    /// A message in the output says that a file is missing in a tool's cache. This call cannot
    /// write the user's cache.
    SandboxCache {
        /// The tool.
        tool: String,
        /// The user's cache; absolute.
        path: String,
    },
    /// The command tried to reach a network that the sandbox does not provide.
    SandboxNetwork {
        /// The number of attempts.
        refused: u64,
        /// The network of the call.
        network: Network,
    },
    /// The proxy of the sandbox refused connections to hosts that are not listed.
    SandboxHosts {
        /// The refused targets; not empty.
        refused: Vec<RefusedHost>,
    },
    /// The sandbox does not enforce all of its promises here. Reported once per conversation.
    SandboxPartial {
        /// The promises that are not enforced.
        missing: Vec<MissingPromise>,
        /// True if attempts to reach the network are refused without being counted.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        network_uncounted: bool,
    },
    /// Files changed or appeared that run or configure programs outside the sandbox.
    ProtectedChanged {
        /// The files; absolute, at most 1,000.
        paths: Vec<String>,
    },
    /// The sandbox did not compare all files of some directories, because they are too many, or
    /// because the file system is slow. Reported once for a directory.
    ProtectedUncompared {
        /// The outermost directories; not empty, at most 1,000.
        directories: Vec<UncomparedDirectory>,
    },
    /// A trial holds back changes of files that run or configure programs outside the sandbox.
    ProtectedInTrial {
        /// The files; absolute.
        paths: Vec<String>,
    },
    /// Changes of the repository's `.git/config` that the sandbox did not keep, because they are
    /// dangerous outside of it.
    GitConfigDropped {
        /// The keys, at most 20; or `all changes`, with the reason.
        keys: Vec<String>,
    },
    /// A program was ended by SIGSYS, because it used system calls that the sandbox does not
    /// support.
    SandboxUnsupported,
    /// A file system did not answer, so a part of the sandbox's observations is unknown.
    SandboxUnknown {
        /// The unknown observations.
        unknown: Vec<UnknownObservation>,
    },
    /// The changes that the call made, or that the trial would make.
    Changes {
        /// The number of the change set.
        id: ChangesId,
        /// The text in one line.
        line: String,
    },
    /// The changes of the call are unknown, or not completely known.
    ChangesUnknown {
        /// Why.
        reason: String,
    },
    /// The call was ended because its preimages reached the size limit.
    ChangesLimit {
        /// The setting `changes.max_set_mb`, in MiB.
        max_mb: u64,
    },
    /// The call was scanned, not traced, and left processes running. Their further changes are not
    /// recorded.
    ChangesUntraced {
        /// The processes.
        pids: Vec<u32>,
    },
    /// A message in the output says that an address is in use.
    PortInUse {
        /// The port; absent if the output does not name the port.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
        /// The processes that listen on the port. Without a port: the jobs that listen on any port.
        holders: Vec<Holder>,
    },
    /// A message in the output says that a lock is held.
    LockHeld {
        /// The tool that the lock belongs to, such as `git`.
        tool: String,
        /// The file of the lock; absolute.
        path: String,
        /// The process that holds the lock; absent if no visible process does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<Holder>,
        /// The age of the file in seconds.
        age_s: u64,
    },
    /// No supervisor runs: processes are found only by process group and by scanning `/proc`.
    WithoutSupervisor {
        /// Why.
        reason: String,
    },
}

/// A resource limit that the system reports when it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// Processor time, in seconds.
    CpuS,
    /// Size of a file, in MiB.
    FileMb,
    /// Memory of all processes, in MiB.
    MemoryMb,
    /// Number of processes and threads.
    Processes,
    /// Processor use of all processes, in percent of one processor.
    CpuPercent,
}

/// A directory in which the sandbox did not compare all files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncomparedDirectory {
    /// The path; absolute.
    pub path: String,
    /// The number of its subdirectories, at any depth, that the sandbox found and did not enter; 0
    /// if the directory has too many names.
    pub unreached: u64,
}

enum_words! {
    LimitKind {
        CpuS => "cpu_s",
        FileMb => "file_mb",
        MemoryMb => "memory_mb",
        Processes => "processes",
        CpuPercent => "cpu_percent",
    }
}

impl NoticeKind {
    /// True if the notice affects what a model should believe or do. `standard` includes it in the
    /// text; other notices are only in the data.
    pub fn is_for_model(&self) -> bool {
        !matches!(
            self,
            Self::FieldRenamed { .. }
                | Self::Lifted { .. }
                | Self::Advice { .. }
                | Self::AuditFailed { .. }
                | Self::JournalFailed { .. }
                | Self::WithoutCgroup { .. }
                | Self::WithoutSupervisor { .. }
        )
    }
}

#[cfg(test)]
#[path = "notice_tests.rs"]
mod tests;
