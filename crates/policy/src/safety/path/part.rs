//! Components of a path, in which a pattern or an unknown value may take the place of text.

use crate::syntax::pattern;
use crate::syntax::value::{Value, ValuePiece};

/// One component of a path.
#[derive(Debug, Clone, Default)]
pub(super) struct PathPart {
    pub(super) pieces: Vec<ValuePiece>,
}

impl PathPart {
    /// Returns a component of a known path. A placeholder in the path stands for an unknown part.
    pub(super) fn text(text: &str) -> Self {
        PathPart {
            pieces: Value::text(text).pieces().to_vec(),
        }
    }

    pub(super) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [ValuePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// True if the component is one of these names.
    pub(super) fn is_one_of(&self, names: &[&str]) -> bool {
        self.literal().is_some_and(|name| names.contains(&name))
    }

    /// True if the component can be the name of a user: `/home//.vimrc` is the result of an empty
    /// name.
    pub(super) fn is_user(&self) -> bool {
        self.literal().is_some_and(|name| !name.starts_with('.'))
    }

    pub(super) fn has_unknown(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, ValuePiece::Unknown { .. }))
    }

    /// True if no part of the component is known.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self.pieces[..], [ValuePiece::Unknown { .. }])
    }

    /// True if a known part of the component contains a text.
    pub(super) fn has_text(&self, text: &str) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, ValuePiece::Text(known) if known.contains(text)))
    }

    /// True if the component has an ending, such as `.tar.gz`.
    pub(super) fn has_ending(&self) -> bool {
        let mut pieces = self.pieces.iter().enumerate();
        pieces.any(|(index, piece)| match piece {
            ValuePiece::Text(text) => text.rfind('.').is_some_and(|dot| index > 0 || dot > 0),
            _ => false,
        })
    }

    /// True if no character of the component except dots is known, so that it may match any name.
    pub(super) fn may_be_any_name(&self) -> bool {
        let is_open = |piece: &ValuePiece| match piece {
            ValuePiece::Text(_) => false,
            ValuePiece::Glob(glob) => glob != "?" && !glob.starts_with('['),
            ValuePiece::Unknown { .. } => true,
        };
        let is_dots = |piece: &ValuePiece| match piece {
            ValuePiece::Text(text) => text.chars().all(|c| c == '.'),
            // `*.[0-9]` matches old logs.
            ValuePiece::Glob(glob) => glob != "[0-9]",
            ValuePiece::Unknown { .. } => true,
        };
        self.pieces.iter().any(is_open) && self.pieces.iter().all(is_dots)
    }

    /// True if the component equals the name, or if its pattern matches the name.
    pub(super) fn could_be(&self, name: &str) -> bool {
        if let Some(text) = self.literal() {
            return text == name;
        }
        let mut value = Value::default();
        for piece in &self.pieces {
            // An unknown part next to letters is assumed to be harmless.
            if matches!(piece, ValuePiece::Unknown { .. }) {
                return false;
            }
            value.extend(&Value::from(piece.clone()));
        }
        // A leading dot is only matched by a literal dot.
        let has_dot =
            matches!(self.pieces.first(), Some(ValuePiece::Text(text)) if text.starts_with('.'));
        (has_dot || !name.starts_with('.')) && pattern::matches(&pattern::of_value(&value), name)
    }
}

/// Returns the components of a value.
pub(super) fn split_value(value: &Value) -> Vec<PathPart> {
    let mut parts = vec![PathPart::default()];
    for piece in value.pieces() {
        let ValuePiece::Text(text) = piece else {
            if let Some(last) = parts.last_mut() {
                last.pieces.push(piece.clone());
            }
            continue;
        };
        for (index, name) in text.split('/').enumerate() {
            if index > 0 {
                parts.push(PathPart::default());
            }
            if let (Some(last), false) = (parts.last_mut(), name.is_empty()) {
                last.pieces.push(ValuePiece::Text(name.to_owned()));
            }
        }
    }
    parts
}

/// Returns the components of a path that starts in a directory.
pub(super) fn below(directory: &str, path: Vec<PathPart>) -> Vec<PathPart> {
    let directory = components(directory).into_iter().map(PathPart::text);
    directory.chain(path).collect()
}

/// Returns the names of components; `unknown` stands for a pattern or an unknown component.
pub(super) fn names<'p>(parts: &'p [PathPart], unknown: &'p str) -> Vec<&'p str> {
    let names = parts.iter().map(|part| part.literal().unwrap_or(unknown));
    names.collect()
}

/// Returns the names in a path.
pub(super) fn components(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// Removes `.` and `..`; the parent of the root is the root.
pub(super) fn resolve(parts: &[PathPart]) -> Vec<PathPart> {
    let mut out: Vec<PathPart> = Vec::new();
    for part in parts {
        match part.literal() {
            Some("" | ".") => {}
            Some("..") => {
                out.pop();
            }
            _ => out.push(part.clone()),
        }
    }
    out
}

/// Splits off the parts at the end that may be any name: a pattern for all files of a directory.
pub(super) fn split_open_end(parts: &[PathPart]) -> (&[PathPart], &[PathPart]) {
    let last_known = parts.iter().rposition(|part| !part.may_be_any_name());
    parts.split_at(last_known.map_or(0, |last| last + 1))
}

/// True if the components are exactly these names.
pub(super) fn are_names(parts: &[PathPart], names: &[&str]) -> bool {
    parts.len() == names.len()
        && parts
            .iter()
            .zip(names)
            .all(|(part, name)| part.literal() == Some(name))
}
