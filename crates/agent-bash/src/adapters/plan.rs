//! Between an adapter's tool and the pipeline: what a call asks for, and what its layout is told of what became of it.

use crate::Account;
use agent_bash_core::{Request, SessionName};
use serde_json::Value;
use std::sync::Arc;

/// What a call of an adapter's tool asks for.
#[derive(Debug, Clone)]
pub enum Plan {
    /// These commands, one after the other. After one that timed out or was called off none is started.
    Run(Vec<Wanted>),
    /// Another shell in place of the persistent one.
    Restart(SessionName),
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
}

impl From<Request> for Wanted {
    fn from(request: Request) -> Self {
        Self {
            request,
            escalation: None,
            window: None,
        }
    }
}

/// What became of a call, as its layout is told.
#[derive(Debug)]
pub enum Done<'a> {
    /// It was not understood, or there is nothing to do it with; nothing was started.
    Invalid(&'a str),
    /// Commands were run, or refused, in this order.
    Ran(&'a [Ran]),
    /// The persistent shell was replaced.
    Restarted,
}

/// One command that was run, or refused.
#[derive(Debug, Clone)]
pub struct Ran {
    /// What became of it.
    pub account: Arc<Account>,
    /// Its process group, where it was started.
    pub group: Option<u32>,
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
