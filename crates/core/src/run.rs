//! The seam between the pipeline and whoever runs a script.

use crate::{
    Cancel, Environment, Notice, NoticeKind, SessionName, Stage, Streams, Survivor, SurvivorPolicy,
    Timestamp,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// Runs scripts.
///
/// Implemented by `agent-bash-exec` (isolated shells, sessions), `agent-bash-pty` (a terminal), and by hosts that
/// bring a container or a remote machine.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Runs one script to its end and pushes what it prints into `out`.
    ///
    /// On return no process of the call is left, or [`Outcome::survivors`] names it. Dropping the future ends the
    /// command as a cancellation without grace does.
    ///
    /// # Errors
    /// [`NotStarted`]: nothing of the script has run. A timeout, a cancellation and a failing command are `Ok`.
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted>;
}

/// Takes what a command prints.
pub trait OutputConsumer: Send {
    /// Takes a chunk, split anywhere: inside a character or an escape sequence too. The next chunk is read when this
    /// returns, so a slow consumer slows the producer, and nothing is lost.
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> Flow;

    /// The script was handed to the shell `pid`, whose process group is `group`. Called once, before the first chunk, by
    /// executors that know; nothing follows from it.
    fn started(&mut self, pid: u32, group: u32) {
        let _ = (pid, group);
    }

    /// A file to which processes that outlive the call go on writing what they print on `stream`: at its end, holding
    /// everything that was pushed so far. Asked for once, when the call has ended and somebody still holds the
    /// stream. `None` where outputs are not kept; what is printed later is then read and dropped, so that the
    /// process does not die of it.
    fn file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        let _ = stream;
        None
    }
}

/// A consumer's answer to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// This stream's consumer has what it wanted. The executor keeps pushing for at most one second or 1 MiB more,
    /// then closes the stream's pipe, so that the producer meets SIGPIPE as it would have from `head`.
    Stop,
}

/// Which stream a chunk or an artifact belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StreamId {
    /// Stdout and stderr in the order of writing.
    Merged,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Everything an executor needs to know. Every field is a decision of the caller; nothing is read from the state of
/// the calling process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunSpec {
    /// The script, without NUL.
    pub script: String,
    /// Who runs it.
    pub shell: Shell,
    /// Where; an absolute path that was a directory when the caller looked.
    pub cwd: PathBuf,
    /// What it finds in its environment.
    pub env: Environment,
    /// One pipe or two.
    pub streams: Streams,
    /// What it reads.
    pub stdin: StdinSource,
    /// How long it may take, from the hand-over of the script; `None` is for ever.
    pub timeout: Option<Duration>,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
    /// What becomes of processes that outlive it.
    pub survivors: SurvivorPolicy,
    /// The persistent shell it runs in; `None` is a shell of its own.
    pub session: Option<SessionName>,
    /// Report [`Outcome::stages`] and [`Outcome::final_cwd`]: one line is evaluated after the script. Only for a script
    /// that was read without an error and whose last statement is a pipeline of two stages or more.
    pub report_stages: bool,
    /// In a session: enter `cwd` before the script, wherever the shell is. Without it a call stays where the one before
    /// left the shell. A shell of the call's own always enters it.
    pub enter_cwd: bool,
    /// Run it in a shell that has loaded the snapshot of the user's shell, where the executor keeps one. Without it (safe mode)
    /// a shell is as bare as `bash -c`.
    pub snapshot: bool,
    /// Resource limits of the call.
    pub limits: Limits,
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
            limits: Limits::default(),
        }
    }
}

/// Setters of [`RunSpec`], by the names of its fields.
macro_rules! setters {
    ($($field:ident: $type:ty),* $(,)?) => {
        impl RunSpec {
            $(
                #[doc = concat!("Sets [`Self::", stringify!($field), "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$type>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    };
}

setters! {
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
    limits: Limits,
}

/// A shell that was found on the system.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shell {
    /// Absolute path.
    pub path: PathBuf,
    /// Whether it is bash, which may be started ahead of the call and handed its script by descriptor. Any other is
    /// started as `path args… <script file>`.
    pub is_bash: bool,
    /// Arguments before the script of a shell that is not bash; `-l` for a login bash.
    pub args: Vec<String>,
}

impl Shell {
    /// Bash, at that absolute path.
    pub fn bash(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            is_bash: true,
            args: Vec::new(),
        }
    }
}

/// What a command reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StdinSource {
    /// `/dev/null`.
    #[default]
    Null,
    /// The caller's own standard input.
    Inherit,
}

/// Resource limits of one call, as rlimits; `None` leaves what is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// CPU time in seconds.
    pub cpu_s: Option<u64>,
    /// Address space in MiB.
    pub memory_mb: Option<u64>,
    /// Processes of this user.
    pub processes: Option<u64>,
    /// Size of a written file in MiB.
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
    /// Exit status of each stage of the last pipeline; `None` where it is not known.
    pub stages: Option<Vec<Stage>>,
    /// Where the script began, if that is not the directory of its specification but a session's; `None` where it is.
    pub initial_cwd: Option<PathBuf>,
    /// Where the shell ended up; `None` where it is not known.
    pub final_cwd: Option<PathBuf>,
    /// Processes that still live.
    pub survivors: Vec<Survivor>,
    /// A stream was closed because its consumer answered [`Flow::Stop`].
    pub closed_early: bool,
    /// Number of the signal that ended the shell, where one did: for [`Ending::TimedOut`] and [`Ending::Cancelled`], which
    /// are endings whatever ended the shell in the end.
    pub shell_signal: Option<i32>,
    /// What else is worth knowing.
    pub notices: Vec<Notice>,
}

impl Outcome {
    /// One of which nothing else is known: no stages, no directories, nobody left, nothing to notice.
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

/// How a started script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// By itself.
    Exited {
        /// 0 to 255.
        code: i32,
    },
    /// By a signal that we did not send.
    Signaled {
        /// Such as `SIGKILL`.
        signal: String,
        /// The platform's number.
        number: i32,
    },
    /// By its time limit.
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// By its caller.
    Cancelled,
    /// Nobody knows.
    Lost {
        /// What was observed.
        reason: String,
    },
}

/// Nothing of the script has run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct NotStarted {
    /// What was wrong, with the value.
    pub reason: String,
}

impl NotStarted {
    /// With the reason as a lower-case fragment.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}
