//! The host's word on a command, before anything of it is started. The default allows everything.

use crate::pipeline::Call;
use crate::refusal::Refusal;
use crate::tool::Wiring;
use agent_bash_core::{Cancel, Request};
use agent_bash_policy::Verdict;
use async_trait::async_trait;
use std::path::Path;

/// Asked before a command is started. A host that asks a person does it in here: the call waits, and a cancelled call
/// stops waiting.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Allows or denies.
    async fn approve(&self, proposal: &Proposal<'_>) -> Approval;
}

/// What is about to be run.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// The script.
    pub command: &'a str,
    /// Where; absolute.
    pub cwd: &'a Path,
    /// The whole call.
    pub request: &'a Request,
    /// How the policy reads it. Never [`Verdict::Block`]: a blocked command is not proposed.
    pub reading: &'a Verdict,
}

/// A host's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// Run it.
    Allow,
    /// Do not. The call ends as `blocked` with rule [`crate::APPROVAL_RULE`].
    Deny {
        /// Shown to the model.
        reason: String,
    },
}

/// A host's no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Denied {
    /// As the host gave it.
    pub reason: String,
}

/// Allows everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }
}

/// Asks, for as long as the call is wanted.
pub(crate) async fn ask(
    tool: &Wiring,
    call: &Call,
    request: &Request,
    reading: &Verdict,
    cancel: &Cancel,
) -> Result<(), Refusal> {
    let proposal = Proposal {
        command: &request.command,
        cwd: &call.cwd,
        request,
        reading,
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Refusal::Cancelled),
        answer = tool.approver.approve(&proposal) => match answer {
            Approval::Allow => Ok(()),
            Approval::Deny { reason } => Err(Denied { reason }.into()),
        },
    }
}
