//! Opens stored output by the names that results use: artifacts by number, link or path, and job
//! output by path.

use agent_bash::Conversation;
use agent_bash::exec::Jobs;
use agent_bash::sink::{FileView, LookupError, open_artifact};
use std::path::Path;
use std::sync::Arc;

/// The error for requests about change sets of a remote host.
pub(crate) const NO_TARGET_CHANGES: &str = "the change sets of a target are stored on the target; use `changes.*` of RPC, or run `agent-bash changes` there";

/// The reason why stored output cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoredOutputError {
    /// There is no such artifact. The contract fixes the text.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The path does not belong to an artifact or a job. A client reads other files with commands.
    #[error("{0} is neither an artifact nor the output of a job of this session")]
    Foreign(String),
    /// The file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file's path.
        path: String,
        /// The error.
        source: std::io::Error,
    },
    /// The session has no directory for jobs.
    #[error("this host has no directory for background jobs: set HOME or AGENT_BASH_STATE_DIR")]
    NoJobs,
}

/// Opens the output that `3`, `artifact://3` or a path names.
pub(crate) fn open(session: &Conversation, name: &str) -> Result<FileView, StoredOutputError> {
    let mask = session.tool().output_mask().cloned();
    Ok(open_unmasked(session, name)?.masked(mask))
}

fn open_unmasked(session: &Conversation, name: &str) -> Result<FileView, StoredOutputError> {
    let artifacts = session.artifacts().map(Arc::as_ref);
    if !name.starts_with('/') {
        return Ok(open_artifact(artifacts, name)?);
    }
    let path = Path::new(name);
    if let Some((artifacts, info)) = artifacts.and_then(|dir| Some((dir, dir.find(path)?))) {
        return Ok(artifacts.open(info.artifact.id)?);
    }
    let jobs = session.jobs().and_then(|jobs| jobs.list().ok());
    let is_job_output = jobs
        .into_iter()
        .flatten()
        .any(|job| job.output.as_deref() == Some(path));
    if !is_job_output {
        return Err(StoredOutputError::Foreign(name.to_owned()));
    }
    FileView::open(path).map_err(|source| StoredOutputError::Unreadable {
        path: name.to_owned(),
        source,
    })
}

/// Returns the session's jobs.
pub(crate) fn jobs(session: &Conversation) -> Result<&Arc<Jobs>, StoredOutputError> {
    session.jobs().ok_or(StoredOutputError::NoJobs)
}
