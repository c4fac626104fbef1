//! Words: quotes, escapes, expansions, substitutions, assignments.

use super::super::ast::{Assign, Word, WordPart};
use super::parts::PartCollector;
use super::{Origin, ReadProblem, Reader};

impl Reader<'_> {
    /// Parses the word that begins here, if any.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.pos;
        let mut parts = PartCollector::default();
        loop {
            self.skip_continuations();
            let Some(byte) = self.byte(0) else { break };
            match byte {
                b'<' | b'>' if self.byte(1) == Some(b'(') => {
                    self.pos += 2;
                    let list = self.substitution();
                    parts.push(WordPart::Process {
                        list,
                        reads: byte == b'<',
                    });
                }
                b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b')' | b'<' | b'>' => break,
                b'(' => {
                    if parts.ends_with_extglob() {
                        self.balanced(&mut parts);
                    } else if parts.is_array_assignment() {
                        self.pos += 1;
                        let words = self.deeper(Self::array);
                        parts.push(WordPart::Array(words));
                    } else {
                        break;
                    }
                }
                _ => self.piece(&mut parts, false),
            }
        }
        (self.pos > start && !parts.is_empty()).then(|| Word {
            span: self.span(start, self.pos),
            parts: parts.finish(),
        })
    }

    /// Parses a quoted text, an expansion, or a run of ordinary bytes outside double quotes. In
    /// braces or brackets, blanks and operators are ordinary bytes.
    pub(super) fn piece(&mut self, parts: &mut PartCollector, in_braces: bool) {
        match self.byte(0) {
            Some(b'\\') => {
                self.pos += 1;
                let c = self.character();
                parts.quoted(&c);
            }
            Some(b'\'') => {
                self.pos += 1;
                let rest = self.text.get(self.pos..).unwrap_or("");
                let Some(len) = rest.find('\'') else {
                    parts.quoted(rest);
                    return self.fail(ReadProblem::Syntax);
                };
                parts.quoted(&rest[..len]);
                self.pos += len + 1;
            }
            Some(b'"') => {
                self.pos += 1;
                self.double_quoted(parts);
            }
            Some(b'`') => self.backtick(parts, false),
            Some(b'$') => self.dollar(parts, false),
            _ => {
                let rest = self.rest();
                let stop: &[u8] = if in_braces {
                    b"\\'\"`$}[]"
                } else {
                    b"\\'\"`$ \t\n|&;()<>"
                };
                let len = rest
                    .iter()
                    .position(|b| stop.contains(b))
                    .unwrap_or(rest.len())
                    .max(1);
                parts.bare(self.text.get(self.pos..self.pos + len).unwrap_or(""));
                self.pos += len;
            }
        }
    }

    /// Consumes one character after a backslash; returns a backslash at the end of the text.
    pub(super) fn character(&mut self) -> String {
        let Some(c) = self
            .text
            .get(self.pos..)
            .and_then(|rest| rest.chars().next())
        else {
            return String::from("\\");
        };
        self.pos += c.len_utf8();
        c.to_string()
    }

    /// Parses the contents of double quotes, through the closing quote.
    pub(super) fn double_quoted(&mut self, parts: &mut PartCollector) {
        parts.quoted("");
        let closed = self.deeper(|reader| reader.quoted_until(parts, Some(b'"')));
        if !closed {
            self.fail(ReadProblem::Syntax);
        }
    }

    /// Parses text as in double quotes, through `close` or to the end. Returns true if `close` was
    /// found or not required.
    fn quoted_until(&mut self, parts: &mut PartCollector, close: Option<u8>) -> bool {
        loop {
            let Some(byte) = self.byte(0) else {
                return close.is_none();
            };
            if Some(byte) == close {
                self.pos += 1;
                return true;
            }
            match byte {
                b'\\' => match self.byte(1) {
                    Some(b'\n') => self.skip_continuations(),
                    Some(next @ (b'$' | b'`' | b'\\' | b'"'))
                        if next != b'"' || close.is_some() =>
                    {
                        self.pos += 2;
                        parts.quoted(char::from(next).encode_utf8(&mut [0; 4]));
                    }
                    _ => {
                        self.pos += 1;
                        parts.quoted("\\");
                    }
                },
                b'`' => self.backtick(parts, true),
                b'$' => self.dollar(parts, true),
                _ => {
                    let rest = self.rest();
                    let len = rest
                        .iter()
                        .position(|b| b"\\`$".contains(b) || Some(*b) == close)
                        .unwrap_or(rest.len());
                    parts.quoted(self.text.get(self.pos..self.pos + len).unwrap_or(""));
                    self.pos += len;
                }
            }
        }
    }

    /// Parses the whole text as a heredoc body.
    pub(super) fn heredoc_parts(&mut self) -> Vec<WordPart> {
        let mut parts = PartCollector::default();
        self.quoted_until(&mut parts, None);
        parts.finish()
    }

    /// Parses the text between two positions as in double quotes (arithmetic, subscripts).
    pub(super) fn parts_of(&mut self, start: usize, end: usize) -> Vec<WordPart> {
        let text = self.text.get(start..end).unwrap_or("");
        let origin = match self.origin {
            Origin::At(base) => Origin::At(base + start),
            generated @ Origin::Generated(_) => generated,
        };
        let mut reader = Reader::new(text, origin, self.budget, self.depth);
        let parts = reader.deeper(Self::heredoc_parts);
        let problem = reader.problem;
        if let Some((problem, _)) = problem {
            self.fail(problem);
        }
        parts
    }

    /// Parses the `( … )` of `?( … )` and similar patterns as unquoted text.
    pub(super) fn balanced(&mut self, parts: &mut PartCollector) {
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                None => return self.fail(ReadProblem::Syntax),
                Some(byte @ (b'(' | b')')) => {
                    self.pos += 1;
                    parts.bare(if byte == b'(' { "(" } else { ")" });
                    if byte == b'(' {
                        open += 1;
                    } else {
                        open = open.saturating_sub(1);
                        if open == 0 {
                            return;
                        }
                    }
                }
                Some(byte @ (b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>')) => {
                    self.pos += 1;
                    parts.bare(char::from(byte).encode_utf8(&mut [0; 4]));
                }
                _ => self.piece(parts, false),
            }
        }
    }

    /// Parses the words of an array, through the closing parenthesis.
    fn array(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.skip_newlines();
            if self.byte(0) == Some(b')') {
                self.pos += 1;
                return words;
            }
            if let Some(word) = self.word() {
                self.charge_budget();
                words.push(word);
            } else {
                self.fail(ReadProblem::Syntax);
                return words;
            }
        }
    }

    /// Parses `NAME=…` at this position, if an assignment is allowed.
    pub(super) fn assignment(&mut self, allowed: bool) -> Option<Assign> {
        if !allowed
            || !self
                .byte(0)
                .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        {
            return None;
        }
        let start = self.pos;
        let name = self.name();
        let mut ahead = 0;
        if self.byte(0) == Some(b'[') {
            ahead = self.subscript_len();
        }
        let append = self.byte(ahead) == Some(b'+');
        if self.byte(ahead + usize::from(append)) != Some(b'=') {
            self.pos = start;
            return None;
        }
        let mut index = None;
        if ahead > 0 {
            index = Some(self.parts_of(self.pos + 1, self.pos + ahead - 1));
        }
        self.pos += ahead + usize::from(append) + 1;
        let value_start = self.pos;
        if self.byte(0) == Some(b'(') {
            self.pos += 1;
            let words = self.deeper(Self::array);
            let span = self.span(value_start, self.pos);
            let value = Word {
                parts: vec![WordPart::Array(words)],
                span,
            };
            return Some(Assign {
                name,
                index,
                append,
                value,
            });
        }
        let value = self.word().unwrap_or_else(|| Word {
            parts: Vec::new(),
            span: self.span(value_start, value_start),
        });
        Some(Assign {
            name,
            index,
            append,
            value,
        })
    }

    /// Returns the length of the `[ … ]` at this position; 0 if it is not closed on this line.
    fn subscript_len(&self) -> usize {
        let mut open = 0_usize;
        for (index, byte) in self.rest().iter().enumerate() {
            match byte {
                b'[' => open += 1,
                b']' => {
                    open -= 1;
                    if open == 0 {
                        return index + 1;
                    }
                }
                b'\n' => break,
                _ => {}
            }
        }
        0
    }
}
