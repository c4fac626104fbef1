//! What a launcher says on its report pipe before it becomes the shell: what is enforced, or why nothing runs.

use agent_bash_core::sandbox::Report;
use serde::{Deserialize, Serialize};

/// What the launcher writes to its report pipe, a line each. After `Ready` comes the end of the file when the
/// program runs, and otherwise one of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// What was ordered is so; the program is about to start. With what is enforced by its box, if it is in one.
    Ready(Option<Report>),
    /// What changes files waits from here on. This descriptor of the launcher's is that of the listener, for whoever reads
    /// this to take; the launcher goes on once its next such call was looked at.
    Watched(i32),
    /// Nobody can watch, and why. It is started all the same.
    Unwatched(String),
    /// The program was not started, since its changes cannot be held back, and why.
    NoTrial(String),
    /// The program was not started, since the box cannot be without this, which the system lacks.
    Lacks(String),
    /// The program was not started, and why.
    Failed(String),
}
