//! Why nothing of a script has run, as data. The sentence is made here, and nowhere else.

use std::ffi::OsString;
use std::path::PathBuf;

/// Nothing of the script has run, for this reason. Its text is a lower-case fragment with the offending value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotStarted {
    /// The shell that the user or the host named cannot be run.
    #[error("shell `{}` is not an executable file", path.display())]
    ShellUnusable {
        /// Its path, as named.
        path: PathBuf,
    },
    /// The system has no bash.
    #[error("no `bash` on PATH, in /bin or in /usr/bin")]
    NoBash,
    /// The system has no shell at all.
    #[error("neither `bash` nor `sh` on PATH, in /bin or in /usr/bin")]
    NoShell,
    /// The shell is a bash that lacks a required feature (`mapfile -d`).
    #[error("bash 4.4 or later is needed, and `{}` is {version}; name another as the shell", path.display())]
    ShellTooOld {
        /// Its path.
        path: PathBuf,
        /// Its version, as it said.
        version: String,
    },
    /// The directory is gone, no directory, or forbidden.
    #[error("`{}` could not be entered", path.display())]
    Directory {
        /// Its path.
        path: PathBuf,
    },
    /// A session's shell was left in a directory that is gone.
    #[error("the session was in `{}`, which is gone or cannot be entered; its next command runs in `{}`", was.display(), next.display())]
    SessionDisplaced {
        /// Where the session was.
        was: PathBuf,
        /// Where its next command runs.
        next: PathBuf,
    },
    /// Sessions are for bash only.
    #[error("a session needs bash, and the shell is `{}`; leave `session` out", shell.display())]
    SessionNeedsBash {
        /// The shell's path.
        shell: PathBuf,
    },
    /// A shell that already runs cannot be given this variable.
    #[error("a running session cannot take the variable `{}` from `env`; set it in the command, or leave `session` out", name.display())]
    SessionVariable {
        /// Its name.
        name: OsString,
    },
    /// The shell of a session could not be started.
    #[error("the session's shell could not be started: {reason}")]
    SessionShell {
        /// The error.
        reason: String,
    },
    /// The shell of a session took no script, and a new one neither.
    #[error("the session's shell does not take its script, and a new one did not either: {reason}")]
    SessionTakesNothing {
        /// What was observed.
        reason: String,
    },
    /// A job that can be written to is for bash only.
    #[error("`stdin: pipe` is for jobs that bash runs, and the shell is `{}`; leave `stdin` out", shell.display())]
    JobNeedsBash {
        /// The shell's path.
        shell: PathBuf,
    },
    /// A job outlives its host, so that it needs a supervisor, and there is none.
    #[error("a background job outlives its host, which needs a supervisor: {reason}")]
    JobNeedsSupervisor {
        /// Why there is none.
        reason: String,
    },
    /// The shell ended, or did not respond, before it took the script.
    #[error("the script could not be handed to the shell: {reason}")]
    HandoffRefused {
        /// What was observed.
        reason: String,
    },
    /// The terminal for the command failed; docs/contract.md fixes the text.
    #[error("PTY error: {reason}")]
    Terminal {
        /// The error.
        reason: String,
    },
    /// The call was to run in a box, and something that a box cannot be without is missing.
    #[error("the sandbox needs {what}, which this system lacks")]
    SandboxLacks {
        /// What is needed, such as "Landlock".
        what: String,
    },
    /// The box could not be made, or does not hold.
    #[error("{reason}")]
    Sandbox {
        /// What was observed.
        reason: String,
    },
    /// The call's changes were to be held back, which cannot be done here.
    #[error("a trial is not possible here: {reason}")]
    Trial {
        /// Why.
        reason: String,
    },
    /// Anything else, such as an error of the system or of a host's own executor.
    #[error("{reason}")]
    Other {
        /// A lower-case sentence fragment with the offending value.
        reason: String,
    },
}

impl NotStarted {
    /// [`Self::Other`]; `reason` is a lower-case sentence fragment.
    pub fn new(reason: impl Into<String>) -> Self {
        Self::Other {
            reason: reason.into(),
        }
    }
}
