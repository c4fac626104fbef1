//! The messages between host and supervisor. Each order documents its answer: an immediate event,
//! or, where it says "later", events that follow. An order that cannot be parsed closes the
//! connection.
//!
//! The messages are JSON, as they are few and small. `channel` transports them with their
//! descriptors.

use super::job_directory::JobEnd;
use crate::cgroup::TreeLimits;
use crate::signal_name;
use agent_bash_core::changes::{Overlay, TraceState};
use agent_bash_core::sandbox::{Plan, Report};
use agent_bash_core::{Limits, ScriptEnding, Shell, StreamId, Survivor, words};
use agent_bash_sandbox::NetworkRole;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The names of all orders. Tests must have a malformed case for each.
#[doc(hidden)]
pub const ORDER_NAMES: &[&str] = words![
    "Start StartAnother StartOnTerminal StartDirectly Terminate Survivors WatchSurvivors",
    "EndSurvivors Adopt Detach Record StopRecording HoldBack LetFinish",
];

/// Messages from the host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Start a shell. Descriptors: the script's stdin if `inherits_stdin`, the network entrance if
    /// `network`. Answer: `Started`, `StartFailed`, `SandboxLacks`, `SandboxFailed` or `NoTrial`.
    Start(ShellStart),
    /// Start a shell like the last one, with the same descriptors. Answer: as for `Start`.
    StartAnother,
    /// Start a shell on a terminal. Descriptors: the file with its script, the network entrance if
    /// `network`. Answer: `Started` without descriptors, or a failure as for `Start`. The script
    /// runs at once.
    StartOnTerminal(TerminalStart),
    /// Start a shell that runs its own command line at once. Descriptors: the standard descriptors
    /// that the shell inherits, the network entrance if `network`. Answer: `Running`, `NoTrace`, or
    /// a failure as for `Start`.
    StartDirectly(DirectStart),
    /// End the tree: SIGTERM, SIGCONT, grace, SIGKILL; on a terminal SIGHUP first. Answer, later:
    /// `Ended` (if the shell was still alive), and `Empty` or `Stuck`.
    Terminate {
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
        /// Stop the shell first and keep it stopped until the end, so that it does not run its next
        /// command when the current one is ended. For shells that serve several calls.
        stop_shell: bool,
    },
    /// List the processes besides the shell that were not adopted. Answer: `Survivors`.
    Survivors,
    /// Watch the processes that `Survivors` lists until all have ended. Answer, later:
    /// `SurvivorsEnded`.
    WatchSurvivors,
    /// End the watched processes only: SIGTERM, SIGCONT, grace, SIGKILL.
    EndSurvivors {
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
    },
    /// Read the survivors' output from now on; with `detach`, keep them running when the host ends.
    /// Descriptors: the read ends of the pipes, followed by as many files to append to if `files`
    /// is set. Answer: `Adopted`, or `AdoptFailed`.
    Adopt(AdoptOptions),
    /// Run the waiting shell's script as a job that outlives the host. Descriptors, in this order:
    /// the read end of the job's output, the control pipe's write end, and the write end of the
    /// job's stdin if it has one. Answer: `Detached`, or `DetachFailed`; later `JobEnded`.
    Detach(DetachOptions),
    /// Record the changes of the shell and its descendants in the change set with this directory.
    /// The shell was started with a trace. The shell waits for the first such order before its
    /// first change, and does not wait for later ones. Answer, if `wants_answer`: `Recording`.
    Record {
        /// The change set's directory.
        set: OsString,
        /// True to answer when recording has started.
        wants_answer: bool,
    },
    /// Stop recording. Answer: `Recorded`.
    StopRecording,
    /// Hold the changes of the waiting shell back in this overlay. The shell was started with
    /// private mounts. Answer: `HeldBack` or `NoTrial`.
    HoldBack {
        /// The overlay that the shell gets.
        overlay: Overlay,
    },
    /// Let the next shell finish, even if the host ends. After `limit_ms`, end the shell and the
    /// other processes of its process session. Processes in other sessions are not ended, and the
    /// supervisor does not wait for them. No answer.
    LetFinish {
        /// Milliseconds from now until the end.
        limit_ms: u64,
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
    },
}

