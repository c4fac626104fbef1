//! The record of a user's command in its session, and how a line is recognised as one.

use agent_bash_core::changes::Changes;
use agent_bash_core::{ArtifactRef, Notice, OutputSummary, Status, Survivor, Timestamp};
use serde::{Deserialize, Serialize};

/// A command that the user ran, as recorded in the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BangMessage {
    /// The command as typed, without the mark.
    pub command: String,
    /// The shown output, cleaned: the last 50 KB, with nothing around it.
    pub output: String,
    /// The command's exit code; 128 + n if signal n killed it. `None` if we ended it, or the code
    /// is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// True if it was cancelled or timed out.
    pub cancelled: bool,
    /// `output` is incomplete.
    pub truncated: bool,
    /// The full output, if it is not all shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
    /// When it started.
    pub time: Timestamp,
    /// Hidden from the model.
    pub excluded_from_context: bool,
    /// How it ended, exactly.
    pub status: Status,
    /// Counts of what was printed and what is shown.
    pub summary: OutputSummary,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// The shell's directory afterwards; if unknown, the one it started in.
    pub cwd: String,
    /// The change set, if one was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Processes that it started and that are still alive.
    pub survivors: Vec<Survivor>,
    /// The notices.
    pub notices: Vec<Notice>,
}

/// A line that is a command rather than text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BangLine {
    /// The command.
    pub command: String,
    /// `!!`: hidden from the model.
    pub excluded_from_context: bool,
}

/// Parses `!command` and `!!command`. `None` for anything else, including a mark without a command:
/// such lines are for the model.
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
    fn one_mark_or_two_make_a_command() {
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
