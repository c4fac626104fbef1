//! Collects the parts of a word.

use std::rc::Rc;

use super::super::ast::{Param, WordPart};

/// Returns the expansion of a parameter without an operator.
pub(super) fn plain_param(name: String, quoted: bool) -> WordPart {
    WordPart::Param {
        param: Rc::new(Param {
            name,
            indirect: false,
            length: false,
            index: None,
            operator: String::new(),
            operand: Vec::new(),
        }),
        quoted,
    }
}

/// Collects parts, joining neighbours of the same kind.
#[derive(Default)]
pub(super) struct PartCollector(Vec<WordPart>);

impl PartCollector {
    pub(super) fn push(&mut self, part: WordPart) {
        self.0.push(part);
    }

    pub(super) fn bare(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(WordPart::Bare(last)) => last.push_str(text),
            _ => self.0.push(WordPart::Bare(text.to_owned())),
        }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(WordPart::Quoted(last)) => last.push_str(text),
            _ => self.0.push(WordPart::Quoted(text.to_owned())),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn ends_with_extglob(&self) -> bool {
        matches!(self.0.last(), Some(WordPart::Bare(text)) if text.ends_with(['?', '*', '+', '@', '!']))
    }

    /// True if the parts are exactly `name=` or `name+=`: `(` then begins an array.
    pub(super) fn is_array_assignment(&self) -> bool {
        match self.0.as_slice() {
            [WordPart::Bare(text)] => text.strip_suffix('=').is_some_and(|name| {
                let name = name.strip_suffix('+').unwrap_or(name);
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            }),
            _ => false,
        }
    }

    pub(super) fn finish(self) -> Vec<WordPart> {
        self.0
    }
}
