//! What a launcher says on its report pipe before it becomes the shell: what is enforced, or why there is no box.

use agent_bash_core::sandbox::Report;
use serde::{Deserialize, Serialize};

/// What the launcher writes to its report pipe, a line each. After `Enforced` comes the end of the file when the
/// program runs, and otherwise `Failed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// The box is closed; the program is about to start.
    Enforced(Report),
    /// The program was not started, and why.
    Failed(String),
}