/// The options of adopting survivors.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AdoptOptions {
    /// True if there is a file for each pipe.
    pub(super) files: bool,
    /// True if the survivors outlive the host.
    pub(super) detach: bool,
    /// The maximum number of further bytes in all files together.
    pub(super) quota: u64,
    /// The directory of the job that the survivors become; `None` for no job. Without `detach`, the
    /// shell continues and the survivors are not listed again. Then survivors without a job are
    /// ended together with the shell.
    pub(super) job: Option<OsString>,
}

/// The parameters by which a call becomes a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachOptions {
    /// Absolute path of the job's private directory, with the files of `job_directory` that the
    /// host has created.
    pub directory: OsString,
    /// The text for the control pipe that commits the script.
    pub commit: String,
    /// Time limit in milliseconds.
    pub limit_ms: u64,
    /// Milliseconds between SIGTERM and SIGKILL at the time limit.
    pub grace_ms: u64,
    /// Maximum size of the job's output file in bytes.
    pub quota: u64,
    /// True if the output file ends with the job's completion status.
    pub completion_status: bool,
}

/// Messages from the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The supervisor is ready. Sent once.
    Hello {
        /// Protocol version.
        version: u32,
    },
    /// The supervisor cannot work on this system, and ends. Sent instead of `Hello`.
    CannotServe {
        /// The facility that the system refused, and its error.
        reason: String,
    },
    /// A shell waits for its script. Descriptors: script file, control pipe's write end, host ends
    /// of the shell's report sockets (if any), read ends of its streams.
    Started {
        /// Pid and process group of the shell.
        pid: u32,
        /// Descriptor number of the script file in the shell.
        script_fd: i32,
        /// Descriptor number of the script's stdin in the shell, if it has one.
        stdin_fd: Option<i32>,
        /// The report on the shell's sandbox.
        sandbox: Option<Report>,
        /// True if the shell's changes are held back.
        held_back: bool,
        /// The reason why the shell's changes cannot be recorded, if recording was requested.
        untraced_reason: Option<String>,
        /// How limits for all processes of the call together are enforced.
        tree_limits: TreeLimits,
    },
    /// A shell runs its own command line. Descriptors: read ends of its streams.
    Running {
        /// Pid of the shell.
        pid: u32,
        /// The report on the shell's sandbox.
        sandbox: Option<Report>,
        /// The reason why the shell's changes cannot be recorded, if recording was requested.
        untraced_reason: Option<String>,
        /// How limits for all processes of the call together are enforced.
        tree_limits: TreeLimits,
    },
    /// No shell was started, because its changes cannot be recorded.
    NoTrace {
        /// The reason.
        reason: String,
    },
    /// No shell was started.
    StartFailed {
        /// The system's error.
        reason: String,
    },
    /// No shell was started, because the system lacks a facility that the sandbox needs.
    SandboxLacks {
        /// The missing facility.
        what: String,
    },
    /// No shell was started, because its sandbox could not be set up.
    SandboxFailed {
        /// The failed step and its error.
        reason: String,
    },
    /// No shell was started, because its changes cannot be held back.
    NoTrial {
        /// The reason.
        reason: String,
    },
    /// The shell has ended.
    Ended {
        /// The exit code, or the signal.
        end: ShellEnd,
        /// True if no descendants are left; then `Empty` does not follow.
        empty: bool,
        /// The contents of the report pipe.
        report: String,
    },
    /// No descendants are left. Follows an `Ended` with descendants.
    Empty,
    /// Some descendants withstood SIGKILL (they are in uninterruptible sleep).
    Stuck {
        /// The remaining processes.
        survivors: Vec<Survivor>,
    },
    /// The answer to `Survivors`.
    Survivors {
        /// The living processes.
        survivors: Vec<Survivor>,
    },
    /// The watched processes have ended.
    SurvivorsEnded {
        /// The processes that survived SIGKILL.
        withstand: Vec<Survivor>,
    },
    /// The supervisor owns the survivors now; the host may exit. They are a job if its entry file
    /// exists.
    Adopted,
    /// Nothing was adopted.
    AdoptFailed {
        /// The reason.
        reason: String,
    },
    /// The supervisor owns the job now, and its script runs; the host may exit.
    Detached,
    /// There is no job, and its script will not run.
    DetachFailed {
        /// The system's error.
        reason: String,
    },
    /// The overlay of the warm shell is mounted, until all of its processes have ended.
    HeldBack,
    /// The answer to `Record`: changes are recorded from here on.
    Recording {
        /// The reason why the record is incomplete, if so.
        incomplete_reason: Option<String>,
    },
    /// The answer to `StopRecording`.
    Recorded {
        /// The completeness of the record.
        traced: TraceState,
    },
    /// The job has ended.
    JobEnded {
        /// The ending.
        end: JobEnd,
    },
}

