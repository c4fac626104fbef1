//! The reasons why a target could not be reached.

use std::time::Duration;

/// A target was not reached. On the remote host, at most the script that looks for this program has
/// run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the target `{target}` was not reached: {what}{}", stderr_text(stderr))]
pub struct NotReached {
    /// The target's name.
    pub target: String,
    /// The obstacle.
    pub what: Obstacle,
    /// The end of the transport's stderr, without control sequences.
    pub stderr: String,
}

/// The reason why a target was not reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The transport's program cannot be started.
    #[error("`{program}` could not be started ({reason}); install it, or name another transport")]
    NoTransport {
        /// The program's name.
        program: String,
        /// The system's error.
        reason: String,
    },
    /// The transport ended before any output.
    #[error("the connection ended before the target answered")]
    Ended,
    /// No complete answer arrived in time.
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// Too much output arrived before the first message of the script. Contains the limit in bytes.
    #[error("it printed more than {} KiB before it answered; shorten what its login prints", .0 / 1024)]
    TooMuchOutput(usize),
    /// The script printed an unknown message.
    #[error("it sent the unknown message `{0}`")]
    UnknownAnswer(String),
    /// This program is built for another architecture than the remote host's.
    #[error(
        "it is a `{machine}` machine, and the program to upload is for `{ours}`; name one for it as `program` in [targets.NAME]"
    )]
    OtherArchitecture {
        /// The machine that `uname -m` reports on the remote host.
        machine: String,
        /// The architecture of the local program.
        ours: String,
    },
    /// The remote host has no directory from which this program can run.
    #[error(
        "it has no directory from which this user can run a program (noexec, read-only, or no home); name one as \
         `directory`"
    )]
    NoDirectory,
    /// This program is missing on the remote host, and uploads are disabled.
    #[error("agent-bash is missing there, and `install` is off")]
    Missing,
    /// This program could not be written on the remote host.
    #[error("agent-bash could not be written into `{0}`: is the disk full?")]
    Unwritten(String),
    /// This program did not arrive completely.
    #[error(
        "only {received} of the {length} bytes of agent-bash arrived there: the connection was cut, or the disk is full"
    )]
    Incomplete {
        /// The number of bytes that arrived.
        received: String,
        /// The program's length in bytes.
        length: u64,
    },
    /// The uploaded program has another hash.
    #[error("agent-bash arrived there with another hash than it has here")]
    Damaged,
    /// The upload took too long.
    #[error("agent-bash could not be uploaded within {} s", .0.as_secs())]
    SlowUpload(Duration),
    /// The remote program ended before it answered.
    #[error("agent-bash did not start there{}", if *is_static { "" } else {
        "; it needs the libc that this machine has: upload one that is linked statically"
    })]
    NotStarted {
        /// True if the program includes its own libc.
        is_static: bool,
    },
    /// The remote host answered, but lacks a requirement.
    #[error("{0}")]
    Unsuitable(String),
    /// The local program that is to be uploaded cannot be read.
    #[error("{0}")]
    Program(String),
    /// A local step of the connection failed.
    #[error("{0}")]
    Local(String),
}

/// Returns stderr on lines of its own; empty without stderr.
fn stderr_text(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("\n{stderr}")
    }
}
