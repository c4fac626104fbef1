//! Errors of the sandbox.

use agent_bash_core::sandbox::Tier;
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// The reason why a process could not enter a sandbox. The program was not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The system lacks a facility that the sandbox needs.
    #[error("the sandbox needs {what}, which this system lacks")]
    Lacks {
        /// The missing facility, such as "Landlock".
        what: Cow<'static, str>,
    },
    /// A step failed.
    #[error("the sandbox could not be set up: {step}: {error}")]
    Step {
        /// The step.
        step: String,
        /// The system's error.
        error: io::Error,
    },
    /// The kernel accepted a restriction and does not enforce it.
    #[error("the sandbox does not hold: {what} was possible inside of it")]
    Untight {
        /// The forbidden operation that succeeded.
        what: &'static str,
    },
    /// A secret is inside a writable directory, and this tier cannot exclude it.
    #[error(
        "{hidden} is to be hidden but is within {writable}, which may be written; the sandbox's tier `{tier:?}` cannot do both: name the hidden path in `readable`, or remove the writable path from the settings",
        hidden = .hidden.display(), writable = .writable.display()
    )]
    HiddenInWritable {
        /// The secret.
        hidden: PathBuf,
        /// The writable directory that contains it.
        writable: PathBuf,
        /// The tier.
        tier: Tier,
    },
    /// A writable path of the plan is reached through a link.
    #[error(
        "{path} was replaced by a symbolic link while the sandbox was set up; a sandboxed call may have done that",
        path = .0.display()
    )]
    Replaced(PathBuf),
    /// A trial is not possible. The text is the reason.
    #[error("a trial is not possible here: {0}")]
    NoTrial(String),
    /// The program cannot be traced. The text is the reason. The launcher of the program waits for
    /// a tracer.
    #[error("its changes to files cannot be recorded: {0}")]
    Untraced(String),
    /// The launcher has an invalid command line.
    #[error("the sandbox's launcher was started wrongly: {0}")]
    Start(&'static str),
    /// The program could not be executed in the sandbox.
    #[error("{program} could not be started in the sandbox: {error}", program = .program.display())]
    Exec {
        /// The program.
        program: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The error that the launcher reported.
    #[error("{0}")]
    Reported(String),
    /// The launcher ended without a report.
    #[error("the sandbox's launcher ended without a report; it may have been killed")]
    Silent,
}

impl SandboxError {
    /// Converts the error to [`Self::NoTrial`].
    pub(crate) fn into_no_trial(self) -> Self {
        match self {
            Self::Step { step, error } => Self::NoTrial(format!("{step}: {error}")),
            other => Self::NoTrial(other.to_string()),
        }
    }

    /// Returns the error for a missing facility.
    pub fn missing_facility(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Lacks { what: what.into() }
    }

    /// Returns a function for `map_err` that names the failed step.
    pub(crate) fn step<E: Into<io::Error>>(step: impl Into<String>) -> impl FnOnce(E) -> Self {
        move |error| Self::Step {
            step: step.into(),
            error: error.into(),
        }
    }
}
