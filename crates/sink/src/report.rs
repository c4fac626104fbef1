//! The report of a finished sink: data from which `agent-bash` writes a result's text.

use agent_bash_core::{ArtifactRef, OutputSummary, StreamId};

/// The report on one stream.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkReport {
    /// The stream.
    pub stream: StreamId,
    /// The shown part.
    pub shown: ShownOutput,
    /// The counts.
    pub summary: OutputSummary,
    /// The full output on disk. Exists exactly if it could be stored, and if output is not shown
    /// (truncated or [overwritten](Self::overwritten)) or
    /// [`crate::OutputSink::take_file_for_survivors`] or [`crate::OutputSink::store_always`] asked
    /// for the artifact. Lines that `head` and `tail` omit from a successful command's output do
    /// not count as output that is not shown, since the caller asked for the omission.
    pub artifact: Option<ArtifactRef>,
    /// Why the full output could not be stored, for example `No space left on device`.
    pub artifact_error: Option<String>,
    /// Visible text was overwritten on its line, by a carriage return, backspaces or an erase
    /// sequence, and is not shown.
    pub overwritten: bool,
    /// The number of masked secrets in the output, shown or not.
    pub masked_secrets: u64,
    /// The number of lines that `head` kept, if `head` omitted later output.
    pub head_satisfied: Option<u64>,
}

impl SinkReport {
    /// Returns the lines of the shown part, in stream order.
    pub fn shown_lines(&self) -> impl Iterator<Item = &str> {
        self.shown.pieces().flat_map(|piece| piece.text.lines())
    }
}

/// The shown part of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownOutput {
    /// The whole output; empty if nothing was printed.
    Whole(CleanPiece),
    /// The beginning.
    Head(CleanPiece),
    /// The end.
    Tail(CleanPiece),
    /// Beginning and end. They never overlap, and something is missing between them.
    Ends {
        /// The beginning.
        head: CleanPiece,
        /// The end.
        tail: CleanPiece,
    },
    /// No output is shown, because it is binary.
    Binary,
}

/// A piece of clean text: valid UTF-8 without control characters other than TAB and LF.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanPiece {
    /// The text, including its last LF if it has one.
    pub text: String,
    /// First and last line shown, possibly in part; from 1. `None` if the piece is empty.
    pub lines: Option<[u64; 2]>,
    /// The number of bytes of the first line that are missing before the piece.
    pub missing_before: u64,
    /// The number of bytes of the last line that are missing after the piece.
    pub missing_after: u64,
}

impl CleanPiece {
    /// Returns the text with marks where a line is incomplete: `[N bytes omitted] …` before, `… [N
    /// bytes omitted]` after it.
    pub fn marked(&self) -> String {
        let mark = |missing: u64, before: &str, after: &str| match missing {
            0 => String::new(),
            _ => format!("{before}[{missing} bytes omitted]{after}"),
        };
        let before = mark(self.missing_before, "", " …");
        let after = mark(self.missing_after, "… ", "");
        [&before, self.text.as_str(), &after].concat()
    }

    /// Returns the number of shown lines, including incomplete ones.
    pub fn line_count(&self) -> u64 {
        self.lines.map_or(0, |[first, last]| last - first + 1)
    }
}

impl ShownOutput {
    /// Returns the shown pieces, in stream order.
    pub fn pieces(&self) -> impl Iterator<Item = &CleanPiece> {
        let (first, second) = match self {
            Self::Whole(piece) | Self::Head(piece) | Self::Tail(piece) => (Some(piece), None),
            Self::Ends { head, tail } => (Some(head), Some(tail)),
            Self::Binary => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// True if no text is shown and the output is not binary.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Binary => false,
            _ => self.pieces().all(|piece| piece.text.is_empty()),
        }
    }
}
