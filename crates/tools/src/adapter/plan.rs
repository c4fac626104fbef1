//! The interface between an adapter's tool and the pipeline: the plan of a call, and the outcome
//! for its layout.

use super::field::FieldError;
use crate::finished_call::{FinishedCall, KeepOutput, OutputPart};
use agent_bash_core::{JobId, Request, SessionName, Survivor};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The plan of a call of an adapter's tool.
#[derive(Debug, Clone)]
pub enum AdapterPlan {
    /// Run these commands in order. After a timeout or cancellation the remaining ones are not
    /// started.
    Run(Vec<PlannedCommand>),
    /// Replace the persistent shell by a new one.
    Restart(SessionName),
    /// Run this command. If it still runs after this time, answer while the command continues.
    Yield(Box<PlannedCommand>, Duration),
    /// Write to a command that is still running.
    Write(CommandInput),
    /// End a background job.
    Stop(JobId),
}

/// Returns the name of the persistent shell that a tool with a single shell uses.
pub(crate) fn main_shell() -> SessionName {
    SessionName("main".to_owned())
}

/// Input for a command that is still running.
#[derive(Debug, Clone)]
pub struct CommandInput {
    /// The number of the command, from an earlier answer.
    pub session: u64,
    /// The input; if empty, the call only waits.
    pub chars: String,
    /// The maximum wait for the command's output.
    pub wait: Duration,
}

/// A command and how to run it.
#[derive(Debug, Clone)]
pub struct PlannedCommand {
    /// The request for the pipeline.
    pub request: Request,
    /// The reason for running without a sandbox, if the call asks for that.
    pub escalation: Option<String>,
    /// Maximum number of output bytes to show, which overrides the adapter's limits.
    pub window: Option<usize>,
    /// True if the command gets the maximum time limit.
    pub uses_max_timeout: bool,
    /// The columns and rows of the command's terminal; `None` to run without one.
    pub terminal: Option<(u16, u16)>,
    /// For a background command: the time during which output is collected for the answer.
    pub linger: Option<Duration>,
}

impl From<Request> for PlannedCommand {
    fn from(request: Request) -> Self {
        Self {
            request,
            escalation: None,
            window: None,
            uses_max_timeout: false,
            terminal: None,
            linger: None,
        }
    }
}

/// The outcome of a call, for its layout.
#[derive(Debug)]
pub enum CallOutcome<'a> {
    /// The call's fields could not be parsed; nothing was started.
    WrongFields(&'a FieldError),
    /// The call is invalid; nothing was started.
    Invalid(&'a str),
    /// The commands that were run, or refused, in this order.
    Ran(&'a [FinishedRun]),
    /// The persistent shell was replaced.
    Restarted,
    /// The output of a running or ended command since the last answer.
    Chunk(&'a OutputChunk),
    /// A background job was ended.
    Stopped(&'a StoppedJob),
}

impl CallOutcome<'_> {
    /// Returns the error of the call, if any.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Self::WrongFields(error) => Some(error.to_string()),
            Self::Invalid(error) => Some((*error).to_owned()),
            _ => None,
        }
    }

    /// Returns an error about an outcome that no plan of this tool leads to.
    pub(crate) fn unexpected(&self) -> WrittenAnswer {
        WrittenAnswer::error(format!("not an answer of this tool: {self:?}"))
    }
}

/// A background job that a call has ended.
#[derive(Debug)]
pub struct StoppedJob {
    /// The job.
    pub id: JobId,
    /// The job's script.
    pub command: String,
    /// The job's processes that are still alive.
    pub survivors: Vec<Survivor>,
}

/// A command's output since the last answer.
#[derive(Debug)]
pub struct OutputChunk {
    /// The id of this answer.
    pub id: String,
    /// The time that the call waited for the command.
    pub waited: Duration,
    /// The number by which later calls name the command; `None` if the command has ended.
    pub session: Option<u64>,
    /// The finished call, if the command has ended.
    pub finished_call: Option<Arc<FinishedCall>>,
    /// The output.
    pub part: OutputPart,
    /// True if the command runs on a terminal.
    pub is_on_terminal: bool,
    /// The layout sets this flag if the answer does not show all of the output.
    pub keep: KeepOutput,
}

/// A command that was run, or refused.
#[derive(Debug, Clone)]
pub struct FinishedRun {
    /// The finished call.
    pub finished_call: Arc<FinishedCall>,
    /// The command's process group, if it was started.
    pub group: Option<u32>,
    /// The command's raw output.
    pub part: Arc<OutputPart>,
    /// The first output of a background command, if [`PlannedCommand::linger`] is set.
    pub initial: Option<String>,
}

/// An answer written by its layout.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenAnswer {
    /// The text for the model.
    pub content: String,
    /// True if the tool reports an error.
    pub is_error: bool,
    /// The structured form of the answer, if the tool has one.
    pub structured: Option<Value>,
}

impl WrittenAnswer {
    /// Returns a successful answer.
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            structured: None,
        }
    }

    /// Returns an error.
    pub fn error(content: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(content)
        }
    }
}
