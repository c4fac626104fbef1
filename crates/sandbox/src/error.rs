//! Why there is no box.

use agent_bash_core::sandbox::Tier;
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// Why a process could not confine itself, or not be started confined. Nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A means that the box cannot be without.
    #[error("the sandbox needs {what}, which this system lacks")]
    Lacks {
        /// What is needed, such as "Landlock".
        what: Cow<'static, str>,
    },
    /// A step failed.
    #[error("the sandbox could not be set up: {step}: {error}")]
    Step {
        /// What was being done.
        step: String,
        /// The system's error.
        error: io::Error,
    },
    /// A promise that is not kept by the kernel although it accepted it.
    #[error("the sandbox does not hold: {what} was possible inside of it")]
    Untight {
        /// What was tried.
        what: &'static str,
    },
    /// A secret below what may be written, which this tier cannot take out.
    #[error(
        "{hidden} is to be hidden but is within {writable}, which may be written; the sandbox's tier `{tier:?}` cannot do both: take one of them away",
        hidden = .hidden.display(), writable = .writable.display()
    )]
    HiddenInWritable {
        /// The secret.
        hidden: PathBuf,
        /// What contains it.
        writable: PathBuf,
        /// The tier.
        tier: Tier,
    },
    /// Changes cannot be held back here, and why.
    #[error("a trial is not possible here: {0}")]
    NoTrial(String),
    /// The program was to be watched, and its launcher waits for that, but nobody can, and why.
    #[error("what it does to files cannot be watched: {0}")]
    Unwatched(String),
    /// The launcher was started in a way that only it itself would not be.
    #[error("the sandbox's launcher was started wrongly: {0}")]
    Start(&'static str),
    /// The program could not be executed in the box.
    #[error("{program} could not be started in the sandbox: {error}", program = .program.display())]
    Exec {
        /// The program.
        program: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// What the launcher itself said.
    #[error("{0}")]
    Reported(String),
    /// The launcher ended without saying why.
    #[error("the sandbox's launcher ended without a word; it may have been killed")]
    Silent,
}

impl SandboxError {
    /// The same of a trial, without which nothing is run either.
    pub(crate) fn into_no_trial(self) -> Self {
        match self {
            Self::Step { step, error } => Self::NoTrial(format!("{step}: {error}")),
            other => Self::NoTrial(other.to_string()),
        }
    }

    /// Something essential is missing.
    pub fn lacks(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Lacks { what: what.into() }
    }

    /// For `map_err`: a step that failed.
    pub(crate) fn step<E: Into<io::Error>>(step: impl Into<String>) -> impl FnOnce(E) -> Self {
        move |error| Self::Step {
            step: step.into(),
            error: error.into(),
        }
    }
}
