//! Splits a text into words as a shell does. A quoted value that is assigned to a variable is one
//! word with its blanks; any other word ends at its first blank.

use std::ops::Range;

/// A run of characters without blanks and separators. A quoted value belongs to the word of its
/// name: `NAME="a b"` is one word, `"NAME=a b"` is `NAME=a` and `b`.
#[derive(Debug)]
pub(super) struct Word {
    /// The word's range in the text, without the closing quote of its value.
    pub(super) range: Range<usize>,
    /// The range between this word and the one before it.
    pub(super) gap: Range<usize>,
    /// True if only blanks and an opening quote are between this word and the one before.
    pub(super) follows_directly: bool,
    /// True if a command ended before this word.
    pub(super) ends_command: bool,
    /// True within quotes.
    pub(super) is_quoted: bool,
}

/// The words of a text.
#[derive(Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
    quote: Option<char>,
    /// True while opening and closing quotes are certain. From the first uncertainty on, a quoted
    /// value ends at a blank.
    quotes_are_certain: bool,
    /// True if the next word can be an assignment.
    may_be_assignment: bool,
}

/// Words that may precede an assignment.
const BEFORE_ASSIGNMENTS: [&str; 7] = ["export", "readonly", "then", "do", "else", "{", "!"];

/// True for a character that ends a word.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || ";|&()<>,`".contains(c)
}

/// True if a text begins with a command substitution or an expansion in braces.
fn starts_expansion(text: &str) -> bool {
    text.starts_with('`') || text.starts_with("$(") || text.starts_with("${")
}

/// True for `NAME=…`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            quote: None,
            quotes_are_certain: true,
            may_be_assignment: true,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn next(&mut self) -> Option<Word> {
        let gap = self.at;
        let (follows_directly, ends_command) = self.skip()?;
        let start = self.at;
        let is_quoted = self.quote.is_some();
        self.may_be_assignment |= ends_command;
        let end = self.end_of_word(start);
        let word = &self.text[start..end];
        self.may_be_assignment &=
            !is_quoted && (is_assignment(word) || BEFORE_ASSIGNMENTS.contains(&word));
        Some(Word {
            range: start..end,
            gap: gap..start,
            follows_directly,
            ends_command,
            is_quoted,
        })
    }

    /// Advances to the next word. Returns `follows_directly` and `ends_command` of that word;
    /// `None` at the end.
    fn skip(&mut self) -> Option<(bool, bool)> {
        let (mut follows_directly, mut ends_command) = (true, false);
        let mut is_opened = false;
        loop {
            let c = self.rest().chars().next()?;
            match c {
                '\\' if self.rest().starts_with("\\\n") => {
                    self.at += 2;
                    continue;
                }
                '"' | '\'' => {
                    follows_directly &= !is_opened && self.quote != Some(c);
                    is_opened = true;
                    self.quote = match self.quote {
                        None => Some(c),
                        Some(open) if open == c => None,
                        within => within,
                    };
                }
                c if !is_separator(c) => {
                    let is_comment = c == '#' && self.quote.is_none();
                    self.quotes_are_certain &= !is_comment;
                    return Some((follows_directly, ends_command));
                }
                c => {
                    follows_directly &= c == ' ' || c == '\t';
                    ends_command |= self.quote.is_none() && ";|&()`\n".contains(c);
                    let is_uncertain = self.rest().starts_with("<<")
                        || c == '`'
                        || c == '\n' && self.quote.is_some();
                    self.quotes_are_certain &= !is_uncertain;
                    if c == '\n' {
                        self.quote = None;
                    }
                }
            }
            self.at += c.len_utf8();
        }
    }

    fn end_of_word(&mut self, start: usize) -> usize {
        while let Some(c) = self.rest().chars().next() {
            let is_single = self.quote == Some('\'');
            match c {
                '\\' if !is_single => {
                    if self.rest().starts_with("\\\n") {
                        break;
                    }
                    self.at += 1;
                    self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                    continue;
                }
                '"' | '\'' => {
                    let is_closing = self.quote == Some(c);
                    if !is_closing && self.text[start..self.at].ends_with(['=', ':']) {
                        return self.end_of_value(start, c);
                    }
                    break;
                }
                '$' => {
                    let rest = self.rest();
                    let is_uncertain = rest.starts_with("$'") || rest.starts_with("${");
                    let is_nested = self.quote == Some('"') && starts_expansion(rest);
                    self.quotes_are_certain &= !is_uncertain && !is_nested;
                }
                c if is_separator(c) => break,
                _ => {}
            }
            self.at += c.len_utf8();
        }
        self.at
    }

    /// Returns the end of the quoted value that begins at the current position. Consumes the
    /// closing quote if the value extends to it.
    fn end_of_value(&mut self, start: usize, quote: char) -> usize {
        let around = self.quote;
        let name = &self.text[start..self.at];
        let is_whole = self.quotes_are_certain
            && self.may_be_assignment
            && around.is_none()
            && is_assignment(name);
        self.at += quote.len_utf8();
        while let Some(c) = self.rest().chars().next() {
            if c == quote {
                let end = self.at;
                self.at += c.len_utf8();
                return end;
            }
            let stops = if is_whole {
                c == '\n' || starts_expansion(self.rest())
            } else {
                is_separator(c) || c == '"' || c == '\''
            };
            if stops {
                break;
            }
            if c == '\\' && quote == '"' && is_whole {
                self.at += 1;
            }
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        }
        self.quote = around.or(Some(quote));
        self.quotes_are_certain &= !starts_expansion(self.rest());
        self.at
    }
}
