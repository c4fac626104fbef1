//! The value of a word: text, glob characters, and parts that are unknown until the script runs.
//!
//! A value is one field. `expand` turns words into fields.

use std::fmt;

/// Why a part of a word is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
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
    /// The result of an arithmetic expression.
    Number,
    /// An expansion that is not supported.
    Expansion,
    /// Too long, or too many possibilities.
    Limit,
}

impl Why {
    /// The reason for two adjacent parts combined. `Fetched` takes precedence.
    fn combine(&mut self, other: Why) {
        if other == Why::Fetched {
            *self = other;
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Variable(name) | Why::Required(name) => write!(out, "the value of ${name}"),
            Why::Output => out.write_str("the output of a command"),
            Why::Tracked => out.write_str("the names of tracked files"),
            Why::Fetched => out.write_str("what was downloaded or decoded"),
            Why::Input => out.write_str("text read while running"),
            Why::Number => out.write_str("the result of arithmetic"),
            Why::Expansion => out.write_str("the result of an expansion"),
            Why::Limit => out.write_str("too long to follow"),
        }
    }
}

/// A stretch of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Exactly this text.
    Text(String),
    /// An active glob character or bracket expression, such as `*` or `[a-z]`.
    Glob(String),
    /// Unknown text.
    Unknown {
        /// The reason why the part is unknown.
        why: Why,
        /// True if the part is unquoted, so that it may become several words, including options.
        splits: bool,
    },
}

/// The pieces of a value. Most values have just one, which needs no allocation.
#[derive(Debug, Clone)]
enum Pieces {
    One(Piece),
    Some(Vec<Piece>),
}

impl Default for Pieces {
    fn default() -> Self {
        Pieces::Some(Vec::new())
    }
}

impl Pieces {
    fn push(&mut self, piece: Piece) {
        *self = match std::mem::take(self) {
            Pieces::Some(pieces) if pieces.is_empty() => Pieces::One(piece),
            Pieces::Some(mut pieces) => {
                pieces.push(piece);
                Pieces::Some(pieces)
            }
            Pieces::One(first) => Pieces::Some(vec![first, piece]),
        };
    }

    fn pop(&mut self) {
        match self {
            Pieces::One(_) => *self = Pieces::default(),
            Pieces::Some(pieces) => {
                pieces.pop();
            }
        }
    }
}

impl std::ops::Deref for Pieces {
    type Target = [Piece];

    fn deref(&self) -> &[Piece] {
        match self {
            Pieces::One(piece) => std::slice::from_ref(piece),
            Pieces::Some(pieces) => pieces,
        }
    }
}

impl std::ops::DerefMut for Pieces {
    fn deref_mut(&mut self) -> &mut [Piece] {
        match self {
            Pieces::One(piece) => std::slice::from_mut(piece),
            Pieces::Some(pieces) => pieces,
        }
    }
}

/// One field: a sequence of pieces, with adjacent pieces of the same kind joined.
#[derive(Debug, Clone, Default)]
pub struct Value {
    pieces: Pieces,
    /// Bytes of known text in it.
    len: usize,
}

/// Values longer than this (in bytes) become unknown: enough for any command line people write, too
/// little to be harmful in a script that doubles a variable in a loop.
const MAX_VALUE_BYTES: usize = 256 * 1024;

/// Represents an unknown piece when a value is parsed as a script. A private-use character: a
/// script that contains it itself is treated as unknown there.
pub(crate) const HOLE_CHAR: char = '\u{f8fe}';

/// Represents a [`Why::Fetched`] piece, so that it is recognised in the script.
const FETCHED_HOLE_CHAR: char = '\u{f8ff}';

const HOLE_CHARS: [char; 2] = [HOLE_CHAR, FETCHED_HOLE_CHAR];

/// Values are equal if they represent the same.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        *self.pieces == *other.pieces
    }
}

impl Eq for Value {}

