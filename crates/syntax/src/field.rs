//! A word of a command, as it was resolved.

use crate::Span;
use crate::value::Value;

/// A resolved word and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The word's value.
    pub value: Value,
    /// The position of the word from which the field was expanded.
    pub span: Span,
}
