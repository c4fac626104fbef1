//! The messages of a launcher on its report socket before it becomes the shell: the enforced
//! sandbox, or the reason why the program does not run.

use agent_bash_core::sandbox::Report;
use serde::{Deserialize, Serialize};

/// A message of the launcher, a line on its report socket. After `Ready`, the end of the file means
/// that the program runs; another message means that the program does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LauncherMessage {
    /// The order is carried out and the program is about to start. The value is the report of the
    /// sandbox, if there is one.
    Ready(Option<Report>),
    /// The descriptor of this message lists the Unix sockets of the sandbox's network.
    SocketTable,
    /// From now on, system calls that change files wait for the listener, whose descriptor comes
    /// with this message. The launcher makes such a system call next, and so waits for the
    /// listener.
    Traced,
    /// The program cannot be traced, for this reason, and is started all the same.
    Untraced(String),
    /// The program was not started because a trial is not possible, with the reason.
    NoTrial(String),
    /// The program was not started because the system lacks this facility.
    Lacks(String),
    /// The program was not started, with the reason.
    Failed(String),
}
