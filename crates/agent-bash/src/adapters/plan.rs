//! Between an adapter's tool and the pipeline: what a call asks for, and what its layout is told of what became of it.

use super::FieldError;
use crate::running::Part;
use crate::{Account, Keep};
use agent_bash_core::{JobId, Request, SessionName};
use agent_bash_exec::Killed;
use agent_bash_pty::PtySize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What a call of an adapter's tool asks for.
#[derive(Debug, Clone)]
pub enum Plan {
    /// These commands, one after the other. After one that timed out or was called off none is started.
    Run(Vec<Wanted>),
    /// Another shell in place of the persistent one.
    Restart(SessionName),
    /// This command; what it has printed is answered after so long at the latest, and it goes on.
    Yield(Wanted, Duration),
    /// Something for a command that goes on.
    Write(Written),
    /// The end of a background job.
    Stop(JobId),
}

/// Something for a command that goes on.
#[derive(Debug, Clone)]
pub struct Written {
    /// The number that its answer gave.
    pub session: u64,
    /// What it reads; nothing only waits.
    pub chars: String,
    /// When what it has printed is answered, at the latest.
    pub wait: Duration,
}

/// One command, and how it is to be run.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The call.
    pub request: Request,
    /// It wants to be free of a sandbox, for this reason.
    pub escalation: Option<String>,
    /// So many bytes of its output are shown, instead of what the adapter's limits say.
    pub window: Option<usize>,
    /// It may take as long as is allowed.
    pub longest: bool,
    /// It runs on a terminal of this size, which takes what is written to it.
    pub terminal: Option<PtySize>,
    /// Where it goes on in the background: what it has printed after so long is in the answer.
    pub linger: Option<Duration>,
}

impl From<Request> for Wanted {
    fn from(request: Request) -> Self {
        Self {
            request,
            escalation: None,
            window: None,
            longest: false,
            terminal: None,
            linger: None,
        }
    }
}

/// What became of a call, as its layout is told.
#[derive(Debug)]
pub enum Done<'a> {
    /// Its fields are not those of the tool; nothing was started.
    Misread(&'a FieldError),
    /// It cannot be done; nothing was started.
    Invalid(&'a str),
    /// Commands were run, or refused, in this order.
    Ran(&'a [Ran]),
    /// The persistent shell was replaced.
    Restarted,
    /// A command has printed this since the last answer; it goes on, or has ended.
    Chunk(&'a Chunk),
    /// A background job was ended.
    Stopped(&'a Killed),
}

impl Done<'_> {
    /// What was wrong with the call, where something was.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Self::Misread(error) => Some(error.to_string()),
            Self::Invalid(error) => Some((*error).to_owned()),
            _ => None,
        }
    }

    /// For a layout whose tool has no plan that ends like this.
    pub(crate) fn unexpected(&self) -> Shown {
        Shown::error(format!("not an answer of this tool: {self:?}"))
    }
}

/// What a command has printed since the last answer.
#[derive(Debug)]
pub struct Chunk {
    /// Of this answer.
    pub id: String,
    /// How long it was waited for.
    pub waited: Duration,
    /// The number by which it is found again; `None` where it has ended.
    pub session: Option<u64>,
    /// What became of it, where it has ended.
    pub account: Option<Arc<Account>>,
    /// What it has printed.
    pub part: Part,
    /// It runs on a terminal.
    pub on_terminal: bool,
    /// Given where not all of the output is shown.
    pub keep: Keep,
}

/// One command that was run, or refused.
#[derive(Debug, Clone)]
pub struct Ran {
    /// What became of it.
    pub account: Arc<Account>,
    /// Its process group, where it was started.
    pub group: Option<u32>,
    /// What it has printed, as it came.
    pub part: Arc<Part>,
    /// What it has printed so far, where it goes on in the background and that was asked for.
    pub initial: Option<String>,
}

/// An answer as its layout wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// What the model reads.
    pub content: String,
    /// Whether the tool calls it an error.
    pub is_error: bool,
    /// The answer as the tool's programs take it, where it has such a form.
    pub structured: Option<Value>,
}

impl Shown {
    /// A text.
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            structured: None,
        }
    }

    /// A text that says what went wrong.
    pub fn error(content: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(content)
        }
    }
}
