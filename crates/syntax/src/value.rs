//! The value of a word: text, glob characters, and parts that are unknown until the script runs.
//!
//! A value is one field. `expand` turns words into fields.

use std::fmt;

/// Why a part of a word is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownCause {
    /// A variable that this script never sets.
    Variable(String),
    /// A variable without which bash stops (`${NAME:?}`).
    Required(String),
    /// The output of a command.
    Output,
    /// Names of tracked files.
    Tracked,
    /// Downloaded or decoded text.
    Fetched,
    /// Text from a file, a pipe or the terminal.
    Input,
    /// A file name without a directory (`basename`).
    FileName,
    /// The path of an unknown working directory (`pwd`), which is never empty.
    WorkingDirectory,
    /// The result of an arithmetic expression.
    Number,
    /// An expansion that is not supported.
    Expansion,
    /// The value is too long, or has too many possibilities.
    Limit,
}

impl UnknownCause {
    /// Combines the causes of two adjacent unknown parts: `Fetched` if either cause is `Fetched`,
    /// otherwise the first cause.
    fn combine(&mut self, other: UnknownCause) {
        if other == UnknownCause::Fetched {
            *self = other;
        }
    }
}

impl fmt::Display for UnknownCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownCause::Variable(name) | UnknownCause::Required(name) => {
                write!(out, "the value of ${name}")
            }
            UnknownCause::Output => out.write_str("the output of a command"),
            UnknownCause::Tracked => out.write_str("the names of tracked files"),
            UnknownCause::Fetched => out.write_str("downloaded or decoded text"),
            UnknownCause::Input => out.write_str("text read while running"),
            UnknownCause::FileName => out.write_str("a file name"),
            UnknownCause::WorkingDirectory => out.write_str("the working directory"),
            UnknownCause::Number => out.write_str("the result of arithmetic"),
            UnknownCause::Expansion => out.write_str("the result of an expansion"),
            UnknownCause::Limit => out.write_str("too long to follow"),
        }
    }
}

/// A piece of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValuePiece {
    /// Exactly this text.
    Text(String),
    /// An active glob character or bracket expression, such as `*` or `[a-z]`.
    Glob(String),
    /// Unknown text.
    Unknown {
        /// The reason why the part is unknown.
        why: UnknownCause,
        /// True if the part is unquoted, so that it may become several words, including options.
        splits: bool,
    },
}

/// The pieces of a value. Most values have one piece, which needs no allocation.
#[derive(Debug, Clone)]
enum Pieces {
    One(ValuePiece),
    Many(Vec<ValuePiece>),
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces::Many(Vec::new())
    }
}

impl Pieces {
    fn push(&mut self, piece: ValuePiece) {
        *self = match std::mem::take(self) {
            Pieces::Many(pieces) if pieces.is_empty() => Pieces::One(piece),
            Pieces::Many(mut pieces) => {
                pieces.push(piece);
                Pieces::Many(pieces)
            }
            Pieces::One(first) => Pieces::Many(vec![first, piece]),
        };
    }

    fn pop(&mut self) {
        match self {
            Pieces::One(_) => *self = Pieces::default(),
            Pieces::Many(pieces) => {
                pieces.pop();
            }
        }
    }
}

impl std::ops::Deref for Pieces {
    type Target = [ValuePiece];

    fn deref(&self) -> &[ValuePiece] {
        match self {
            Pieces::One(piece) => std::slice::from_ref(piece),
            Pieces::Many(pieces) => pieces,
        }
    }
}

impl std::ops::DerefMut for Pieces {
    fn deref_mut(&mut self) -> &mut [ValuePiece] {
        match self {
            Pieces::One(piece) => std::slice::from_mut(piece),
            Pieces::Many(pieces) => pieces,
        }
    }
}

/// One field: a sequence of pieces, with adjacent pieces of the same kind joined.
#[derive(Debug, Clone, Default)]
pub struct Value {
    pieces: Pieces,
    /// The approximate size in bytes: the known text, and one byte for each piece.
    len: usize,
}

