//! The interface between a host and a remote host that runs its calls.

use crate::{Cancel, NotStarted, OutputConsumer, PolicyFindings, ToolResult};
use async_trait::async_trait;
use serde_json::Value;
use std::path::PathBuf;

/// A remote host that runs calls and holds their jobs and outputs.
///
/// The policy of the local host decides what may run. Data from the remote host is untrusted: an
/// implementation bounds its size and removes control sequences.
#[async_trait]
pub trait RemoteHost: Send + Sync + std::fmt::Debug {
    /// Returns the remote host's name for the user.
    fn name(&self) -> &str;

    /// Returns the name of the state directory on the remote host.
    fn state_directory(&self) -> &str;

    /// Returns the shell of the remote host, if it is known.
    fn shell(&self) -> Option<PathBuf>;

    /// Sets the name of the turn to which the following calls belong, for their change sets.
    fn set_turn(&self, name: String);

    /// Runs a call that passed the policy, and passes its output to `live` as it arrives.
    ///
    /// # Errors
    /// [`NotRun`]: nothing was started. Everything else is a result, including a connection that
    /// was cut.
    async fn run(
        &self,
        call: &PolicyFindings,
        live: Option<&mut dyn OutputConsumer>,
        cancel: &Cancel,
    ) -> Result<ToolResult, NotRun>;

    /// Sends a request of the JSON-lines protocol, for jobs, outputs or files. `fields` is a JSON
    /// object.
    ///
    /// # Errors
    /// The reason why no answer was received, as a sentence.
    async fn ask(&self, kind: &str, fields: Value, cancel: &Cancel) -> Result<Value, String>;

    /// Closes the connection. Running calls are cancelled; jobs continue.
    async fn close(&self);
}

/// The reason why a call was not started on the remote host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// The call could not be started.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
    /// The call was cancelled before it was sent.
    #[error("cancelled before it was started")]
    Cancelled,
}
