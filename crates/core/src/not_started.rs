//! The reasons why a script was not started, as data. Only this file contains their texts.

use std::ffi::OsString;
use std::path::PathBuf;

/// The reason why a script was not started. Its text is a lower-case fragment with the offending
/// value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotStarted {
    /// The shell that the user or the host named cannot be run.
    #[error("shell `{}` is not an executable file", path.display())]
    ShellUnusable {
        /// The path as named.
        path: PathBuf,
    },
    /// The shell that the user or the host named does not read the language of scripts.
    #[error("shell `{}` is not a POSIX shell; name bash, zsh, dash, ksh or BusyBox's ash, or no shell at all", path.display())]
    ShellUnsupported {
        /// The path as named.
        path: PathBuf,
    },
    /// The shell that the user or the host named is a link to this program.
    #[error("shell `{}` is this program itself; name a shell such as /bin/bash", path.display())]
    ShellIsThisProgram {
        /// The path as named.
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
        /// The shell's path.
        path: PathBuf,
        /// The version that it reports.
        version: String,
    },
    /// The directory does not exist, is not a directory, or cannot be entered.
    #[error("`{}` could not be entered", path.display())]
    Directory {
        /// The directory's path.
        path: PathBuf,
    },
    /// The current directory of a session's shell no longer exists or cannot be entered.
    #[error("the session was in `{}`, which was removed or cannot be entered; its next command runs in `{}`", was.display(), next.display())]
    SessionDisplaced {
        /// The former directory of the session.
        was: PathBuf,
        /// The directory in which the session's next command runs.
        next: PathBuf,
    },
    /// Sessions are for bash only.
    #[error("a session needs bash, and the shell is `{}`; leave `session` out", shell.display())]
    SessionNeedsBash {
        /// The shell's path.
        shell: PathBuf,
    },
    /// A running shell cannot set this variable.
    #[error("a running session cannot take the variable `{}` from `env`; set it in the command, or leave `session` out", name.display())]
    SessionVariable {
        /// The variable's name.
        name: OsString,
    },
    /// The shell of a session could not be started.
    #[error("the session's shell could not be started: {reason}")]
    SessionShell {
        /// The error.
        reason: String,
    },
    /// Neither the session's shell nor a new shell read the script.
    #[error("neither the session's shell nor a new shell read the script: {reason}")]
    SessionHandoffRefused {
        /// The observation.
        reason: String,
    },
    /// A job with a stdin pipe needs bash.
    #[error("`stdin: pipe` is for jobs that bash runs, and the shell is `{}`; leave `stdin` out", shell.display())]
    JobNeedsBash {
        /// The shell's path.
        shell: PathBuf,
    },
    /// A job outlives its host, so it needs a supervisor, and no supervisor could be started.
    #[error("a background job outlives its host, which needs a supervisor: {reason}")]
    JobNeedsSupervisor {
        /// Why no supervisor could be started.
        reason: String,
    },
    /// The shell ended, or did not respond, before it took the script.
    #[error("the script could not be handed to the shell: {reason}")]
    HandoffRefused {
        /// The observation.
        reason: String,
    },
    /// The terminal for the command failed. `docs/contract.md` fixes the error's text.
    #[error("PTY error: {reason}")]
    Terminal {
        /// The error.
        reason: String,
    },
    /// An essential means of the sandbox is missing.
    #[error("the sandbox needs {what}, which this system lacks")]
    SandboxLacks {
        /// The missing means, such as "Landlock".
        what: String,
    },
    /// The sandbox could not be set up, or does not hold.
    #[error("{reason}")]
    Sandbox {
        /// The observation.
        reason: String,
    },
    /// A trial is not possible.
    #[error("a trial is not possible here: {reason}")]
    Trial {
        /// The reason.
        reason: String,
    },
    /// The changes of the call must be recorded
    /// ([`RunSpec::needs_trace`](crate::RunSpec::needs_trace)), which is not possible here. The
    /// pipeline then runs the call without a record.
    #[error("the changes of the command cannot be recorded: {reason}")]
    Untraced {
        /// The reason.
        reason: String,
    },
    /// Another error, for example of the system or of a host's own executor.
    #[error("{reason}")]
    Other {
        /// A lower-case sentence fragment with the offending value.
        reason: String,
    },
}

impl NotStarted {
    /// Returns [`Self::Other`]; `reason` is a lower-case sentence fragment.
    pub fn new(reason: impl Into<String>) -> Self {
        Self::Other {
            reason: reason.into(),
        }
    }
}
