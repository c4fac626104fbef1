//! The interface between the pipeline and whatever runs a script.

use crate::changes::{Overlay, Traced};
use crate::definitions::Definitions;
use crate::sandbox::{Confined, Plan, Report};
use crate::setters::setters;
use crate::{
    Cancel, Environment, NotStarted, Notice, NoticeKind, SessionName, Stage, StreamId, Streams,
    Survivor, SurvivorPolicy, Timestamp,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Runs scripts.
///
/// Implemented by `agent-bash-exec` (isolated shells, sessions), `agent-bash-pty` (a terminal), and by hosts that
/// run commands in a container or on a remote machine.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Runs one script to its end and passes its output to `out`.
    ///
    /// On return every process of the call has ended or is named in [`Outcome::survivors`]. Dropping the future
    /// ends the command like a cancellation without a grace period.
    ///
    /// # Errors
    /// [`NotStarted`]: nothing of the script has run. A timeout, a cancellation and a failing command are `Ok`.
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted>;

    /// What of a box's promise it can have enforced here. A spec with [`RunSpec::sandbox`] is passed to [`Self::run`]
    /// only after this said so. Unless implemented, it can enforce nothing.
    ///
    /// # Errors
    /// [`NotStarted::SandboxLacks`]: what is missing that is essential.
    async fn confines(&self) -> Result<Report, NotStarted> {
        let what = "an executor that can confine commands".to_owned();
        Err(NotStarted::SandboxLacks { what })
    }

    /// Whether it can hold back what a script changes ([`RunSpec::trial`]). Unless implemented, it cannot.
    ///
    /// # Errors
    /// [`NotStarted::Trial`]: why not. That it can is no promise for every directory; [`Self::run`] may still refuse.
    async fn holds_back(&self) -> Result<(), NotStarted> {
        let reason = "the executor cannot hold back what commands change".to_owned();
        Err(NotStarted::Trial { reason })
    }

    /// Whether what a script changes can be recorded while it does ([`RunSpec::trace`]), as far as that is known before. Where it
    /// cannot be, nothing is lost by asking for it: [`Outcome::traced`] says so. Unless implemented, nothing is known.
    ///
    /// # Errors
    /// Why not.
    async fn watches(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Receives a command's output.
pub trait OutputConsumer: Send {
    /// Takes a chunk, which may be split anywhere, even inside a character or an escape sequence. The next chunk is
    /// read after this returns, so a slow consumer applies backpressure, and nothing is lost.
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> Flow;

    /// The script was handed to the shell `pid` in process group `group`. Called once, before the first chunk, by
    /// executors that know these. Informational.
    fn started(&mut self, pid: u32, group: u32) {
        let _ = (pid, group);
    }

    /// A file to which processes that outlive the call append their further output on `stream`; positioned at its
    /// end and holding everything pushed so far. Requested once, when the call has ended and a process still holds
    /// the stream open. `None` if outputs are not stored: further output is then read and discarded, so that the
    /// process is not killed by SIGPIPE.
    fn file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        let _ = stream;
        None
    }
}

/// A consumer's response to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Continue,
    /// This stream's consumer has enough. The executor pushes at most one more second or 1 MiB, then closes the
    /// stream's pipe, so that the producer gets SIGPIPE as it would with `head`.
    Stop,
}

/// Everything an executor needs to know. All fields are decisions of the caller; nothing is read from the state of
/// the calling process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSpec {
    /// The script, without NUL.
    pub script: String,
    /// The shell that runs it.
    pub shell: Shell,
    /// Its working directory: an absolute path that was a directory when the caller checked.
    pub cwd: PathBuf,
    /// Its environment.
    pub env: Environment,
    /// Merged or separate streams.
    pub streams: Streams,
    /// Its stdin.
    pub stdin: StdinSource,
    /// Time limit, counted from the hand-over of the script; `None` means none.
    pub timeout: Option<Duration>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// What happens to processes that outlive it.
    pub survivors: SurvivorPolicy,
    /// The persistent shell to run in; `None` means a shell of its own.
    pub session: Option<SessionName>,
    /// Report [`Outcome::stages`] and [`Outcome::final_cwd`], which are obtained by evaluating one line after the
    /// script. Only for scripts that were parsed without errors and whose last statement is a pipeline of at least
    /// two stages.
    pub report_stages: bool,
    /// In a session: change to `cwd` before the script. Otherwise the call runs in the directory where the previous
    /// one left the shell. A shell of the call's own always starts in `cwd`.
    pub enter_cwd: bool,
    /// Use a shell that has loaded the snapshot of the user's shell, if the executor has one. Otherwise (as in safe
    /// mode) the shell is as bare as `bash -c`.
    pub snapshot: bool,
    /// What the shell has of another one, if it is bash: in place of the snapshot, and before its variables are used. Nothing is loaded
    /// in a session, which has its own.
    pub definitions: Option<Arc<Definitions>>,
    /// Resource limits of the call.
    pub limits: Limits,
    /// The box that the kernel keeps it in; `None` means none. A session has that of its first call.
    pub sandbox: Option<Arc<Plan>>,
    /// Where what it changes is held back; `None` makes the changes. An executor that does not know it runs nothing: it
    /// is passed to [`Executor::run`] only after [`Executor::holds_back`] said so.
    pub trial: Option<Arc<Overlay>>,
    /// The directory of the set in which what it changes is recorded, with what was there before; `None` records nothing.
    /// Whether it was is in [`Outcome::traced`].
    pub trace: Option<PathBuf>,
    /// Whether nobody may watch it, as what is watched cannot take privileges: a session's shell that is watched is
    /// replaced by one that is not.
    pub unwatched: bool,
    /// Whether a shell that was started ahead may run it, and its supervisor may start one for a later call: those that
    /// were started for calls with the same number. What a shell has of a box is what there was when it was started.
    pub pool: Option<u64>,
}

