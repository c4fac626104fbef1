//! A command with its words resolved, before it is followed.

use std::rc::Rc;

use super::super::value::{Value, ValuePiece};
use super::Field;

/// A command with its words resolved.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) words: Rc<[Field]>,
    pub(super) env: Vec<(String, Value)>,
}

impl Call {
    /// Returns the text of the word at `index`, if it is known.
    pub(super) fn literal(&self, index: usize) -> Option<&str> {
        self.words.get(index)?.value.literal()
    }

    /// Returns the call with other words.
    pub(super) fn with_words(&self, words: Vec<Field>) -> Call {
        Call {
            words: words.into(),
            env: self.env.clone(),
        }
    }

    /// Returns the values of the words from index `first` on.
    pub(super) fn values(&self, first: usize) -> Vec<Value> {
        self.words
            .get(first..)
            .unwrap_or(&[])
            .iter()
            .map(|field| field.value.clone())
            .collect()
    }
}

/// Returns a quoted word that expands to the value.
pub(super) fn quote(value: &Value) -> Value {
    let mut out = Value::default();
    for piece in value.pieces() {
        match piece {
            ValuePiece::Text(text) => out.push_text(&format!("'{}'", text.replace('\'', r"'\''"))),
            ValuePiece::Glob(glob) => out.push_text(glob),
            ValuePiece::Unknown { why, splits } => out.push_unknown(why.clone(), *splits),
        }
    }
    if value.is_empty() {
        out.push_text("''");
    }
    out
}
