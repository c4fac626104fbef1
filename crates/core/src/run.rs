//! The interface between the pipeline and the executor of a script.

use crate::changes::{Overlay, TraceState};
use crate::definitions::{Definitions, ShellDefinitions};
use crate::mask::OutputMask;
use crate::sandbox::{ObservedSandbox, Plan, Report};
use crate::setters::setters;
use crate::{
    Cancel, Environment, NotStarted, Notice, NoticeKind, SessionName, Stage, StreamId, Streams,
    Survivor, SurvivorPolicy, Timestamp, timed_out_text,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Runs scripts.
///
/// Implemented by `agent-bash-exec` (isolated shells, sessions), `agent-bash-pty` (a terminal), and
/// by hosts that run commands in a container or on a remote machine.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Runs one script to its end and passes its output to `out`.
    ///
    /// On return every process of the call has ended or is named in [`Outcome::survivors`].
    /// Dropping the future ends the command like a cancellation without a grace period.
    ///
    /// # Errors
    /// [`NotStarted`]: nothing of the script has run. A timeout, a cancellation and a failing
    /// command are `Ok`.
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted>;

    /// Returns which sandbox the executor can enforce on this system. The caller passes a spec with
    /// [`RunSpec::sandbox`] to [`Self::run`] only after this function returned `Ok`. The default
    /// returns an error.
    ///
    /// # Errors
    /// [`NotStarted::SandboxLacks`]: an essential means is missing.
    async fn sandbox_report(&self) -> Result<Report, NotStarted> {
        let what = "an executor that can confine commands".to_owned();
        Err(NotStarted::SandboxLacks { what })
    }

    /// Checks that the executor supports trials ([`RunSpec::trial`]). The default returns an error.
    ///
    /// # Errors
    /// [`NotStarted::Trial`]: why not. `Ok` does not cover every directory; [`Self::run`] may still
    /// refuse.
    async fn check_trials(&self) -> Result<(), NotStarted> {
        let reason = "the executor does not support trials".to_owned();
        Err(NotStarted::Trial { reason })
    }

    /// Checks before a call whether changes can be recorded ([`RunSpec::trace`]), as far as that is
    /// known. A caller may ask for a record even after an error: [`Outcome::traced`] says how
    /// complete the record is. The default returns `Ok`.
    ///
    /// # Errors
    /// The reason why changes cannot be recorded.
    async fn check_recording(&self) -> Result<(), String> {
        Ok(())
    }

    /// Returns the functions and aliases of the user's shell configuration that a call with this
    /// shell, environment and directory can use. Waits until the configuration is loaded, as such a
    /// call does. The default returns `None`.
    async fn configured(
        &self,
        shell: &Shell,
        base: &Arc<BTreeMap<OsString, OsString>>,
        cwd: &Path,
    ) -> Option<Arc<ShellDefinitions>> {
        let _ = (shell, base, cwd);
        None
    }

    /// Returns the functions and aliases of a persistent shell; `None` before its first call has
    /// ended, and while a call runs. The default returns `None`.
    async fn defined_in(&self, session: &SessionName) -> Option<Arc<ShellDefinitions>> {
        let _ = session;
        None
    }

    /// Returns the working directory of a persistent shell; `None` before its first call has ended,
    /// and while a call runs. The default returns `None`.
    fn session_cwd(&self, session: &SessionName) -> Option<PathBuf> {
        let _ = session;
        None
    }
}

/// Receives a command's output.
pub trait OutputConsumer: Send {
    /// Takes a chunk, which may be split anywhere, even inside a character or an escape sequence.
    /// The next chunk is read only when this function has returned, so a slow consumer applies
    /// backpressure, and no output is lost.
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow;