impl Value {
    /// Exactly this text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() || text.len() >= MAX_VALUE_BYTES || text.contains(HOLE_CHARS) {
            let mut value = Value::default();
            value.push_text(&text);
            return value;
        }
        Value {
            len: text.len() + 1,
            pieces: Pieces::One(Piece::Text(text)),
        }
    }

    /// Completely unknown.
    pub fn unknown(why: Why) -> Self {
        Value {
            pieces: Pieces::One(Piece::Unknown { why, splits: false }),
            len: 0,
        }
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The text, if all of it is known and contains no active glob.
    pub fn literal(&self) -> Option<&str> {
        match &*self.pieces {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// True if the field is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// True if a part of it is unknown.
    pub fn has_unknown(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Unknown { .. }))
    }

    /// True if an unknown part may become several fields, including options.
    pub fn may_split(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Unknown { splits: true, .. }))
    }

    /// The known text at its beginning.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
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
                    Some(FETCHED_HOLE_CHAR) => self.push_unknown(Why::Fetched, true),
                    Some(_) => self.push_unknown(Why::Expansion, true),
                    None => {}
                }
            }
            return;
        }
        if !self.takes(text.len()) {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Makes room for more bytes; a value that grows too long becomes unknown as a whole.
    fn takes(&mut self, bytes: usize) -> bool {
        // Every piece has a cost of its own, so that many small ones are limited, too.
        self.len = self.len.saturating_add(bytes).saturating_add(1);
        if self.len > MAX_VALUE_BYTES {
            let splits = self.may_split();
            self.pieces = Pieces::One(Piece::Unknown {
                why: Why::Limit,
                splits,
            });
            return false;
        }
        true
    }

    /// The approximate cost of copying it, in bytes.
    pub fn cost(&self) -> usize {
        self.len
    }

    pub(crate) fn push_glob(&mut self, glob: &str) {
        if !self.takes(glob.len()) {
            return;
        }
        self.pieces.push(Piece::Glob(glob.to_owned()));
    }

    /// Adds an unknown part.
    pub fn push_unknown(&mut self, why: Why, splits: bool) {
        if self.len > MAX_VALUE_BYTES || !self.takes(0) {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Unknown {
                splits: last,
                why: before,
            }) => {
                *last |= splits;
                before.combine(why);
            }
            _ => self.pieces.push(Piece::Unknown { why, splits }),
        }
    }

    /// Adds the pieces of another value.
    pub fn extend(&mut self, other: &Value) {
        for piece in other.pieces() {
            match piece {
                Piece::Text(text) => self.push_text(text),
                Piece::Glob(glob) => self.push_glob(glob),
                Piece::Unknown { why, splits } => self.push_unknown(why.clone(), *splits),
            }
        }
    }

    /// Puts the value in double quotes: unknown parts remain one field.
    #[must_use]
    pub fn quoted(&self) -> Value {
        let mut out = self.clone();
        for piece in out.pieces.iter_mut() {
            if let Piece::Unknown { splits, .. } = piece {
                *splits = false;
            }
        }
        out
    }

    /// The text to be parsed as a script, with placeholders for unknown parts.
    pub fn script(&self) -> String {
        let mut out = String::new();
        for piece in self.pieces() {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => out.push_str(text),
                Piece::Unknown {
                    why: Why::Fetched, ..
                } => out.push(FETCHED_HOLE_CHAR),
                Piece::Unknown { .. } => out.push(HOLE_CHAR),
            }
        }
        out
    }

    /// True if any of it was downloaded or decoded.
    pub fn is_fetched(&self) -> bool {
        self.pieces().iter().any(|piece| {
            matches!(
                piece,
                Piece::Unknown {
                    why: Why::Fetched,
                    ..
                }
            )
        })
    }

    /// The value without its first bytes, which must be known text.
    #[must_use]
    pub fn without_prefix(&self, bytes: usize) -> Value {
        let mut out = Value::text(self.prefix().get(bytes..).unwrap_or(""));
        let rest = usize::from(!self.prefix().is_empty());
        for piece in self.pieces().iter().skip(rest) {
            out.extend(&Value::from(piece.clone()));
        }
        out
    }

    /// The value without trailing newlines, as from a command substitution.
    pub(crate) fn without_final_newlines(mut self) -> Value {
        while let Some(Piece::Text(text)) = self.pieces.last_mut() {
            text.truncate(text.trim_end_matches('\n').len());
            if !text.is_empty() {
                break;
            }
            self.pieces.pop();
        }
        self
    }

    /// The lines of the value, or its fields between other separators.
    pub fn split(&self, separators: &[char]) -> Vec<Value> {
        let mut out = vec![Value::default()];
        for piece in self.pieces() {
            let Piece::Text(text) = piece else {
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

/// Shows the value as a person would write it, with unknown parts as `<why>`.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.pieces() {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => out.write_str(text)?,
                Piece::Unknown {
                    why: Why::Variable(name) | Why::Required(name),
                    ..
                } => write!(out, "${name}")?,
                Piece::Unknown { why, .. } => write!(out, "<{why}>")?,
            }
        }
        Ok(())
    }
}

impl From<Piece> for Value {
    fn from(piece: Piece) -> Self {
        Value {
            pieces: Pieces::One(piece),
            len: 1,
        }
    }
}
