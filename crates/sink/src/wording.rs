//! The phrases for output that is incomplete or binary.

use agent_bash_core::{ArtifactRef, SizeStyle, size_text};

/// Returns the suffix to the name of a truncated artifact: ` (truncated at 100MB)`. Empty if the
/// artifact is complete.
pub fn truncated_note(artifact: &ArtifactRef) -> String {
    if artifact.complete {
        return String::new();
    }
    format!(" ({})", truncated_at(artifact.bytes))
}

/// Returns `truncated at 100MB`.
pub(crate) fn truncated_at(bytes: u64) -> String {
    format!("truncated at {}", size_text(bytes, SizeStyle::Short))
}

/// Returns the stand-in for binary output.
pub fn binary_text(bytes: u64, style: SizeStyle) -> String {
    format!("[Binary output: {}, not shown]", size_text(bytes, style))
}
