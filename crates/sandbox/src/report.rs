//! The messages of a launcher before it becomes the shell: what is enforced, or why nothing runs.

use agent_bash_core::sandbox::Report;
use serde::{Deserialize, Serialize};

/// The messages on the report pipe, one per line. After `Ready` comes the end of the file if the
/// program runs, otherwise one of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// The order is carried out and the program is about to start. With the report of the sandbox,
    /// if there is one.
    Ready(Option<Report>),
    /// The trace has begun. The descriptor is the launcher's number of the listener, which the
    /// reader must take over. The launcher continues once its next traced call was inspected.
    Watched(i32),
    /// Tracing is not possible, with the reason. The program starts all the same.
    Unwatched(String),
    /// The program was not started because a trial is not possible, with the reason.
    NoTrial(String),
    /// The program was not started because this essential means is missing.
    Lacks(String),
    /// The program was not started, with the reason.
    Failed(String),
}
