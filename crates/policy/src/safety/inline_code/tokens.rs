//! A program of another language cut into strings, names and marks: as much of it as is needed to see what
//! a call is handed. Quotes, commas and brackets mean the same in all of them.

use std::cell::Cell;
use std::collections::HashMap;

/// A piece of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A string literal, escapes resolved.
    Text(String),
    /// A string literal that something is put into (`f"…{x}…"`, `` `…${x}…` ``).
    Filled(String),
    /// A name or a number.
    Name(String),
    /// Any other character.
    Mark(char),
}

impl Token {
    /// Bytes of it, at least one.
    fn len(&self) -> usize {
        match self {
            Token::Text(text) | Token::Filled(text) | Token::Name(text) => text.len() + 1,
            Token::Mark(_) => 1,
        }
    }
}

/// Longest program (bytes) that is looked into; what is longer is no one-liner.
const MAX_BYTES: usize = 256 * 1024;

/// Most tokens of one statement or one call's arguments that are looked at.
const MAX_STATEMENT: usize = 256;

/// Bytes of text that names may be replaced by, in one program.
const MAX_FILLED: usize = 256 * 1024;

/// What of a language's writing differs from the others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Dialect {
    /// What a comment begins with, up to the end of the line; empty if none is known.
    pub(super) comment: &'static str,
    /// Whether `q(…)`, `qq{…}`, `qw[…]` (Perl) or `%q(…)`, `%w[…]` (Ruby) are strings.
    pub(super) named_quotes: bool,
}

/// Cuts a program into tokens.
pub(super) fn tokens(program: &str, dialect: Dialect) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let program = program.get(..MAX_BYTES).unwrap_or(program);
    let mut chars = program.chars().peekable();
    let mut blank = true;
    while let Some(c) = chars.next() {
        let begins_word = std::mem::replace(&mut blank, c.is_whitespace() || ";{}(),".contains(c));
        if begins_word && comments(c, chars.peek().copied(), dialect) {
            while chars.next_if(|c| *c != '\n').is_some() {}
            continue;
        }
        match c {
            '"' | '\'' | '`' => {
                let mut text = String::new();
                // `"""…"""`, in which single ones mean nothing.
                let mut ahead = chars.clone();
                let triple = c != '`' && ahead.next() == Some(c) && ahead.next() == Some(c);
                if triple {
                    chars = ahead;
                }
                while let Some(inside) = chars.next() {
                    match inside {
                        _ if inside == c && triple => {
                            let mut ahead = chars.clone();
                            if ahead.next() == Some(c) && ahead.next() == Some(c) {
                                chars = ahead;
                                break;
                            }
                            text.push(inside);
                        }
                        _ if inside == c => break,
                        '\\' => match chars.next() {
                            Some('n') => text.push('\n'),
                            Some('t') => text.push('\t'),
                            Some(escaped) => text.push(escaped),
                            None => {}
                        },
                        _ => text.push(inside),
                    }
                }
                // `f'…'`, `r"…"`
                let prefix = match out.last() {
                    Some(Token::Name(name)) if name.len() <= 2 => name.to_ascii_lowercase(),
                    _ => String::new(),
                };
                let prefixed = matches!(
                    prefix.as_str(),
                    "f" | "r" | "b" | "u" | "rb" | "br" | "fr" | "rf"
                );
                if prefixed {
                    out.pop();
                }
                let filled = (prefixed && prefix.contains('f') && text.contains('{'))
                    || (c == '`' && text.contains("${"));
                out.push(if filled {
                    Token::Filled(text)
                } else {
                    Token::Text(text)
                });
            }
            _ if c.is_alphanumeric() || c == '_' => {
                let mut name = String::from(c);
                while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(next);
                }
                let after = out.last();
                if dialect.named_quotes
                    && quotes(&name, after)
                    && let Some(open) = chars.next_if(|c| "({[</|!".contains(*c))
                {
                    if after == Some(&Token::Mark('%')) {
                        out.pop();
                    }
                    let text = delimited(&mut chars, open);
                    if name.to_ascii_lowercase().ends_with('w') {
                        for word in text.split_whitespace() {
                            out.extend([Token::Text(word.to_owned()), Token::Mark(',')]);
                        }
                        out.pop_if(|last| *last == Token::Mark(','));
                    } else {
                        out.push(Token::Text(text));
                    }
                    continue;
                }
                out.push(Token::Name(name));
            }
            ' ' | '\t' | '\r' => {}
            _ => out.push(Token::Mark(c)),
        }
    }
    out
}

/// Whether a comment begins with `c`, which stands at the beginning of a word.
fn comments(c: char, next: Option<char>, dialect: Dialect) -> bool {
    let mut mark = dialect.comment.chars();
    mark.next() == Some(c) && mark.next().is_none_or(|second| next == Some(second))
}

/// Whether a name in front of a bracket makes a string of what stands in it.
fn quotes(name: &str, before: Option<&Token>) -> bool {
    match before {
        Some(Token::Mark('%')) => matches!(name, "q" | "Q" | "w" | "W"),
        Some(Token::Mark('$' | '@' | '.' | '>' | ':')) => false,
        _ => matches!(name, "q" | "qq" | "qw"),
    }
}

/// The text up to the bracket that closes `open`, or up to the same character again.
fn delimited(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, open: char) -> String {
    let close = match open {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        other => other,
    };
    let mut text = String::new();
    let mut depth = 1_usize;
    for c in chars.by_ref() {
        if c == close {
            depth -= 1;
        } else if c == open {
            depth += 1;
        }
        if depth == 0 {
            break;
        }
        text.push(c);
    }
    text
}

