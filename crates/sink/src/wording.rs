//! The phrases for output that is incomplete or binary.

use agent_bash_core::{ArtifactRef, SizeStyle, size_text};

/// The suffix to the name of a file that holds only the beginning of its output: ` (truncated at
/// 100MB)`.
pub fn truncated_note(artifact: &ArtifactRef) -> String {
    if artifact.complete {
        return String::new();
    }
    format!(" ({})", truncated_at(artifact.bytes))
}

/// `truncated at 100MB`.
pub(crate) fn truncated_at(bytes: u64) -> String {
    format!("truncated at {}", size_text(bytes, SizeStyle::Short))
}

/// The stand-in for output that is not text.
pub fn binary_text(bytes: u64, style: SizeStyle) -> String {
    format!("[Binary output: {}, not shown]", size_text(bytes, style))
}
