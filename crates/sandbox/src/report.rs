//! What a launcher says on its report socket before it becomes the shell: what is enforced, or why
//! nothing runs.

use agent_bash_core::sandbox::Report;
use serde::{Deserialize, Serialize};

/// What the launcher writes to its report socket, a line each. After `Ready` comes the end of the
/// file when the program runs, and otherwise one of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// The order is carried out and the program is about to start. With the report of the sandbox,
    /// if there is one.
    Ready(Option<Report>),
    /// What changes files waits from here on. The listener's descriptor comes with this message;
    /// the launcher goes on once its next such call was looked at.
    Watched,
    /// Nobody can watch, and why. It is started all the same.
    Unwatched(String),
    /// The program was not started because a trial is not possible, with the reason.
    NoTrial(String),
    /// The program was not started because this essential means is missing.
    Lacks(String),
    /// The program was not started, with the reason.
    Failed(String),
}
