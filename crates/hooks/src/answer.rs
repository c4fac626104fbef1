//! The output of a hook's process.

use serde_json::Value;

/// The exit code that blocks a call in every agent; the reason is on stderr.
pub const BLOCKED_EXIT_CODE: u8 = 2;

/// The output and exit code of the hook's process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookAnswer {
    /// The answer in the agent's format; empty for a silent answer, or if the answer is on stderr.
    pub stdout: String,
    /// The reason, if the exit code blocks the call.
    pub stderr: String,
    /// 0, or [`BLOCKED_EXIT_CODE`] if the answer is on stderr.
    pub exit_code: u8,
}

impl HookAnswer {
    /// Returns the answer without an opinion: the agent continues as if there were no hook.
    pub(super) fn silent() -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: 0,
        }
    }

    /// Returns the answer that prints this value.
    pub(super) fn json(output: &Value) -> Self {
        Self {
            stdout: format!("{output}\n"),
            ..Self::silent()
        }
    }
}