    /// Returns the pipe or socket to which an executor may move output of this stream by itself.
    /// The consumer does not receive moved bytes, but the last byte of the output is never moved.
    /// The default returns `None`: the consumer receives all output.
    fn destination(&self, stream: StreamId) -> Option<BorrowedFd<'_>> {
        let _ = stream;
        None
    }

    /// Offers a mask for secrets. A consumer that returns true masks the output itself, and
    /// receives the output as printed. The default returns false: the consumer receives masked
    /// chunks.
    fn masks_output(&mut self, mask: &Arc<dyn OutputMask>) -> bool {
        let _ = mask;
        false
    }

    /// Informs that the shell `pid` in process group `group` received the script. Executors that
    /// know these numbers call it once, before the first chunk.
    fn started(&mut self, pid: u32, group: u32) {
        let _ = (pid, group);
    }

    /// Returns the file to which surviving processes append their further output on `stream`. The
    /// file holds everything pushed so far and is positioned at its end.
    ///
    /// The executor asks once, when the call has ended and a process still holds the stream open.
    /// `None` if outputs are not stored: the executor then reads and discards further output, so
    /// that SIGPIPE does not kill the process.
    fn file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        let _ = stream;
        None
    }
}

/// A consumer's response to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsumerFlow {
    /// Continue.
    Continue,
    /// The consumer needs no more of this stream. The executor pushes at most one more second or 1
    /// MiB, then closes the pipe, so that the producer receives SIGPIPE as with `head`.
    Stop,
}

/// The specification of one run. The caller decides every field; an executor reads nothing from the
/// state of its own process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSpec {
    /// The script, without NUL.
    pub script: String,
    /// The shell that runs the script.
    pub shell: Shell,
    /// The script's working directory: an absolute path that was a directory when the caller
    /// checked.
    pub cwd: PathBuf,
    /// The script's environment.
    pub env: Environment,
    /// Merged or separate streams.
    pub streams: Streams,
    /// The script's stdin.
    pub stdin: StdinSource,
    /// Time limit, counted from the hand-over of the script; `None` means none.
    pub timeout: Option<Duration>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The policy for processes that outlive the call.
    pub survivors: SurvivorPolicy,
    /// The persistent shell that runs the script; `None` means a new shell.
    pub session: Option<SessionName>,
    /// True to report [`Outcome::stages`] and [`Outcome::final_cwd`], which bash prints in one line
    /// after the script. Only for scripts that parse without errors and end with a pipeline of at
    /// least two stages.
    pub report_stages: bool,
    /// True for a session that changes to `cwd` before the script. Otherwise the script runs in the
    /// current directory of the session's shell. A new shell always starts in `cwd`.
    pub enter_cwd: bool,
    /// True to use a shell that has loaded the snapshot of the user's shell configuration, if the
    /// executor has such a shell. Otherwise, as in safe mode, the shell equals `bash -c`.
    pub snapshot: bool,
    /// Functions, aliases and options of another bash, loaded instead of the snapshot. Ignored in a
    /// session, which has its own definitions.
    pub definitions: Option<Arc<Definitions>>,
    /// Resource limits of the call.
    pub limits: Limits,
    /// The sandbox; `None` runs without a sandbox. A session keeps the sandbox of its first call.
    pub sandbox: Option<Arc<Plan>>,
    /// The overlay of a trial; `None` changes files in place. The caller passes it to
    /// [`Executor::run`] only after [`Executor::check_trials`] returned `Ok`.
    pub trial: Option<Arc<Overlay>>,
    /// The directory of the change set that records changes and preimages; `None` records nothing.
    /// [`Outcome::traced`] says how complete the record is.
    pub trace: Option<PathBuf>,
    /// True to refuse the call ([`NotStarted::Untraced`]) if its shell cannot be traced, which may
    /// become known only once the shell has started. Only with [`Self::trace`].
    pub needs_trace: bool,
    /// True to run without a trace, because a traced process cannot gain privileges. A session
    /// replaces its traced shell by an untraced shell.
    pub untraced: bool,
    /// The pool of warm shells for this call; `None` uses no warm shell. Calls with the same number
    /// share shells, since the sandbox of a warm shell reflects the files at its start.
    pub pool: Option<u64>,
    /// True for a background job that appends [`ScriptEnding::completion_status`] to the output
    /// file when it has ended.
    pub completion_status: bool,
    /// The script without secrets, for a job's files and lists; `None` for the script itself.
    pub recorded_script: Option<String>,
    /// The command line of a shell that runs in place of the script; `None` runs the script. With a
    /// command line, the script is only its description. Such a shell has the directory, the
    /// environment, the process group and all descriptors of this process, except for the captured
    /// streams.
    pub invocation: Option<Arc<Invocation>>,
}

