//! The data of a call from which the texts of a tool are made: the finished call, and a part of its
//! output.

use crate::refusal::Refusal;
use agent_bash_core::{MaskedPart, OutputLimits, ToolResult};
use agent_bash_sink::SinkReport;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A finished call: its result, and the data from which other texts can be written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FinishedCall {
    /// The result.
    pub result: ToolResult,
    /// The output: the merged stream, or stdout and stderr. Empty if nothing was started.
    pub printed: Vec<SinkReport>,
    /// The limits in force for what is shown.
    pub limits: OutputLimits,
    /// The reason, if nothing was started.
    pub refusal: Option<Refusal>,
}

impl FinishedCall {
    /// Returns a call without output, such as a call that was not started.
    pub fn without_output(result: ToolResult, limits: OutputLimits) -> Self {
        Self {
            result,
            printed: Vec::new(),
            limits,
            refusal: None,
        }
    }
}

/// A part of a call's output.
#[derive(Debug)]
pub struct OutputPart {
    /// The bytes, with masked secrets.
    pub output: MaskedPart,
    /// The offset of these bytes. Later than requested if the requested bytes are no longer stored.
    pub from: u64,
    /// Bytes printed so far.
    pub total: u64,
    /// Number of line ends before `from`.
    pub lines_before: u64,
    /// Offset of the unread output.
    pub unread_from: u64,
    /// The stored beginning of the unread output. Needed if `from` is later than `unread_from`.
    pub head: Vec<u8>,
    /// Number of line ends in the unread output.
    pub lines: u64,
}

/// A flag that a watcher of a call sets if it does not show all of the output. The full output is
/// then stored. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct KeepOutput(Arc<AtomicBool>);

impl KeepOutput {
    /// Sets the flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// True if the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
