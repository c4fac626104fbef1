//! The record of a bang command, and the parser of a line with such a command.

mod text;

use crate::wording::shell_code;
use agent_bash_core::changes::Changes;
use agent_bash_core::{ArtifactRef, Notice, OutputSummary, Status, Survivor, Timestamp};
use serde::{Deserialize, Serialize};

/// A bang command that has ended, as the conversation records the command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BangMessage {
    /// The command as typed, without `!` or `!!`.
    pub command: String,
    /// The shown output: the last 50 KB, cleaned, without lines of agent-bash.
    pub output: String,
    /// The command's exit code; 128 + n if signal n killed the command. `None` if the command was
    /// cancelled or timed out, or if the code is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// True if the command was cancelled or timed out.
    pub cancelled: bool,
    /// True if `output` is incomplete.
    pub truncated: bool,
    /// The artifact with the full output, if `output` is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
    /// The time at which the command started.
    pub time: Timestamp,
    /// True if the message is hidden from the model.
    pub excluded_from_context: bool,
    /// How the command ended.
    pub status: Status,
    /// The numbers of bytes and lines of the printed output, and of the shown output.
    pub summary: OutputSummary,
    /// The duration, in milliseconds.
    pub duration_ms: f64,
    /// The shell's directory after the command; if unknown, the directory before it.
    pub cwd: String,
    /// The change set, if one was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Processes of the command that are still alive.
    pub survivors: Vec<Survivor>,
    /// The notices about the command.
    pub notices: Vec<Notice>,
}

impl BangMessage {
    /// Returns the record of a command without output.
    pub fn new(command: String, status: Status, time: Timestamp) -> Self {
        Self {
            command,
            output: String::new(),
            exit_code: shell_code(&status),
            cancelled: matches!(status, Status::Cancelled | Status::TimedOut { .. }),
            truncated: false,
            artifact: None,
            time,
            excluded_from_context: false,
            status,
            summary: OutputSummary::default(),
            duration_ms: 0.0,
            cwd: String::new(),
            changes: None,
            survivors: Vec::new(),
            notices: Vec::new(),
        }
    }
}

/// A line that is a command rather than text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BangLine {
    /// The command.
    pub command: String,
    /// True for `!!`: the command is hidden from the model.
    pub excluded_from_context: bool,
}

/// Parses `!command` and `!!command`. Returns `None` for a line for the model: any other line, also
/// a mark without a command.
pub fn parse_bang(line: &str) -> Option<BangLine> {
    let rest = line.trim().strip_prefix('!')?;
    let (command, excluded_from_context) = match rest.strip_prefix('!') {
        Some(command) => (command, true),
        None => (rest, false),
    };
    let command = command.trim();
    (!command.is_empty()).then(|| BangLine {
        command: command.to_owned(),
        excluded_from_context,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_bang_accepts_one_or_two_marks() {
        for (line, want) in [
            ("!ls", Some(("ls", false))),
            ("! ls -la ", Some(("ls -la", false))),
            ("!!git status", Some(("git status", true))),
            ("  !ls", Some(("ls", false))),
            ("!echo a\necho b", Some(("echo a\necho b", false))),
            ("!!!x", Some(("!x", true))),
            ("!", None),
            ("!!", None),
            ("!!  ", None),
            ("ls", None),
            ("look! !ls", None),
            ("", None),
        ] {
            let want = want.map(|(command, excluded_from_context)| BangLine {
                command: command.to_owned(),
                excluded_from_context,
            });
            assert_eq!(parse_bang(line), want, "{line:?}");
        }
    }
}
