//! What is kept of a session, by the names that its texts give it: artifacts by number, link or path, the outputs of jobs
//! by path.

use agent_bash::Session;
use agent_bash::exec::Jobs;
use agent_bash::sink::{FileView, LookupError, open_artifact};
use std::path::Path;
use std::sync::Arc;

/// Why nothing can be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeptError {
    /// There is no such artifact; in fixed words.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A path that is none of ours. Other files are for commands to read.
    #[error("{0} is neither an artifact nor the output of a job of this session")]
    Foreign(String),
    /// A file that is gone.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is no place for jobs.
    #[error("background jobs are not kept here: set HOME or AGENT_BASH_STATE_DIR")]
    NoJobs,
}

/// Opens what `3`, `artifact://3` or a path names.
pub(crate) fn open(session: &Session, name: &str) -> Result<FileView, KeptError> {
    let artifacts = session.artifacts().map(Arc::as_ref);
    if !name.starts_with('/') {
        return Ok(open_artifact(artifacts, name)?);
    }
    let path = Path::new(name);
    if let Some((artifacts, info)) = artifacts.and_then(|dir| Some((dir, dir.find(path)?))) {
        return Ok(artifacts.open(info.artifact.id)?);
    }
    let jobs = session.jobs().and_then(|jobs| jobs.list().ok());
    let is_jobs = jobs
        .into_iter()
        .flatten()
        .any(|job| job.output.as_deref() == Some(path));
    if !is_jobs {
        return Err(KeptError::Foreign(name.to_owned()));
    }
    FileView::open(path).map_err(|source| KeptError::Unreadable {
        path: name.to_owned(),
        source,
    })
}

/// The session's jobs.
pub(crate) fn jobs(session: &Session) -> Result<&Arc<Jobs>, KeptError> {
    session.jobs().ok_or(KeptError::NoJobs)
}
