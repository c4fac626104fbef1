//! The reasons why a call has no snapshot.

use agent_bash_core::short_duration;
use agent_bash_process::supervisor::StartError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The reason why a call has no snapshot.
#[derive(Debug, thiserror::Error)]
pub(super) enum SkipReason {
    #[error("`{rc}` cannot be read: {source}", rc = rc.display())]
    Unreadable { rc: PathBuf, source: io::Error },
    #[error("reading `{rc}` takes longer than {limit}; calls run without the file until it has been read", rc = rc.display(), limit = short_duration(*limit))]
    Slow { rc: PathBuf, limit: Duration },
    #[error("the shell that read `{rc}` ended or became another program before it reported its definitions ({how})", rc = rc.display())]
    NoReport { rc: PathBuf, how: String },
    #[error("the configuration defines more than 4 MiB")]
    TooLong,
    #[error("the shell that read the configuration could not be ended")]
    Stuck,
    #[error("`{rc}` is read in a sandbox only, and that cannot be started: {reason}", rc = rc.display())]
    NoSandbox { rc: PathBuf, reason: String },
    #[error("{0}")]
    Start(#[from] StartError),
    #[error("the definitions could not be transferred: {0}")]
    Transfer(io::Error),
    #[error("cannot write a file in `{directory}`: {source}", directory = directory.display())]
    NotStored {
        directory: PathBuf,
        source: io::Error,
    },
}
