//! The state of the lexer, and the types of tokens.

use crate::Span;

/// Maximum nesting; text that is nested more deeply has no tokens.
pub(super) const MAX_DEPTH: u16 = 48;

/// A part of a script that is shown in one style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The token's position in the script.
    pub span: Span,
    /// The kind of the token.
    pub kind: TokenKind,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `if`, `done`, `[[`.
    Keyword,
    /// The word that names the program.
    Command,
    /// Any other word.
    Text,
    /// Quoted text, or the body of a heredoc.
    String,
    /// `$name`, `${…}`, and the name in an assignment.
    Variable,
    /// From `#` to the end of the line.
    Comment,
    /// `|`, `&&`, `>`, `$(`.
    Operator,
}

/// The word at the end of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWord {
    /// The offset at which the word begins; the end of the text if the word is still empty.
    pub start: usize,
    /// The value without quotes; `None` if the word has an expansion.
    pub value: Option<String>,
    /// The open quote, if any.
    pub quote: Option<char>,
    /// True if the word names a command.
    pub is_command: bool,
    /// The words before this word in its command. A word with an expansion is an empty text.
    pub before: Vec<String>,
}

/// The tokens of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The tokens in order, without overlaps; blanks have no tokens.
    pub tokens: Vec<Token>,
    /// The word at the end of the text; `None` within a comment or a heredoc.
    pub last_word: Option<LastWord>,
    /// The offset of the first construct that is not closed, such as a quote or a heredoc.
    pub(super) open_at: Option<usize>,
}

impl Tokens {
    /// Returns the tokens of a text.
    pub fn of(text: &str) -> Self {
        let mut lexer = Lexer {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            depth: 0,
            heredocs: Vec::new(),
            out: Self::default(),
            is_ended: false,
        };
        lexer.commands(None);
        if let Some(heredoc) = lexer.heredocs.first() {
            lexer.open(heredoc.delimiter_start);
        }
        lexer
            .out
            .tokens
            .retain(|token| token.span.start < token.span.end);
        lexer.out
    }
}

/// A heredoc whose body was not read yet.
#[derive(Debug)]
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    pub(super) strips_tabs: bool,
    /// The offset of the delimiter.
    pub(super) delimiter_start: usize,
}

/// The state of the lexer.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) pos: usize,
    pub(super) depth: u16,
    pub(super) heredocs: Vec<Heredoc>,
    pub(super) out: Tokens,
    /// True as soon as the last word is known.
    is_ended: bool,
}

impl Lexer<'_> {
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    pub(super) fn starts_with(&self, prefix: &str) -> bool {
        self.bytes[self.pos..].starts_with(prefix.as_bytes())
    }

    /// Adds the token from `start` to the current position.
    pub(super) fn token(&mut self, start: usize, kind: TokenKind) {
        let end = self.pos;
        self.out.tokens.push(Token {
            span: Span { start, end },
            kind,
        });
    }

    /// Adds the next `len` bytes as a token.
    pub(super) fn take(&mut self, len: usize, kind: TokenKind) {
        let start = self.pos;
        self.pos = (self.pos + len).min(self.bytes.len());
        self.token(start, kind);
    }

    /// Marks the construct that begins at `start` as not closed.
    pub(super) fn open(&mut self, start: usize) {
        let first = self.out.open_at.map_or(start, |open| open.min(start));
        self.out.open_at = Some(first);
    }

    /// Records that the text ends within `word`. Only the first call counts.
    pub(super) fn end_with(&mut self, word: Option<LastWord>) {
        if !self.is_ended {
            self.is_ended = true;
            self.out.last_word = word;
        }
    }

    /// Reads the bodies of pending heredocs, after the newline.
    pub(super) fn heredoc_bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.pos;
            loop {
                let rest = &self.text[self.pos..];
                if rest.is_empty() {
                    self.open(heredoc.delimiter_start);
                    self.end_with(None);
                    break;
                }
                let line = &rest[..rest.find('\n').map_or(rest.len(), |newline| newline + 1)];
                self.pos += line.len();
                let mut text = line.strip_suffix('\n').unwrap_or(line);
                if heredoc.strips_tabs {
                    text = text.trim_start_matches('\t');
                }
                if text == heredoc.delimiter {
                    break;
                }
            }
            self.token(start, TokenKind::String);
        }
    }
}
