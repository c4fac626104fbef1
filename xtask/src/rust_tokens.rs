//! Splits Rust source text into tokens with their line numbers, comments included.
//!
//! `syn` drops comments, and its spans carry no line numbers without a further feature of
//! `proc-macro2`, which would compile every derive macro of the workspace twice. Numbers and
//! operators are not distinguished further: the rules over names and sentences do not need them.

/// One token of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: TokenKind,
    /// The token as written, with its delimiters.
    pub(crate) text: &'t str,
    /// The line of the token's first character, from 1.
    pub(crate) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `//`, `///`, `//!` up to the end of the line, or a whole `/* */`.
    Comment,
    /// A string literal of any kind.
    Str,
    /// A name or a keyword.
    Ident,
    /// Lifetimes, numbers and characters.
    Other,
    /// One character of punctuation.
    Punct,
}

impl Token<'_> {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, TokenKind::Ident | TokenKind::Punct)
    }
}

/// The tokens of `text`. Source that does not compile gives some tokens, never an error.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = first_token(rest, c);
        let token = &rest[..length];
        if let Some(kind) = kind {
            tokens.push(Token {
                kind,
                text: token,
                line,
            });
        }
        line += token.matches('\n').count();
        at += length;
    }
    tokens
}

/// Kind and length of the token at the start of `rest`, which begins with `c`. White space has no
/// kind.
fn first_token(rest: &str, c: char) -> (Option<TokenKind>, usize) {
    if c.is_whitespace() {
        return (None, c.len_utf8());
    }
    if rest.starts_with("//") {
        return (
            Some(TokenKind::Comment),
            rest.find('\n').unwrap_or(rest.len()),
        );
    }
    if rest.starts_with("/*") {
        return (Some(TokenKind::Comment), block_comment(rest));
    }
    if c == '"' {
        return (Some(TokenKind::Str), quoted(rest, 1, '"'));
    }
    if c == '\'' {
        return (Some(TokenKind::Other), character_or_lifetime(rest));
    }
    if is_name_start(c) {
        return name_or_prefixed(rest);
    }
    if c.is_ascii_digit() {
        let end = |c: char| !(c.is_alphanumeric() || c == '_');
        return (Some(TokenKind::Other), rest.find(end).unwrap_or(rest.len()));
    }
    (Some(TokenKind::Punct), c.len_utf8())
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// The length of a block comment, with the comments nested in it.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Returns the length of a literal with escapes, up to its closing quote. The contents start at
/// `from`.
fn quoted(rest: &str, from: usize, quote: char) -> usize {
    let mut is_escaped = false;
    for (index, c) in rest[from..].char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == quote {
            return from + index + c.len_utf8();
        }
    }
    rest.len()
}

fn character_or_lifetime(rest: &str) -> usize {
    let mut inside = rest[1..].chars();
    match (inside.next(), inside.next()) {
        (Some('\\'), _) => quoted(rest, 1, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 1 + name_length(&rest[1..]),
    }
}

fn name_length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len())
}

/// A name, or a literal with a prefix: `b"…"`, `r#"…"#`, `b'…'`.
fn name_or_prefixed(rest: &str) -> (Option<TokenKind>, usize) {
    let length = name_length(rest);
    let (name, after_name) = rest.split_at(length);
    let hashes = after_name.find(|c| c != '#').unwrap_or(after_name.len());
    let opens = after_name[hashes..].starts_with('"');
    match name {
        "r" | "br" | "cr" if opens => {
            let from = length + hashes + 1;
            let close = format!("\"{}", "#".repeat(hashes));
            let end = rest[from..].find(&close);
            (
                Some(TokenKind::Str),
                end.map_or(rest.len(), |end| from + end + close.len()),
            )
        }
        "b" | "c" if after_name.starts_with('"') => {
            (Some(TokenKind::Str), quoted(rest, length + 1, '"'))
        }
        "b" if after_name.starts_with('\'') => {
            (Some(TokenKind::Other), quoted(rest, length + 1, '\''))
        }
        // A raw identifier.
        "r" if hashes == 1 => (Some(TokenKind::Ident), 2 + name_length(&rest[2..])),
        _ => (Some(TokenKind::Ident), length),
    }
}

/// The tokens without items that are compiled for tests alone: `#[cfg(test)]`, `#[test]` and their
/// like.
pub(crate) fn without_tests<'t>(tokens: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut product = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match attribute_end(tokens, at) {
            Some(end) if is_for_tests(&tokens[at..end]) => at = item_end(tokens, end),
            Some(end) => {
                product.extend_from_slice(&tokens[at..end]);
                at = end;
            }
            None => {
                product.push(*token);
                at += 1;
            }
        }
    }
    product
}