/// Maximum size of a value in bytes; longer values become unknown. Command lines of users are
/// shorter, and a script that doubles a variable in a loop soon reaches this limit.
const MAX_VALUE_BYTES: usize = 256 * 1024;

/// Represents an unknown piece when a value is parsed as a script. If a script itself contains this
/// private-use character, that part of the script is treated as unknown.
pub(crate) const HOLE_CHAR: char = '\u{f8fe}';

/// Represents a [`UnknownCause::Fetched`] piece when a value is parsed as a script.
const FETCHED_HOLE_CHAR: char = '\u{f8ff}';

const HOLE_CHARS: [char; 2] = [HOLE_CHAR, FETCHED_HOLE_CHAR];

/// Values are equal if their pieces are equal.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        *self.pieces == *other.pieces
    }
}

impl Eq for Value {}

impl Value {
    /// Returns a value that is exactly this text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() || text.len() >= MAX_VALUE_BYTES || text.contains(HOLE_CHARS) {
            let mut value = Value::default();
            value.push_text(&text);
            return value;
        }
        Value {
            len: text.len() + 1,
            pieces: Pieces::One(ValuePiece::Text(text)),
        }
    }

    /// Returns a value that is completely unknown.
    pub fn unknown(why: UnknownCause) -> Self {
        Value {
            pieces: Pieces::One(ValuePiece::Unknown { why, splits: false }),
            len: 0,
        }
    }

    /// Returns the pieces in order.
    pub fn pieces(&self) -> &[ValuePiece] {
        &self.pieces
    }

    /// Returns the text, if the whole value is known and contains no active glob character.
    pub fn literal(&self) -> Option<&str> {
        match &*self.pieces {
            [] => Some(""),
            [ValuePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// True if the field is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// True if a part of the value is unknown.
    pub fn has_unknown(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, ValuePiece::Unknown { .. }))
    }

    /// True if an unknown part may become several fields, including options.
    pub fn may_split(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, ValuePiece::Unknown { splits: true, .. }))
    }

    /// Returns the known text at the beginning of the value; empty if the beginning is unknown.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(ValuePiece::Text(text)) => text,
            _ => "",
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if text.contains(HOLE_CHARS) {
            for known in text.split_inclusive(HOLE_CHARS) {
                let hole = known.chars().next_back().filter(|c| HOLE_CHARS.contains(c));
                self.push_text(known.trim_end_matches(HOLE_CHARS));
                match hole {
                    Some(FETCHED_HOLE_CHAR) => self.push_unknown(UnknownCause::Fetched, true),
                    Some(_) => self.push_unknown(UnknownCause::Expansion, true),
                    None => {}
                }
            }
            return;
        }
        if !self.grow(text.len()) {
            return;
        }
        match self.pieces.last_mut() {
            Some(ValuePiece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(ValuePiece::Text(text.to_owned())),
        }
    }

    /// Adds `bytes` to the size. Returns false if the value is too long: the whole value is then
    /// unknown.
    fn grow(&mut self, bytes: usize) -> bool {
        // Every piece counts as one more byte, so that many small pieces are limited, too.
        self.len = self.len.saturating_add(bytes).saturating_add(1);
        if self.len > MAX_VALUE_BYTES {
            let splits = self.may_split();
            self.pieces = Pieces::One(ValuePiece::Unknown {
                why: UnknownCause::Limit,
                splits,
            });
            return false;
        }
        true
    }

    /// Returns the approximate cost of copying the value, in bytes.
    pub fn cost(&self) -> usize {
        self.len
    }

    pub(crate) fn push_glob(&mut self, glob: &str) {
        if !self.grow(glob.len()) {
            return;
        }
        self.pieces.push(ValuePiece::Glob(glob.to_owned()));
    }

    /// Adds an unknown part.
    pub fn push_unknown(&mut self, why: UnknownCause, splits: bool) {
        if self.len > MAX_VALUE_BYTES || !self.grow(0) {
            return;
        }
        match self.pieces.last_mut() {
            Some(ValuePiece::Unknown {
                splits: last,
                why: before,
            }) => {
                *last |= splits;
                before.combine(why);
            }
            _ => self.pieces.push(ValuePiece::Unknown { why, splits }),
        }
    }

    /// Adds the pieces of another value.
    pub fn extend(&mut self, other: &Value) {
        for piece in other.pieces() {
            match piece {
                ValuePiece::Text(text) => self.push_text(text),
                ValuePiece::Glob(glob) => self.push_glob(glob),
                ValuePiece::Unknown { why, splits } => self.push_unknown(why.clone(), *splits),
            }
        }
    }

    /// Returns the value as in double quotes: unknown parts stay in one field.
    #[must_use]
    pub fn quoted(&self) -> Value {
        let mut out = self.clone();
        for piece in out.pieces.iter_mut() {
            if let ValuePiece::Unknown { splits, .. } = piece {
                *splits = false;
            }
        }
        out
    }

    /// Returns the text to be parsed as a script, with placeholders for unknown parts.
    pub fn script(&self) -> String {
        let mut out = String::new();
        for piece in self.pieces() {
            match piece {
                ValuePiece::Text(text) | ValuePiece::Glob(text) => out.push_str(text),
                ValuePiece::Unknown {
                    why: UnknownCause::Fetched,
                    ..
                } => out.push(FETCHED_HOLE_CHAR),
                ValuePiece::Unknown { .. } => out.push(HOLE_CHAR),
            }
        }
        out
    }

    /// True if any part of the value was downloaded or decoded.
    pub fn is_fetched(&self) -> bool {
        self.pieces().iter().any(|piece| {
            matches!(
                piece,
                ValuePiece::Unknown {
                    why: UnknownCause::Fetched,
                    ..
                }
            )
        })
    }

    /// Returns the value without its first bytes, which must be known text.
    #[must_use]
    pub fn without_prefix(&self, bytes: usize) -> Value {
        let mut out = Value::text(self.prefix().get(bytes..).unwrap_or(""));
        let rest = usize::from(!self.prefix().is_empty());
        for piece in self.pieces().iter().skip(rest) {
            out.extend(&Value::from(piece.clone()));
        }
        out
    }

    /// Returns the value without trailing newlines, as from a command substitution.
    pub(crate) fn without_final_newlines(mut self) -> Value {
        while let Some(ValuePiece::Text(text)) = self.pieces.last_mut() {
            text.truncate(text.trim_end_matches('\n').len());
            if !text.is_empty() {
                break;
            }
            self.pieces.pop();
        }
        self
    }

    /// Returns the non-empty fields of the value between separators, for example its lines.
    pub fn split(&self, separators: &[char]) -> Vec<Value> {
        let mut out = vec![Value::default()];
        for piece in self.pieces() {
            let ValuePiece::Text(text) = piece else {
                if let Some(last) = out.last_mut() {
                    last.extend(&Value::from(piece.clone()));
                }
                continue;
            };
            for (index, part) in text.split(separators).enumerate() {
                if index > 0 {
                    out.push(Value::default());
                }
                if let Some(last) = out.last_mut() {
                    last.push_text(part);
                }
            }
        }
        out.retain(|value| !value.is_empty());
        out
    }
}

/// Shows the value as in a script, with variables as `$NAME` and other unknown parts as `<cause>`.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.pieces() {
            match piece {
                ValuePiece::Text(text) | ValuePiece::Glob(text) => out.write_str(text)?,
                ValuePiece::Unknown {
                    why: UnknownCause::Variable(name) | UnknownCause::Required(name),
                    ..
                } => write!(out, "${name}")?,
                ValuePiece::Unknown { why, .. } => write!(out, "<{why}>")?,
            }
        }
        Ok(())
    }
}

impl From<ValuePiece> for Value {
    fn from(piece: ValuePiece) -> Self {
        Value {
            pieces: Pieces::One(piece),
            len: 1,
        }
    }
}
