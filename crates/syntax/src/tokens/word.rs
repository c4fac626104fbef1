//! Tokens of a word: quotes, expansions, substitutions.

use super::lexer::{Lexer, TokenKind};

/// The value of a word, and the quote that is open in it.
#[derive(Debug)]
pub(super) struct WordFacts {
    /// The value without quotes; `None` if the word has an expansion.
    pub(super) value: Option<String>,
    /// The quote that is open at the end of the text.
    pub(super) quote: Option<char>,
}

impl WordFacts {
    fn push(&mut self, text: &str) {
        if let Some(value) = &mut self.value {
            value.push_str(text);
        }
    }
}

impl Lexer<'_> {
    /// Reads the word that begins here. If `closer` is a backtick, a backtick also ends the word.
    pub(super) fn word(&mut self, closer: Option<u8>) -> WordFacts {
        let mut written = WordFacts {
            value: Some(String::new()),
            quote: None,
        };
        let word_start = self.pos;
        let mut text_start = self.pos;
        while let Some(byte) = self.byte(0) {
            let is_special = match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' => {
                    if self.byte(1) != Some(b'(') {
                        break;
                    }
                    true
                }
                b'(' => {
                    if self.pos == word_start || self.bytes[self.pos - 1] != b'=' {
                        break;
                    }
                    true
                }
                b'`' if closer == Some(b'`') => break,
                b'\'' | b'"' | b'`' | b'$' => true,
                _ => false,
            };
            if is_special {
                self.token(text_start, TokenKind::Text);
                self.special(byte, &mut written);
                text_start = self.pos;
                continue;
            }
            if byte == b'\\' {
                self.pos += 1;
                if self.pos == self.bytes.len() {
                    self.open(self.pos - 1);
                    break;
                }
            }
            let rest = &self.text[self.pos..];
            let len = rest.chars().next().map_or(1, char::len_utf8);
            if rest.as_bytes()[0] != b'\n' {
                written.push(&rest[..len]);
            }
            self.pos += len;
        }
        self.token(text_start, TokenKind::Text);
        written
    }

    /// Reads the quoted text, expansion, substitution or array that begins with this byte.
    fn special(&mut self, byte: u8, written: &mut WordFacts) {
        match byte {
            b'\'' => self.single_quoted(written),
            b'"' => self.double_quoted(written),
            b'$' => self.dollar(written, false),
            b'`' => {
                written.value = None;
                let start = self.pos;
                self.take(1, TokenKind::Operator);
                self.commands(Some(b'`'));
                if self.bytes[self.pos - 1] != b'`' || self.pos == start + 1 {
                    self.open(start);
                }
            }
            b'(' => {
                written.value = None;
                self.array();
            }
            _ => {
                written.value = None;
                self.take(2, TokenKind::Operator);
                self.commands(Some(b')'));
            }
        }
    }

    /// Reads the words of an array.
    fn array(&mut self) {
        self.take(1, TokenKind::Operator);
        while let Some(byte) = self.byte(0) {
            match byte {
                b')' => return self.take(1, TokenKind::Operator),
                b' ' | b'\t' | b'\n' => self.pos += 1,
                _ => {
                    let before = self.pos;
                    self.word(None);
                    if self.pos == before {
                        return;
                    }
                }
            }
        }
        self.end_with(None);
    }

    fn single_quoted(&mut self, written: &mut WordFacts) {
        let start = self.pos;
        let rest = &self.text[start + 1..];
        let closed = rest.find('\'');
        let inner = closed.unwrap_or(rest.len());
        written.push(&rest[..inner]);
        self.take(inner + 1 + usize::from(closed.is_some()), TokenKind::String);
        if closed.is_none() {
            self.open(start);
            written.quote = Some('\'');
        }
    }

    fn double_quoted(&mut self, written: &mut WordFacts) {
        let start = self.pos;
        let mut from = start;
        self.pos += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'"' => {
                    self.pos += 1;
                    return self.token(from, TokenKind::String);
                }
                b'$' => {
                    self.token(from, TokenKind::String);
                    self.dollar(written, true);
                    from = self.pos;
                }
                b'`' => {
                    self.token(from, TokenKind::String);
                    self.special(b'`', written);
                    from = self.pos;
                }
                b'\\' if self.pos + 1 < self.bytes.len() => {
                    let c = self.text[self.pos + 1..].chars().next().unwrap_or('\\');
                    if !matches!(c, '$' | '`' | '"' | '\\' | '\n') {
                        written.push("\\");
                    }
                    if c != '\n' {
                        written.push(c.encode_utf8(&mut [0; 4]));
                    }
                    self.pos += 1 + c.len_utf8();
                }
                _ => {
                    let c = self.text[self.pos..].chars().next().unwrap_or('\0');
                    written.push(c.encode_utf8(&mut [0; 4]));
                    self.pos += c.len_utf8();
                }
            }
        }
        self.token(from, TokenKind::String);
        self.open(start);
        written.quote = Some('"');
    }

    fn dollar(&mut self, written: &mut WordFacts, is_quoted: bool) {
        let start = self.pos;
        match self.byte(1) {
            Some(b'(') if self.byte(2) == Some(b'(') => {
                written.value = None;
                self.take_through("))", start + 3);
            }
            Some(b'(') => {
                written.value = None;
                self.take(2, TokenKind::Operator);
                self.commands(Some(b')'));
            }
            Some(b'{') => {
                written.value = None;
                self.braced();
            }
            Some(b'\'') if !is_quoted => {
                written.value = None;
                self.pos += 2;
                while let Some(byte) = self.byte(0) {
                    self.pos += 1;
                    match byte {
                        b'\'' => return self.token(start, TokenKind::String),
                        b'\\' if self.pos < self.bytes.len() => {
                            let c = self.text[self.pos..].chars().next();
                            self.pos += c.map_or(1, char::len_utf8);
                        }
                        _ => {}
                    }
                }
                self.token(start, TokenKind::String);
                self.open(start);
            }
            Some(b'"') if !is_quoted => {
                self.take(1, TokenKind::String);
                self.double_quoted(written);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                written.value = None;
                let rest = &self.bytes[start + 1..];
                let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                let len = rest.iter().take_while(is_name).count();
                self.take(1 + len, TokenKind::Variable);
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                written.value = None;
                self.take(2, TokenKind::Variable);
            }
            _ => {
                written.push("$");
                let kind = if is_quoted {
                    TokenKind::String
                } else {
                    TokenKind::Text
                };
                self.take(1, kind);
            }
        }
    }

    /// Reads `${…}`. Nested braces are counted, except in quotes.
    fn braced(&mut self) {
        let start = self.pos;
        self.pos += 2;
        let mut open = 1;
        let mut quote = None;
        while let Some(byte) = self.byte(0) {
            self.pos += 1;
            match (byte, quote) {
                (b'\\', _) => {
                    let c = self
                        .text
                        .get(self.pos..)
                        .and_then(|rest| rest.chars().next());
                    self.pos += c.map_or(0, char::len_utf8);
                }
                (b'\'' | b'"', None) => quote = Some(byte),
                (_, Some(quoted)) if quoted == byte => quote = None,
                (b'{', None) => open += 1,
                (b'}', None) => {
                    open -= 1;
                    if open == 0 {
                        return self.token(start, TokenKind::Variable);
                    }
                }
                _ => {}
            }
        }
        self.token(start, TokenKind::Variable);
        self.open(start);
    }

    /// Reads the text up to and including `end`, which is searched from `search_start` on.
    fn take_through(&mut self, end: &str, search_start: usize) {
        let start = self.pos;
        let closed = self.text[search_start..].find(end);
        self.pos = closed.map_or(self.bytes.len(), |found| search_start + found + end.len());
        if closed.is_none() {
            self.open(start);
        }
        self.token(start, TokenKind::Variable);
    }
}