/// Requests from a later host about a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum JobRequest {
    /// End the tree: SIGTERM, SIGCONT, grace, SIGKILL. No immediate answer; later `Ended` or
    /// `Stuck`, and EOF when all processes have ended.
    End {
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
    },
    /// List the living processes. Answer: `Survivors`.
    Survivors,
    /// Get the write end of the job's stdin. Answer: `Stdin` with this descriptor, or `NoStdin`.
    Stdin,
    /// Close the job's stdin. Answer: `StdinClosed`, or `NoStdin`.
    CloseStdin,
}

/// Messages to a later host about a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum JobAnswer {
    /// The job has ended. Sent once: when the job ends, or when a host connects to a job that has
    /// ended.
    Ended {
        /// The ending.
        end: JobEnd,
    },
    /// The living processes.
    Survivors {
        /// The survivors, at most a hundred.
        survivors: Vec<Survivor>,
    },
    /// Some processes withstand SIGKILL.
    Stuck {
        /// The remaining processes.
        survivors: Vec<Survivor>,
    },
    /// Carries the write end of the job's stdin.
    Stdin,
    /// The job has no stdin, or it was closed.
    NoStdin,
    /// Stdin is closed.
    StdinClosed,
}

/// The parameters of a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellStart {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// The shell's `argv[0]`.
    pub arg0: OsString,
    /// The shell's arguments. In each, `{script_fd}` is replaced by the descriptor number of the
    /// script file, and `{report}` by the path of a pipe that the supervisor reads when the shell
    /// has ended.
    #[serde(with = "agent_bash_core::os_text::list")]
    pub args: Vec<OsString>,
    /// Changes to the supervisor's own environment.
    #[serde(with = "agent_bash_core::os_text::changes")]
    pub env_changes: Vec<(OsString, Option<OsString>)>,
    /// True if a descriptor for the script's stdin comes with the order. In each argument,
    /// `{stdin_fd}` is then replaced by its number.
    pub inherits_stdin: bool,
    /// The streams to capture, each with a pipe; the others are discarded. A shell may print as
    /// soon as it is started (a warning, for example), so each pipe must have a reader until the
    /// shell has ended.
    pub output: Vec<StreamId>,
    /// True if the shell gets two sockets to its host, for its status and its exports. In each
    /// argument, `{status_fd}` and `{exports_fd}` are replaced by the descriptor numbers of the two
    /// sockets.
    pub reports: bool,
    /// Resource limits for the shell and its descendants.
    pub limits: Limits,
    /// The sandbox; `None` for a shell that is neither confined nor observed.
    pub sandbox: Option<ShellSandbox>,
    /// The shell's role in a shared network. The sender of the order sets it, and attaches the
    /// descriptor.
    pub network: Option<NetworkRole>,
}

/// How a shell is confined or observed: a sandbox, a trial, both, private mounts, or only a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellSandbox {
    /// The policy of the sandbox; `None` for an unconfined shell.
    pub plan: Option<Plan>,
    /// The overlay that holds the shell's changes back; `None` for no trial.
    pub trial: Option<Overlay>,
    /// True if the shell waits with private mounts, so that an overlay can be mounted when a call
    /// uses the shell. The supervisor then leaves the host's mount namespace, and from then on
    /// starts only such shells. Not possible with a sandbox.
    pub private_mounts: bool,
    /// True if the shell is to be traced, so that its changes can be recorded. If that fails, the
    /// shell runs untraced.
    pub trace: bool,
    /// The directory in which the supervisor creates a private directory for the shell, which
    /// contains the temporary directory.
    pub directory: PathBuf,
    /// Further directories that this shell may write to.
    pub writable: Vec<PathBuf>,
}

impl ShellStart {
    /// Returns the same start without a trace.
    pub(super) fn without_trace(&self) -> Self {
        let sandbox = self.sandbox.clone().map(|sandbox| ShellSandbox {
            trace: false,
            ..sandbox
        });
        Self {
            sandbox: sandbox.filter(|sandbox| {
                sandbox.plan.is_some() || sandbox.trial.is_some() || sandbox.private_mounts
            }),
            ..self.clone()
        }
    }