impl RunSpec {
    /// A script for bash in that directory (an absolute path). Everything else is as little as there can be: an empty
    /// environment, one stream, no input, no time limit, a shell of its own, no snapshot; two seconds of grace, and
    /// processes that outlive it are left and named.
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
            unwatched: false,
            pool: Some(0),
        }
    }
}

impl RunSpec {
    /// What happens to processes that outlive it. None outlives a trial: what it has open would go on changing what was
    /// held back, and the real files once that was committed.
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
    unwatched: bool,
    pool: Option<u64>,
}

/// A shell found on the system.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shell {
    /// Absolute path.
    pub path: PathBuf,
    /// Whether it is bash, which can be started ahead of the call and receive its script by descriptor. Any other
    /// shell is started as `path args… <script file>`.
    pub is_bash: bool,
    /// Arguments in front of the script, for a shell that is not bash; `-l` for a login bash.
    pub args: Vec<String>,
}

impl Shell {
    /// Whether it takes its script the way bash does. A login shell cannot be started ahead, but is bash all the same.
    pub fn is_any_bash(&self) -> bool {
        self.is_bash || self.path.file_name().is_some_and(|name| name == "bash")
    }

    /// Bash, at that absolute path.
    pub fn bash(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            is_bash: true,
            args: Vec::new(),
        }
    }
}

/// Where a command's stdin comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StdinSource {
    /// `/dev/null`.
    #[default]
    Null,
    /// The caller's own standard input.
    Inherit,
}

/// Resource limits (rlimits) of one call; `None` leaves the inherited limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// CPU time in seconds.
    pub cpu_s: Option<u64>,
    /// Address space in MiB.
    pub memory_mb: Option<u64>,
    /// Number of processes of this user.
    pub processes: Option<u64>,
    /// Maximum size of a written file in MiB.
    pub file_mb: Option<u64>,
}

/// What an executor observed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// How the script ended.
    pub ending: Ending,
    /// When the script was handed over.
    pub started_at: Timestamp,
    /// From the hand-over to the shell's end.
    pub duration: Duration,
    /// Exit status of each stage of the last pipeline; `None` if unknown.
    pub stages: Option<Vec<Stage>>,
    /// The directory in which the script started, if it is a session's rather than the one specified.
    pub initial_cwd: Option<PathBuf>,
    /// The shell's directory at the end; `None` if unknown.
    pub final_cwd: Option<PathBuf>,
    /// Processes that are still alive.
    pub survivors: Vec<Survivor>,
    /// A stream was closed because its consumer returned [`Flow::Stop`].
    pub closed_early: bool,
    /// Number of the signal that killed the shell, if one did. Also set for [`Ending::TimedOut`] and
    /// [`Ending::Cancelled`].
    pub shell_signal: Option<i32>,
    /// Notices: what else is worth knowing.
    pub notices: Vec<Notice>,
    /// The box that the script ran in; `None` if it was not confined.
    pub sandbox: Option<Confined>,
    /// Whether what it changed was held back, as the shell itself was seen to do.
    pub held_back: bool,
    /// How complete the record of its changes is; `None` if none was kept.
    pub traced: Option<Traced>,
}

impl Outcome {
    /// An outcome of which only these are known: no stages, no directories, no survivors, no notices.
    pub fn new(ending: Ending, started_at: Timestamp, duration: Duration) -> Self {
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

    /// Names the processes that still live, if there are any, in a notice too.
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

/// How a started script ended. Written as JSON in a job's directory, in the words of [`crate::Status`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// It exited by itself.
    Exited {
        /// Exit code, 0 to 255.
        code: i32,
    },
    /// Killed by a signal that we did not send.
    Signaled {
        /// For example `SIGKILL`.
        signal: String,
        /// The platform's signal number.
        number: i32,
    },
    /// Ended by its time limit.
    TimedOut {
        /// The limit.
        #[serde(rename = "after_ms", with = "millis")]
        after: Duration,
    },
    /// Cancelled by its caller.
    Cancelled,
    /// For survivors of a call, which have become a job: all of them have ended, each in its own way.
    Gone,
    /// Unknown.
    Lost {
        /// What was observed.
        reason: String,
    },
}

/// A duration as whole milliseconds; one that is longer than they can say is the longest.
mod millis {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
