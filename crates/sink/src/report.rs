//! What a sink has to say when its stream has ended: data, from which `agent-bash` writes a result's text.

use agent_bash_core::{ArtifactRef, OutputSummary, StreamId};

/// The account of one stream.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkReport {
    /// Which stream.
    pub stream: StreamId,
    /// What is to be shown of it.
    pub shown: Shown,
    /// The counts.
    pub summary: OutputSummary,
    /// The whole output on disk. There is one exactly when something that was printed is not shown (cut, or
    /// [written over](Self::overwritten); what `head` and `tail` left out of a command that succeeded does not count: nobody
    /// asked for it), or when [`crate::OutputSink::take_file_for_survivors`] or [`crate::OutputSink::keep`] asked for it; and
    /// it could be kept.
    pub artifact: Option<ArtifactRef>,
    /// Why there is no artifact although there should be one; such as `No space left on device`.
    pub artifact_failed: Option<String>,
    /// Text that could be seen was written over on its line, by a carriage return, backspaces or an erasing sequence, and is
    /// not shown.
    pub overwritten: bool,
    /// How many lines `head` wanted, where it cut something off.
    pub head_satisfied: Option<u64>,
}

/// What is to be shown of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// All of it; the text is empty if nothing was printed.
    Whole(Piece),
    /// The beginning.
    Head(Piece),
    /// The end.
    Tail(Piece),
    /// Beginning and end. The two never overlap, and something is missing between them.
    Ends {
        /// The beginning.
        head: Piece,
        /// The end.
        tail: Piece,
    },
    /// Nothing: it is no text.
    Binary,
}

/// A piece of clean text: valid UTF-8 without control characters other than TAB and LF.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    /// The text; with its last LF, if it has one.
    pub text: String,
    /// First and last line that it shows (in part), from 1; `None` if it is empty.
    pub lines: Option<[u64; 2]>,
    /// The first line was cut inside: so many bytes of its text are missing before the piece.
    pub missing_before: u64,
    /// The last line was cut inside: so many bytes of its text are missing after the piece.
    pub missing_after: u64,
}

impl Piece {
    /// The text with marks where a line was cut inside: `[N bytes omitted] …` before, `… [N bytes omitted]` after it.
    pub fn marked(&self) -> String {
        let mark = |missing: u64, before: &str, after: &str| match missing {
            0 => String::new(),
            _ => format!("{before}[{missing} bytes omitted]{after}"),
        };
        let before = mark(self.missing_before, "", " …");
        let after = mark(self.missing_after, "… ", "");
        [&before, self.text.as_str(), &after].concat()
    }

    /// Lines that it shows (in part).
    pub fn line_count(&self) -> u64 {
        self.lines.map_or(0, |[first, last]| last - first + 1)
    }
}

impl Shown {
    /// Its pieces, in the order of the stream.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        let (first, second) = match self {
            Self::Whole(piece) | Self::Head(piece) | Self::Tail(piece) => (Some(piece), None),
            Self::Ends { head, tail } => (Some(head), Some(tail)),
            Self::Binary => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Binary => false,
            _ => self.pieces().all(|piece| piece.text.is_empty()),
        }
    }
}
