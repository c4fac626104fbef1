//! What a user's command leaves on the record of its session, and how a line is known to be one.

use agent_bash_core::{ArtifactRef, Notice, OutputSummary, Status, Survivor, Timestamp};
use serde::{Deserialize, Serialize};

/// A command that the user has run, as it is recorded on the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BangMessage {
    /// As it was typed, without the mark.
    pub command: String,
    /// What is shown of what it printed, clean: the last 50 KB. Nothing is put around it.
    pub output: String,
    /// The command's own; 128 + n if signal n ended it. `None` where it was ended from outside, or nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// It was called off, or its time was up.
    pub cancelled: bool,
    /// `output` is not all that it printed.
    pub truncated: bool,
    /// All that it printed, where that is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
    /// When it was started.
    pub time: Timestamp,
    /// The model does not get to see it.
    pub excluded_from_context: bool,
    /// How it ended, exactly.
    pub status: Status,
    /// What was printed and what of it is shown, counted.
    pub summary: OutputSummary,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// The directory in which the shell is after it; where that is not known, the one it was started in.
    pub cwd: String,
    /// Processes that it started and that still live.
    pub survivors: Vec<Survivor>,
    /// What else is worth knowing.
    pub notices: Vec<Notice>,
}

/// A line that asks for a command instead of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bang {
    /// The command.
    pub command: String,
    /// `!!`: the model does not get to see it.
    pub excluded_from_context: bool,
}

/// Reads `!command` and `!!command`. `None` for anything else: the line is meant for the model. A mark without a command
/// is such a line, too.
pub fn parse_bang(line: &str) -> Option<Bang> {
    let rest = line.trim().strip_prefix('!')?;
    let (command, excluded_from_context) = match rest.strip_prefix('!') {
        Some(command) => (command, true),
        None => (rest, false),
    };
    let command = command.trim();
    (!command.is_empty()).then(|| Bang {
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
            let want = want.map(|(command, excluded_from_context)| Bang {
                command: command.to_owned(),
                excluded_from_context,
            });
            assert_eq!(parse_bang(line), want, "{line:?}");
        }
    }
}