/// The command line of a shell, and how it is connected to this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The absolute path of the program.
    pub program: PathBuf,
    /// The shell's `argv[0]`.
    pub arg0: OsString,
    /// The shell's other arguments.
    pub args: Vec<OsString>,
    /// The streams that are captured. The shell inherits the others from this process.
    pub captured: Vec<StreamId>,
    /// The process group of this process, which the shell joins; 0 for a group of its own.
    pub group: i32,
    /// The caller's own files, whose changes are not recorded; absolute, without links.
    pub unrecorded: Vec<PathBuf>,
}

impl RunSpec {
    /// Returns the specification of a bash script in `cwd`, an absolute path, with minimal values:
    /// an empty environment, one stream, no input, no time limit, a new shell, no snapshot, two
    /// seconds of grace. Surviving processes keep running and are named.
    pub fn new(script: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            script: script.into(),
            shell: Shell::bash("/bin/bash"),
            cwd: cwd.into(),
            env: Environment::default(),
            streams: Streams::Merged,
            stdin: StdinSource::Null,
            timeout: None,
            grace: Duration::from_secs(2),
            survivors: SurvivorPolicy::default(),
            session: None,
            report_stages: false,
            enter_cwd: true,
            snapshot: false,
            definitions: None,
            limits: Limits::default(),
            sandbox: None,
            trial: None,
            trace: None,
            needs_trace: false,
            untraced: false,
            pool: Some(0),
            completion_status: false,
            recorded_script: None,
            invocation: None,
        }
    }
}

impl RunSpec {
    /// Returns the script for a job's files and lists.
    pub fn recorded(&self) -> &str {
        self.recorded_script.as_deref().unwrap_or(&self.script)
    }

    /// Returns the policy for surviving processes. Survivors of a trial are ended, because their
    /// open files belong to the overlay, and a commit would expose the real files to them.
    pub fn survivor_policy(&self) -> SurvivorPolicy {
        match self.survivors {
            SurvivorPolicy::Adopt if self.trial.is_some() => SurvivorPolicy::Kill,
            policy => policy,
        }
    }
}

setters! {
    RunSpec;
    script: String,
    shell: Shell,
    cwd: PathBuf,
    env: Environment,
    streams: Streams,
    stdin: StdinSource,
    timeout: Option<Duration>,
    grace: Duration,
    survivors: SurvivorPolicy,
    session: Option<SessionName>,
    report_stages: bool,
    enter_cwd: bool,
    snapshot: bool,
    definitions: Option<Arc<Definitions>>,
    limits: Limits,
    sandbox: Option<Arc<Plan>>,
    trial: Option<Arc<Overlay>>,
    trace: Option<PathBuf>,
    needs_trace: bool,
    untraced: bool,
    pool: Option<u64>,
    completion_status: bool,
    recorded_script: Option<String>,
    invocation: Option<Arc<Invocation>>,
}

/// A shell found on the system.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shell {
    /// Absolute path.
    pub path: PathBuf,
    /// True for bash, which can be started ahead of the call and receive its script by descriptor.
    /// Any other shell is started as `path args… <script file>`.
    pub is_bash: bool,
    /// Arguments before the script file, for a shell other than bash; `-l` for a login bash.
    pub args: Vec<String>,
}

impl Shell {
    /// True if the shell reads its script as bash does. A login bash is included, although it
    /// cannot be started ahead.
    pub fn is_any_bash(&self) -> bool {
        self.is_bash || self.path.file_name().is_some_and(|name| name == "bash")
    }

    /// Returns the bash at this absolute path.
    pub fn bash(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            is_bash: true,
            args: Vec::new(),
        }
    }
}

/// The source of a command's stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StdinSource {
    /// `/dev/null`.
    #[default]
    Null,
    /// The caller's own standard input.
    Inherit,
}

/// Resource limits of one call; `None` leaves the inherited limit. Where the supervisor can create
/// cgroups, some of them hold for all processes of the call together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// CPU time in seconds.
    pub cpu_s: Option<u64>,
    /// Memory of all processes in MiB. Without a cgroup, address space of each process.
    pub memory_mb: Option<u64>,
    /// Number of processes and threads. Without a cgroup, of this user and not only of the call.
    pub processes: Option<u64>,
    /// CPU use of all processes in percent of one processor. Without a cgroup, not enforced.
    pub cpu_percent: Option<u64>,
    /// Maximum size of a written file in MiB.
    pub file_mb: Option<u64>,
}

