//! The error for a supervisor, or a shell below it, that did not start.

use super::receive::Disconnected;
use crate::supervisor::protocol::Event;
use agent_bash_core::NotStarted;
use rustix::process::Resource;
use std::io;

/// The reason why a supervisor, or its shell, did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system could not start the supervisor.
    #[error("the supervisor could not be started: {0}")]
    Spawn(#[source] io::Error),
    /// The supervisor did not answer.
    #[error(
        "the supervisor did not answer within five seconds; does its program call `supervisor::init()` at the top of `main`?"
    )]
    NoHello,
    /// The supervisor ended before it answered.
    #[error("the supervisor ended before it answered ({0})")]
    EndedEarly(std::process::ExitStatus),
    /// The system refuses a facility that the supervisor needs.
    #[error("the supervisor cannot work here: {0}")]
    CannotServe(String),
    /// The supervisor has another version of this crate.
    #[error("the supervisor is of another version; restart this program")]
    OtherVersion,
    /// The supervisor ended before it had started a shell.
    #[error("the supervisor ended before the shell was started")]
    Disconnected,
    /// The shell could not be started.
    #[error("the shell could not be started: {0}")]
    Shell(String),
    /// The system lacks this facility, which the sandbox needs, so nothing was started.
    #[error("the sandbox needs {0}, which this system lacks")]
    SandboxLacks(String),
    /// The sandbox could not be enforced, so nothing was started.
    #[error("{0}")]
    Sandbox(String),
    /// The shell's changes cannot be recorded, so nothing was started.
    #[error("the shell's changes cannot be recorded: {0}")]
    NoTrace(String),
    /// A trial is not possible, so nothing was started.
    #[error("a trial is not possible here: {0}")]
    NoTrial(String),
}

impl StartError {
    /// Returns why no shell was started, if the event says that.
    pub(super) fn in_event(event: Event) -> Option<Self> {
        Some(match event {
            Event::SandboxLacks { what } => Self::SandboxLacks(what),
            Event::SandboxFailed { reason } => Self::Sandbox(reason),
            Event::NoTrial { reason } => Self::NoTrial(reason),
            Event::NoTrace { reason } => Self::NoTrace(reason),
            Event::StartFailed { reason } => Self::Shell(reason),
            Event::CannotServe { reason } => Self::CannotServe(reason),
            _ => return None,
        })
    }
}

impl From<StartError> for NotStarted {
    fn from(error: StartError) -> Self {
        match error {
            StartError::SandboxLacks(what) => Self::SandboxLacks { what },
            StartError::Sandbox(reason) => Self::Sandbox { reason },
            StartError::NoTrial(reason) => Self::Trial { reason },
            StartError::NoTrace(reason) => Self::Untraced { reason },
            StartError::Disconnected => {
                let limit = rustix::process::getrlimit(Resource::Nofile).current;
                Self::new(format!("{error}{}", few_files(limit)))
            }
            other => Self::new(other.to_string()),
        }
    }
}

/// Names the limit of open files if it is probably too low: messages then lose their descriptors,
/// which ends the connection.
fn few_files(limit: Option<u64>) -> String {
    const ENOUGH_FILES: u64 = 64;
    let few = limit.filter(|limit| *limit < ENOUGH_FILES);
    few.map_or_else(String::new, |limit| {
        format!("; at most {limit} files can be open (`ulimit -n`), which is probably too few")
    })
}

impl From<Disconnected> for StartError {
    fn from(_: Disconnected) -> Self {
        Self::Disconnected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_limit_of_open_files_is_named() {
        assert!(few_files(Some(20)).contains("at most 20 files"));
        assert_eq!(few_files(Some(1024)) + &few_files(None), "");
    }
}
