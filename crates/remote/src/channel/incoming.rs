//! Parses a line from a remote host, and refuses everything unexpected.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Maximum length of a line in bytes, in both directions.
pub const MAX_LINE: usize = 8 << 20;

/// The new output of a call since the previous update.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputUpdate {
    /// The number of bytes to remove from the end of the earlier text first.
    pub rewind: usize,
    /// The number of bytes that were skipped before `text`.
    pub skipped_bytes: u64,
    /// The text to append.
    pub text: String,
}

/// A line from a remote host.
#[derive(Debug)]
pub(super) enum Incoming {
    /// Output of a request.
    Update {
        /// The request's id.
        id: u64,
        /// The output.
        update: OutputUpdate,
    },
    /// A job has ended. The client asks for details.
    JobEnded,
    /// The last line: the program answers no more requests. Its process may continue for running
    /// jobs.
    Leaving,
    /// The answer to a request.
    Answer {
        /// The request's id.
        id: u64,
        /// The data, or the error.
        answer: Result<Option<Box<RawValue>>, String>,
    },
}

#[derive(Deserialize)]
struct IncomingLine {
    #[serde(rename = "type")]
    kind: LineKind,
    id: Option<u64>,
    success: Option<bool>,
    data: Option<Box<RawValue>>,
    error: Option<String>,
    delta: Option<String>,
    rewind: Option<usize>,
    skipped_bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineKind {
    Response,
    Update,
    JobEnded,
    Leaving,
}

impl Incoming {
    /// Parses a line.
    ///
    /// # Errors
    /// The line is not valid.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let invalid = || "the target sent a line that is not of the protocol".to_owned();
        let line: IncomingLine = serde_json::from_slice(line).map_err(|_| invalid())?;
        let id = line.id.ok_or_else(invalid);
        match line.kind {
            LineKind::JobEnded => Ok(Self::JobEnded),
            LineKind::Leaving => Ok(Self::Leaving),
            LineKind::Update => Ok(Self::Update {
                id: id?,
                update: OutputUpdate {
                    rewind: line.rewind.unwrap_or(0),
                    skipped_bytes: line.skipped_bytes.unwrap_or(0),
                    text: line.delta.ok_or_else(invalid)?,
                },
            }),
            LineKind::Response => Ok(Self::Answer {
                id: id?,
                answer: match (line.success.ok_or_else(invalid)?, line.error) {
                    (true, _) => Ok(line.data),
                    (false, error) => Err(error.unwrap_or_default()),
                },
            }),
        }
    }
}
