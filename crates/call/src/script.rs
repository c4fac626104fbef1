//! Determines whether a shell read its script. The shell reads the file through a file offset that
//! it shares with the host, and a shell that cannot run its script appends the reason.
//!
//! Not here: the contents of the file, and how a shell reads it (`agent-bash-exec`,
//! `agent-bash-pty`).

use agent_bash_core::{NotStarted, RunSpec, Shell};
use rustix::fs::tell;
use std::os::fd::OwnedFd;

/// The byte that a shell appends to its script if it cannot enter its directory.
pub const NO_DIRECTORY_MARK: u8 = b'd';

/// The byte that a shell appends to its script if the shell is too old. The shell's version
/// follows.
pub const TOO_OLD_MARK: u8 = b'v';

/// The file from which a shell reads its script.
#[derive(Debug)]
pub struct ScriptFile {
    /// The host's descriptor of the file.
    pub file: OwnedFd,
    /// The file's length at the hand-over.
    pub length: u64,
    /// True if the shell reads through a file offset that it shares with the host.
    pub shares_offset: bool,
}

/// Why the shell ran nothing of the script.
#[derive(Debug)]
pub enum UnstartedReason {
    /// The shell ended before it read the script: another shell can run it.
    RefusedHandoff(RefusedHandoff),
    /// The script cannot be run with this specification.
    Refused(NotStarted),
}

/// The shell ended before it read the script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the script could not be handed to the shell: {reason}")]
pub struct RefusedHandoff {
    /// The observation that leads to this error.
    pub reason: String,
}

impl From<RefusedHandoff> for NotStarted {
    fn from(refused: RefusedHandoff) -> Self {
        Self::HandoffRefused {
            reason: refused.reason,
        }
    }
}

impl From<UnstartedReason> for NotStarted {
    fn from(unstarted: UnstartedReason) -> Self {
        match unstarted {
            UnstartedReason::RefusedHandoff(refused) => refused.into(),
            UnstartedReason::Refused(refused) => refused,
        }
    }
}

impl ScriptFile {
    /// Returns why an ended shell ran nothing of the script; `None` if it ran.
    pub fn unstarted(&self, spec: &RunSpec) -> Option<UnstartedReason> {
        if let Some(refusal) = self.refusal(spec) {
            return Some(UnstartedReason::Refused(refusal));
        }
        (self.shares_offset && tell(&self.file) == Ok(0)).then(|| {
            UnstartedReason::RefusedHandoff(RefusedHandoff {
                reason: "the shell ended before it read the script".to_owned(),
            })
        })
    }

    /// Returns the error that the shell appended to the script; `None` if it appended nothing.
    fn refusal(&self, spec: &RunSpec) -> Option<NotStarted> {
        let mut appended = [0; 64];
        let count = rustix::io::pread(&self.file, &mut appended, self.length).ok()?;
        match appended[..count].split_first()? {
            (&NO_DIRECTORY_MARK, []) => Some(no_directory(spec)),
            (&TOO_OLD_MARK, version) => Some(too_old(&spec.shell, version)),
            _ => None,
        }
    }
}

/// Returns the error for a directory that cannot be entered.
pub fn no_directory(spec: &RunSpec) -> NotStarted {
    NotStarted::Directory {
        path: spec.cwd.clone(),
    }
}

/// Returns the error for a bash that lacks a required feature (`mapfile -d`).
pub fn too_old(shell: &Shell, version: &[u8]) -> NotStarted {
    NotStarted::ShellTooOld {
        path: shell.path.clone(),
        version: String::from_utf8_lossy(version).into_owned(),
    }
}
