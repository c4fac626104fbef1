//! How complete the trace of a call is.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How complete the trace of a call is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceState {
    /// Why the trace is incomplete; `None` if it is complete.
    pub incomplete_reason: Option<String>,
    /// True if the call was ended because the limit for preimages was reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reached_limit: bool,
    /// True if the shell is not traced at all, so that its next call is not traced either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untraced: bool,
    /// The last files that the call tried to change although its sandbox forbids it, the latest
    /// last. If the call tried to change none, the forbidden files that it has checked for write
    /// permission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_writes: Vec<PathBuf>,
}

impl TraceState {
    /// Returns a complete trace.
    pub fn complete() -> Self {
        Self {
            incomplete_reason: None,
            reached_limit: false,
            untraced: false,
            refused_writes: Vec::new(),
        }
    }

    /// Returns an incomplete trace with its reason.
    pub fn incomplete(reason: impl Into<String>) -> Self {
        Self {
            incomplete_reason: Some(reason.into()),
            ..Self::complete()
        }
    }

    /// Returns the state of a shell that cannot be traced, with the reason.
    pub fn untraced(reason: impl Into<String>) -> Self {
        Self {
            untraced: true,
            ..Self::incomplete(reason)
        }
    }

    /// Marks the trace as incomplete. An earlier reason is kept.
    pub fn mark_incomplete(&mut self, reason: impl Into<String>) {
        self.incomplete_reason.get_or_insert_with(|| reason.into());
    }
}
