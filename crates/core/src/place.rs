//! The interface between a host and another machine on which its calls run.

use crate::{Cancel, Judged, NotStarted, OutputConsumer, ToolResult};
use async_trait::async_trait;
use serde_json::Value;
use std::path::PathBuf;

/// Another machine, on which judged calls run and where their jobs and outputs are.
///
/// What may run is decided before it is asked; it decides nothing. What it says is not to be trusted: an implementation
/// bounds it, and takes from it whatever would act on a terminal.
#[async_trait]
pub trait Place: Send + Sync + std::fmt::Debug {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// What the session is called there.
    fn session(&self) -> &str;

    /// The shell there, if it is known.
    fn shell(&self) -> Option<PathBuf>;

    /// Runs a call that was judged, and passes its output to `live` as it comes.
    ///
    /// # Errors
    /// [`NotRun`]. Whatever else happens is a result; that the place was lost while it ran, too.
    async fn run(
        &self,
        call: &Judged,
        live: Option<&mut dyn OutputConsumer>,
        cancel: &Cancel,
    ) -> Result<ToolResult, NotRun>;

    /// Asks for anything else, in the words of the JSON-lines protocol: jobs, outputs, files. `fields` is an object.
    ///
    /// # Errors
    /// Why there is no answer, as a sentence.
    async fn ask(&self, kind: &str, fields: Value, cancel: &Cancel) -> Result<Value, String>;

    /// Ends the way there; what runs is cancelled, jobs live on.
    async fn close(&self);
}

/// Nothing of a call has run at a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// It could not be, for this reason.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
    /// It was cancelled before it was sent.
    #[error("cancelled before it was started")]
    Cancelled,
}
