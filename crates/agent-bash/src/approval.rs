//! The host's word on a command, before anything of it is started. The default allows everything.

use agent_bash_core::{Request, visible};
use agent_bash_policy::Verdict;
use async_trait::async_trait;
use std::borrow::Cow;
use std::path::Path;

/// Asked before a command is started. A host that asks a person does it in here: the call waits, and a cancelled call
/// stops waiting.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Allows or denies.
    async fn approve(&self, proposal: &Proposal<'_>) -> Approval;

    /// Allows or denies a command that is to run free of any sandbox, for the reason that the model gives. Asked in place of
    /// [`Self::approve`]. A host that does not answer it denies.
    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        let _ = (proposal, reason);
        Approval::Deny {
            reason: NOBODY_TO_ASK.to_owned(),
        }
    }
}

/// What a call is told that wants more than it has, where nobody decides on it.
const NOBODY_TO_ASK: &str = "running with escalated permissions needs somebody's approval, and nobody is asked here; run it \
     without asking for them";

/// What is about to be run.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// The script, as bash would get it. To show it: [`Self::command_shown`].
    pub command: &'a str,
    /// Where; absolute.
    pub cwd: &'a Path,
    /// The whole call.
    pub request: &'a Request,
    /// How the policy reads it. Never [`Verdict::Block`]: a blocked command is not proposed.
    pub reading: &'a Verdict,
}

impl Proposal<'_> {
    /// The script as whoever decides may see it: what acts on a terminal or hides in it is marked.
    pub fn command_shown(&self) -> Cow<'_, str> {
        visible::shown(self.command)
    }
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