/// The index after the attribute that starts at `at`; `None` if no attribute starts there.
pub(crate) fn attribute_end(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    if !tokens.get(at)?.is("#") {
        return None;
    }
    let open = if tokens.get(at + 1)?.is("!") {
        at + 2
    } else {
        at + 1
    };
    tokens.get(open)?.is("[").then(|| group_end(tokens, open))
}

/// The name of an attribute: `error` of `#[error("…")]`.
pub(crate) fn attribute_name<'t>(attribute: &[Token<'t>]) -> &'t str {
    let mut names = attribute
        .iter()
        .filter(|token| token.kind == TokenKind::Ident);
    names.next().map_or("", |token| token.text)
}

fn is_for_tests(attribute: &[Token<'_>]) -> bool {
    let names = attribute
        .iter()
        .filter(|token| token.kind == TokenKind::Ident);
    let names: Vec<&str> = names.map(|token| token.text).collect();
    matches!(names[..], ["test"] | ["tokio", "test", ..])
        || (names.first() == Some(&"cfg")
            && names[1..].contains(&"test")
            && !names.contains(&"not"))
}

/// The tokens without the strings of word lists (`words![…]`), which are not sentences.
pub(crate) fn without_word_lists<'t>(tokens: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut others = Vec::new();
    let mut list_end = 0;
    for (at, token) in tokens.iter().enumerate() {
        if let [name, mark, open, ..] = &tokens[at..]
            && name.is("words")
            && mark.is("!")
            && open.is("[")
        {
            list_end = group_end(tokens, at + 2);
        }
        if at >= list_end || token.kind != TokenKind::Str {
            others.push(*token);
        }
    }
    others
}

/// The index after the bracket that closes the bracket at `open`.
pub(crate) fn group_end(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != TokenKind::Punct {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The index after an item, which ends with its first block, or with a `;` or `,`.
fn item_end(tokens: &[Token<'_>], from: usize) -> usize {
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        if let Some(end) = attribute_end(tokens, at) {
            at = end;
        } else if token.kind != TokenKind::Punct {
            at += 1;
        } else if token.is("{") {
            return group_end(tokens, at);
        } else if matches!(token.text, ";" | ",") {
            return at + 1;
        } else if matches!(token.text, ")" | "]" | "}") {
            return at;
        } else if matches!(token.text, "(" | "[") {
            at = group_end(tokens, at);
        } else {
            at += 1;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_kind(text: &str, kind: TokenKind) -> Vec<(&str, usize)> {
        let tokens = tokens(text).into_iter();
        let tokens = tokens.filter(|token| token.kind == kind);
        tokens.map(|token| (token.text, token.line)).collect()
    }

    #[test]
    fn tokens_distinguish_strings_comments_and_characters() {
        let text = "// a \"b\"\nlet s = \"// \\\" c\"; /* d /* e */ f */\nlet q = '\"'; let l: &'a u8 = b'\\'';\n\
                    r#\"g \" h\"# r#type b\"i\" 'x' 1.5";
        assert_eq!(
            of_kind(text, TokenKind::Comment),
            [("// a \"b\"", 1), ("/* d /* e */ f */", 2)]
        );
        assert_eq!(
            of_kind(text, TokenKind::Str),
            [("\"// \\\" c\"", 2), ("r#\"g \" h\"#", 4), ("b\"i\"", 4)]
        );
        let others: Vec<&str> = of_kind(text, TokenKind::Other)
            .into_iter()
            .map(|it| it.0)
            .collect();
        assert_eq!(others, ["'\"'", "'a", "b'\\''", "'x'", "1", "5"]);
        assert!(of_kind(text, TokenKind::Ident).contains(&("r#type", 4)));
    }

    #[test]
    fn tokens_count_lines_within_literals() {
        let text = "let a = \"x\n y\";\n/* z\n */ b";
        assert_eq!(of_kind(text, TokenKind::Ident).last(), Some(&("b", 4)));
    }

    #[test]
    fn without_tests_drops_test_items() {
        let text = "fn a() {} #[cfg(test)] mod tests { fn b() {} } #[test] fn c() {} #[cfg(not(test))] fn d() {} \
                    #[cfg(all(test, unix))] #[path = \"x.rs\"] mod e; #[tokio::test] async fn f(g: u8) -> u8 { 1 } fn h() {}";
        let tokens = tokens(text);
        let names: Vec<&str> = without_tests(&tokens)
            .iter()
            .filter(|token| token.kind == TokenKind::Ident && token.text.len() == 1)
            .map(|token| token.text)
            .collect();
        assert_eq!(names, ["a", "d", "h"]);
    }
}
