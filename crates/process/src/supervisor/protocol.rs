//! What host and supervisor say to each other. Every order is answered: at once with the event that it names, or, where it says "in
//! time", by what comes of it. An order that cannot be read ends the conversation.
//! JSON, since the messages are few and small; how they travel, and the
//! descriptors with them, is in `channel`.

use super::job_directory::JobEnd;
use crate::signal_name;
use agent_bash_core::{Ending, Limits, StreamId, Survivor};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// From the host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Start a shell. With it, in this order: its stdin for the script if `inherits_stdin`.
    /// Answer: `Started`, or `StartFailed`.
    Start(ShellStart),
    /// Start one as the last was started, with the same descriptors. Answer: as to `Start`.
    StartAnother,
    /// Start a shell on a terminal. With it: the file its script is in. Answer: `Started` without descriptors, or
    /// `StartFailed`. The script runs at once.
    StartOnTerminal(TerminalStart),
    /// End the tree: SIGTERM, SIGCONT, grace, SIGKILL; on a terminal SIGHUP first. Answer, in time: `Ended` (if the shell still lived) and `Empty`
    /// or `Stuck`.
    Terminate {
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
        /// Stop the shell first and keep it stopped until the end, so that it does not go on to its next command when the
        /// one it waits for is ended. For shells that serve more than one call.
        stop_shell: bool,
    },
    /// Who still lives beside the shell, and was not adopted? Answer: `Survivors`.
    Survivors,
    /// Watch whoever that is until nobody of them is left. Answer, in time: `SurvivorsEnded`.
    WatchSurvivors,
    /// End those that are watched, and them alone: SIGTERM, SIGCONT, grace, SIGKILL.
    EndSurvivors {
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
    },
    /// Read on for the survivors; with `detach`, let go of the lifeline for their sake. With it: pairs of a pipe's read end and the file that
    /// goes on, or only read ends where `files` is false. Answer: `Adopted`, or `AdoptFailed`.
    Adopt {
        /// Whether a file comes with each pipe.
        files: bool,
        /// The survivors outlive the host.
        detach: bool,
        /// How many bytes more may be written to the files together.
        quota: u64,
        /// The directory of the job that they become; `None`: of none. Without `detach` the shell goes on, and they are not
        /// named again; only as a job are they not ended with it.
        job: Option<OsString>,
    },
    /// Let the shell that waits for its script run as a job that outlives the host. With it, in this order: the read end
    /// of its output, the control pipe's write end, and the write end of its stdin if it has one. Answer: `Detached`, or
    /// `DetachFailed`; in time `JobEnded`.
    Detach(Detach),
}

/// How a call becomes a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detach {
    /// The job's private directory, with the files that its host makes; absolute. See `job_directory`.
    pub directory: OsString,
    /// What is written to the control pipe: it commits the script.
    pub commit: String,
    /// Milliseconds after which it is ended.
    pub limit_ms: u64,
    /// Milliseconds between SIGTERM and SIGKILL then.
    pub grace_ms: u64,
    /// How many bytes it may write to its output file.
    pub quota: u64,
}