/// What names stand for where the program says so itself: `c = "…"`, `for c in […]`, `my $c = …`.
#[derive(Debug)]
pub(super) struct Bindings<'p> {
    values: HashMap<&'p str, &'p [Token]>,
    /// Bytes that names may yet be replaced by; then they stay names.
    left: Cell<usize>,
}

impl<'p> Bindings<'p> {
    /// Finds them; the last assignment counts.
    pub(super) fn of(program: &'p [Token]) -> Bindings<'p> {
        let mut values = HashMap::new();
        for (at, token) in program.iter().enumerate() {
            let Token::Name(name) = token else { continue };
            let from = match (program.get(at + 1), program.get(at + 2)) {
                (Some(Token::Mark(':')), Some(Token::Mark('='))) => at + 3,
                (Some(Token::Mark('=')), Some(Token::Mark('=' | '~' | '>'))) => continue,
                (Some(Token::Mark('=')), _) => at + 2,
                (Some(Token::Name(keyword)), _) if keyword == "in" || keyword == "of" => at + 2,
                _ => continue,
            };
            let value = statement(&program[from.min(program.len())..]);
            if !value.is_empty() {
                values.insert(name.as_str(), value);
            }
        }
        Bindings {
            values,
            left: Cell::new(MAX_FILLED),
        }
    }

    /// What the name stands for, if that many bytes may still be spent.
    fn spend(&self, name: &str) -> Option<&'p [Token]> {
        let value = *self.values.get(name)?;
        let cost = value.iter().map(Token::len).sum();
        self.left.set(self.left.get().checked_sub(cost)?);
        Some(value)
    }

    /// A string with what stands for `{name}`, `${name}`, `#{name}` or `$name` put in, where that is known; and
    /// whether it is everywhere.
    fn put_in(&self, text: &str) -> (String, bool) {
        let mut out = String::new();
        let mut rest = text;
        let mut all = true;
        while let Some(at) = rest.find(['{', '$', '#']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let braced = from
                .strip_prefix(['$', '#'])
                .unwrap_or(from)
                .strip_prefix('{');
            let name = braced.or(from.strip_prefix('$')).unwrap_or("");
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &name[..end.unwrap_or(name.len())];
            let known = match self.values.get(name) {
                Some([Token::Text(_)]) => self.spend(name),
                _ => None,
            };
            if let Some([Token::Text(value)]) = known {
                out.push_str(value);
                let length = match braced {
                    Some(_) => from.find('}').map_or(from.len(), |at| at + 1),
                    None => name.len() + 1,
                };
                rest = &from[length..];
            } else {
                all = false;
                out.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
        out.push_str(rest);
        (out, all)
    }

    /// The tokens with names replaced by what they stand for, two times over.
    pub(super) fn fill(&self, tokens: &[Token]) -> Vec<Token> {
        let mut out = tokens.to_vec();
        for _ in 0..2 {
            let mut next = Vec::with_capacity(out.len());
            for (at, token) in out.iter().enumerate() {
                let bound = match token {
                    // `x.name` and `name(` are other things.
                    Token::Name(name)
                        if out.get(at + 1) != Some(&Token::Mark('('))
                            && (at == 0 || out[at - 1] != Token::Mark('.')) =>
                    {
                        self.spend(name)
                    }
                    _ => None,
                };
                match (bound, token) {
                    (Some(value), _) => next.extend_from_slice(value),
                    (None, Token::Text(text)) => next.push(Token::Text(self.put_in(text).0)),
                    (None, Token::Filled(text)) => next.push(match self.put_in(text) {
                        (text, true) => Token::Text(text),
                        (text, false) => Token::Filled(text),
                    }),
                    (None, _) => next.push(token.clone()),
                }
            }
            out = next;
        }
        out
    }
}

/// The tokens up to the end of the statement, or to the bracket that closes around it.
pub(super) fn statement(tokens: &[Token]) -> &[Token] {
    let tokens = &tokens[..tokens.len().min(MAX_STATEMENT)];
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let ends = match token {
            Token::Mark('(' | '[' | '{') => {
                open += 1;
                false
            }
            Token::Mark(')' | ']' | '}') if open > 0 => {
                open -= 1;
                false
            }
            Token::Mark(')' | ']' | '}') => true,
            Token::Mark(';' | '\n') => open == 0,
            Token::Mark(':') => open == 0 && tokens.get(at + 1) == Some(&Token::Mark('\n')),
            _ => false,
        };
        if ends {
            return &tokens[..at];
        }
    }
    tokens
}

/// The arguments of a call whose name ends in front of `tokens`: what its brackets hold, or the rest of the
/// statement.
pub(super) fn arguments(tokens: &[Token]) -> &[Token] {
    match tokens.first() {
        Some(Token::Mark('(')) => statement(&tokens[1..]),
        _ => statement(tokens),
    }
}

/// The tokens between commas that stand in no bracket.
pub(super) fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut out = Vec::new();
    let (mut open, mut from) = (0_usize, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => open += 1,
            Token::Mark(')' | ']' | '}') => open = open.saturating_sub(1),
            Token::Mark(',') if open == 0 => {
                out.push(&tokens[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(&tokens[from..]);
    out.retain(|argument| !argument.is_empty());
    out
}
