//! The streams of a command.

use serde::{Deserialize, Serialize};

/// How stdout and stderr are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Streams {
    /// Stdout and stderr through one pipe; their order is exact.
    Merged,
    /// One pipe each; the order between them is unknown.
    Split,
}

impl Streams {
    /// Returns the captured streams.
    pub fn ids(self) -> &'static [StreamId] {
        match self {
            Self::Merged => &[StreamId::Merged],
            Self::Split => &[StreamId::Stdout, StreamId::Stderr],
        }
    }
}

/// The stream that a chunk or an artifact belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StreamId {
    /// Stdout and stderr in the order in which they were written.
    Merged,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}