/// The observations of an executor.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// How the script ended.
    pub ending: ScriptEnding,
    /// When the script was handed over.
    pub started_at: Timestamp,
    /// Time from the hand-over of the script to the end of the shell.
    pub duration: Duration,
    /// Exit status of each stage of the last pipeline; `None` if unknown.
    pub stages: Option<Vec<Stage>>,
    /// The directory in which the script started, if a session's shell was elsewhere than `cwd`.
    pub initial_cwd: Option<PathBuf>,
    /// The shell's directory at the end; `None` if unknown.
    pub final_cwd: Option<PathBuf>,
    /// Processes that are still alive.
    pub survivors: Vec<Survivor>,
    /// True if a stream was closed because its consumer returned [`ConsumerFlow::Stop`].
    pub closed_early: bool,
    /// Number of the signal that killed the shell, if a signal killed it. Also set for
    /// [`ScriptEnding::TimedOut`] and [`ScriptEnding::Cancelled`].
    pub shell_signal: Option<i32>,
    /// Notices.
    pub notices: Vec<Notice>,
    /// The observed sandbox; `None` if the script ran without one.
    pub sandbox: Option<ObservedSandbox>,
    /// True if the shell was observed to run in the overlay of the trial.
    pub held_back: bool,
    /// How complete the record of changes is; `None` without a record.
    pub traced: Option<TraceState>,
}

impl Outcome {
    /// Returns an outcome without stages, directories, survivors and notices.
    pub fn new(ending: ScriptEnding, started_at: Timestamp, duration: Duration) -> Self {
        Self {
            ending,
            started_at,
            duration,
            stages: None,
            initial_cwd: None,
            final_cwd: None,
            survivors: Vec::new(),
            closed_early: false,
            shell_signal: None,
            notices: Vec::new(),
            sandbox: None,
            held_back: false,
            traced: None,
        }
    }

    /// Sets the surviving processes, and adds a notice if there are any.
    pub fn name_survivors(&mut self, survivors: Vec<Survivor>) {
        if !survivors.is_empty() {
            let named = NoticeKind::Survivors {
                survivors: survivors.clone(),
            };
            self.notices.push(named.into());
        }
        self.survivors = survivors;
    }
}

/// How a started script ended. Stored as JSON in a job's directory, with the names of
/// [`crate::Status`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScriptEnding {
    /// The shell exited by itself.
    Exited {
        /// Exit code, 0 to 255.
        code: i32,
    },
    /// The shell was killed by a signal that the host did not send. Or the shell of a job had
    /// already exited, and the job's other processes were ended on request.
    Signaled {
        /// For example `SIGKILL`.
        signal: String,
        /// The platform's signal number.
        number: i32,
    },
    /// The time limit passed and the command was ended.
    TimedOut {
        /// The limit.
        #[serde(rename = "after_ms", with = "millis")]
        after: Duration,
    },
    /// Cancelled by its caller.
    Cancelled,
    /// All processes of a job that was made of survivors have ended, each with its own status.
    AllEnded,
    /// The end was not observed.
    Lost {
        /// The observation.
        reason: String,
    },
}

impl ScriptEnding {
    /// Returns the last line of a background job's output file, with the blank lines before it.
    pub fn completion_status(&self) -> String {
        let failed = |why: &dyn std::fmt::Display| format!("failed: {why}");
        let status = match self {
            Self::Exited { code: 0 } | Self::AllEnded => "completed".to_owned(),
            Self::Exited { code } => failed(&format_args!("exit status: {code}")),
            Self::Signaled { signal, number } => {
                failed(&format_args!("signal: {number} ({signal})"))
            }
            Self::TimedOut { after } => failed(&timed_out_text(*after)),
            Self::Cancelled => failed(&"cancelled"),
            Self::Lost { reason } => format!("error: {reason}"),
        };
        format!("\n\n[background process {status}]\n")
    }
}

/// Serialises a duration as whole milliseconds, at most `u64::MAX`.
mod millis {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
