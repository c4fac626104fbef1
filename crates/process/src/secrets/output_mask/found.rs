//! [`FoundSecret`]: a secret in a text, and the text that replaces it.

use std::ops::Range;
use std::sync::Arc;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundSecret {
    pub(super) range: Range<usize>,
    /// The text that replaces the secret: `‹GITHUB_TOKEN›`.
    pub(super) mask: Arc<str>,
}

/// Returns the text that replaces a secret.
pub(super) fn mask_text(name: &str) -> Arc<str> {
    Arc::from(format!("‹{name}›"))
}