    /// True if the supervisor is to replace this placeholder in the arguments.
    pub(super) fn has_placeholder(&self, placeholder: &str) -> bool {
        let has = |argument: &OsString| argument.to_string_lossy().contains(placeholder);
        self.args.iter().any(has)
    }

    /// True if the shell is to be traced.
    pub(super) fn is_traced(&self) -> bool {
        self.sandbox.as_ref().is_some_and(|sandbox| sandbox.trace)
    }

    /// Returns the parent of the shell's private directory, if the shell waits with private mounts.
    pub(super) fn private_mounts_at(&self) -> Option<&Path> {
        let sandbox = self
            .sandbox
            .as_ref()
            .filter(|sandbox| sandbox.private_mounts);
        sandbox.map(|sandbox| sandbox.directory.as_path())
    }

    /// Returns the parameters for a shell with these arguments, without output, limits or sandbox.
    pub fn of(shell: &Shell, args: Vec<OsString>) -> Self {
        let name = shell.path.file_name();
        Self {
            program: shell.path.clone(),
            arg0: name.unwrap_or(shell.path.as_os_str()).to_owned(),
            args,
            ..Self::default()
        }
    }
}

/// The parameters of a shell on a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalStart {
    /// The shell, whose streams are the terminal. In its arguments, `{control_fd}` is replaced by
    /// the descriptor number of its control pipe.
    pub start: ShellStart,
    /// Path of the terminal, such as `/dev/pts/3`.
    pub terminal: PathBuf,
    /// The text that is written to the control pipe when the shell is in the foreground; the shell
    /// then begins.
    pub commit: String,
}

/// The start of a shell that runs its own command line, for a supervisor that stays in the process
/// session of its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectStart {
    /// The shell. It gets all descriptors that the supervisor has inherited. Each standard
    /// descriptor is captured, or in `inherited`, or `/dev/null`.
    pub start: ShellStart,
    /// The standard descriptors (0, 1, 2) that come with the order.
    pub inherited: Vec<u8>,
    /// The process group that the shell joins; 0 for a group of its own.
    pub group: i32,
    /// True to fail if the shell's changes cannot be recorded.
    pub needs_trace: bool,
    /// Files whose changes are not recorded.
    pub unrecorded: Vec<PathBuf>,
}

/// The end of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShellEnd {
    /// The shell exited with this code, 0 to 255.
    Exited(i32),
    /// The signal with this number killed the shell.
    Signaled(i32),
}

impl ShellEnd {
    /// Returns the number of the signal that killed the shell, if any.
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Exited(_) => None,
            Self::Signaled(number) => Some(number),
        }
    }
}

/// Converts the end of a shell into the ending of a call.
impl From<ShellEnd> for ScriptEnding {
    fn from(end: ShellEnd) -> Self {
        match end {
            ShellEnd::Exited(code) => Self::Exited { code },
            ShellEnd::Signaled(number) => Self::Signaled {
                signal: signal_name(number),
                number,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn order_names_lists_every_order() {
        // The decoder's error lists the names that it understands.
        let error = serde_json::from_str::<Order>(r#""Fly""#).unwrap_err();
        let names = ORDER_NAMES.iter().map(|name| format!("`{name}`"));
        let names = names.collect::<Vec<_>>().join(", ");
        let wanted = format!("unknown variant `Fly`, expected one of {names}");
        assert!(error.to_string().starts_with(&wanted), "{error}");
    }

    #[test]
    fn arguments_and_environment_are_strings_unless_they_are_not_utf_8() {
        let odd = OsString::from_vec(vec![b'a', 0xff]);
        let shell = Shell::bash("/bin/bash");
        let mut start = ShellStart::of(&shell, vec!["-c".into(), odd.clone()]);
        start.env_changes = vec![("A".into(), Some("é\n".into())), (odd, None)];
        let written = serde_json::to_string(&start).unwrap();
        assert!(written.contains(r#""args":["-c",[97,255]]"#), "{written}");
        assert!(
            written.contains(r#"[["A","é\n"],[[97,255],null]]"#),
            "{written}"
        );
        assert_eq!(serde_json::from_str::<ShellStart>(&written).unwrap(), start);
    }
}