/// From the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It is there. Said once.
    Hello {
        /// Version of the protocol.
        version: u32,
    },
    /// A shell waits for its script. With it: script file, control pipe's write end, read ends of its streams.
    Started {
        /// Process id and process group of the shell.
        pid: u32,
        /// Number under which the shell has the script file open.
        script_fd: i32,
        /// Number under which the shell has the stdin for the script open, where it inherits one.
        stdin_fd: Option<i32>,
    },
    /// No shell was started.
    StartFailed {
        /// The system's reason.
        reason: String,
    },
    /// The shell has ended.
    Ended {
        /// How.
        end: ShellEnd,
        /// No descendant is left; `Empty` does not follow.
        empty: bool,
        /// What was written to the report file; empty if nothing was.
        report: String,
    },
    /// No descendant is left. Follows `Ended` where that found some.
    Empty,
    /// Some descendants withstood SIGKILL (they are in an uninterruptible sleep).
    Stuck {
        /// Who.
        survivors: Vec<Survivor>,
    },
    /// Answer to the question who still lives.
    Survivors {
        /// Who.
        survivors: Vec<Survivor>,
    },
    /// Those that were watched have ended.
    SurvivorsEnded {
        /// Some of them withstood SIGKILL.
        withstand: Vec<Survivor>,
    },
    /// The survivors are the supervisor's now; the host may go. They are a job if its entry is there.
    Adopted,
    /// Nothing was adopted.
    AdoptFailed {
        /// Why.
        reason: String,
    },
    /// The job is the supervisor's now, and its script runs; the host may go.
    Detached,
    /// There is no job, and its script does not run.
    DetachFailed {
        /// The system's reason.
        reason: String,
    },
    /// The job has ended.
    JobEnded {
        /// How.
        end: JobEnd,
    },
}

/// From a later host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum VisitRequest {
    /// End the tree: SIGTERM, SIGCONT, grace, SIGKILL. No answer; in time `Ended`, or `Stuck`, and the socket's end when
    /// nobody is left.
    End {
        /// Milliseconds between SIGTERM and SIGKILL.
        grace_ms: u64,
    },
    /// Who lives? Answer: `Survivors`.
    Survivors,
    /// The writing end of the job's stdin. Answer: `Stdin` with it, or `NoStdin`.
    Stdin,
    /// Let the job's stdin end. Answer: `StdinClosed`, or `NoStdin`.
    CloseStdin,
}

/// To a later host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum VisitAnswer {
    /// The job has ended. Said once: when it ends, or at once where it has.
    Ended {
        /// How.
        end: JobEnd,
    },
    /// Who lives.
    Survivors {
        /// Named, at most a hundred.
        survivors: Vec<Survivor>,
    },
    /// Some withstand SIGKILL.
    Stuck {
        /// Who.
        survivors: Vec<Survivor>,
    },
    /// With it comes the writing end of the job's stdin.
    Stdin,
    /// The job's stdin is empty, or was closed.
    NoStdin,
    /// It is closed.
    StdinClosed,
}

/// Which shell to start, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellStart {
    /// Absolute path.
    pub program: PathBuf,
    /// What it shall believe to be called.
    pub arg0: OsString,
    /// Its arguments. In each `{script_fd}` is replaced by the number under which the script file is open, and
    /// `{report}` by the path of a pipe that the supervisor reads when the shell has ended.
    pub args: Vec<OsString>,
    /// Changes to the supervisor's own environment.
    pub env_changes: Vec<(OsString, Option<OsString>)>,
    /// A descriptor comes with the order that the script shall have as its stdin.
    pub inherits_stdin: bool,
    /// The streams that it prints into, a pipe each; a stream without one is discarded. A shell may print as soon as it is
    /// started, a warning for instance, so each pipe has a reader until the shell has ended.
    pub output: Vec<StreamId>,
    /// What it and all that it starts may use.
    pub limits: Limits,
}

/// Which shell to start on a terminal, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalStart {
    /// The shell. In its arguments `{control_fd}` is replaced by the number of the pipe by which it is told to begin.
    pub start: ShellStart,
    /// The terminal's path, such as `/dev/pts/3`.
    pub terminal: PathBuf,
    /// What is written to the control pipe when the shell is in the terminal's foreground.
    pub commit: String,
}

/// How a shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShellEnd {
    /// With this status, 0 to 255.
    Exited(i32),
    /// By the signal of this number.
    Signaled(i32),
}

impl ShellEnd {
    /// Number of the signal that ended it, if one did.
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Exited(_) => None,
            Self::Signaled(number) => Some(number),
        }
    }
}

/// As a call's own end.
impl From<ShellEnd> for Ending {
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
