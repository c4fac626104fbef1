//! Finds the names that a Rust file declares: types, modules, fields, variants and functions.
//!
//! Local variables and parameters are not checked: a plain word is fine where its meaning is
//! visible.

use crate::rust_tokens::{self, Token, TokenKind};
use std::path::Path;

/// A declared name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Name<'t> {
    pub(crate) text: &'t str,
    pub(crate) line: usize,
    /// For messages: `type`, `module`, `field`, `variant`, `public function`, `private function`.
    pub(crate) kind: &'static str,
}

/// Returns the name of a file without its ending.
pub(crate) fn file_name(path: &str) -> Option<String> {
    let stem = Path::new(path).file_stem()?.to_str()?;
    Some(stem.to_owned())
}

/// Returns the words of a name, in lower case: `WhoIs` and `who_is` have two.
pub(crate) fn words_of(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.trim_start_matches("r#").chars() {
        if c == '_' || (c.is_uppercase() && was_lower) {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the names that `text` declares, in their order.
pub(crate) fn declared(text: &str) -> Vec<Name<'_>> {
    let tokens: Vec<Token<'_>> = rust_tokens::tokens(text)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Comment)
        .collect();
    let mut names = Vec::new();
    let mut trait_end = 0;
    for (at, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        if keyword.kind != TokenKind::Ident || name.kind != TokenKind::Ident {
            continue;
        }
        match keyword.text {
            "struct" | "enum" | "union" | "trait" | "type" => names.push(named("type", name)),
            "mod" => names.push(named("module", name)),
            "fn" if at < trait_end || is_public(&tokens[..at]) => {
                names.push(named("public function", name));
            }
            "fn" => names.push(named("private function", name)),
            _ => continue,
        }
        let Some(open) = body(&tokens, at + 2) else {
            continue;
        };
        let end = rust_tokens::group_end(&tokens, open);
        let inside = &tokens[(open + 1).min(end)..end.saturating_sub(1).max(open + 1)];
        match keyword.text {
            "struct" | "union" => fields(inside, &mut names),
            "enum" => variants(inside, &mut names),
            "trait" => trait_end = end,
            _ => {}
        }
    }
    names
}

/// Returns the constants and statics that `text` declares outside of tests, each with its type's
/// name.
pub(crate) fn constants(text: &str) -> Vec<(Name<'_>, &str)> {
    let tokens: Vec<Token<'_>> = rust_tokens::tokens(text)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Comment)
        .collect();
    let tokens = rust_tokens::without_tests(&tokens);
    let mut constants = Vec::new();
    for (at, window) in tokens.windows(4).enumerate() {
        // After a bracket or a comma, `const` is a parameter.
        let is_parameter = at
            .checked_sub(1)
            .is_some_and(|before| tokens[before].is("<") || tokens[before].is(","));
        if let [keyword, name, colon, kind] = window
            && matches!(keyword.text, "const" | "static")
            && name.kind == TokenKind::Ident
            && colon.is(":")
            && !is_parameter
        {
            constants.push((named("constant", name), kind.text));
        }
    }
    constants
}

fn named<'t>(kind: &'static str, token: &Token<'t>) -> Name<'t> {
    Name {
        text: token.text,
        line: token.line,
        kind,
    }
}

/// Returns the index of the `{` of an item with its name before `from`; `None` if `;` comes first.
fn body(tokens: &[Token<'_>], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let token = tokens.get(at)?;
        if token.is("{") {
            return Some(at);
        }
        if token.is(";") {
            return None;
        }
        at = if token.is("(") || token.is("[") {
            rust_tokens::group_end(tokens, at)
        } else {
            at + 1
        };
    }
}

/// True if `before` ends with `pub`, `pub(crate)` or the like, apart from `async`, `const`,
/// `unsafe` and `extern "C"`.
fn is_public(before: &[Token<'_>]) -> bool {
    let mut before = before.iter().rev().peekable();
    while before
        .next_if(|token| {
            matches!(token.text, "async" | "const" | "unsafe" | "extern")
                || token.kind == TokenKind::Str
        })
        .is_some()
    {}
    if before.next_if(|token| token.is(")")).is_some() {
        // The path of `pub(in path)` has no brackets.
        while before.next_if(|token| !token.is("(")).is_some() {}
        before.next();
    }
    before.next().is_some_and(|token| token.is("pub"))
}

fn fields<'t>(inside: &[Token<'t>], names: &mut Vec<Name<'t>>) {
    for member in members(inside) {
        if let [name, colon, ..] = member
            && name.kind == TokenKind::Ident
            && colon.is(":")
        {
            names.push(named("field", name));
        }
    }
}

fn variants<'t>(inside: &[Token<'t>], names: &mut Vec<Name<'t>>) {
    for member in members(inside) {
        let Some(name) = member.first().filter(|name| name.kind == TokenKind::Ident) else {
            continue;
        };
        names.push(named("variant", name));
        if let Some(open) = member.iter().position(|token| token.is("{")) {
            fields(&member[open + 1..member.len() - 1], names);
        }
    }
}

/// Splits the tokens inside an item at commas, and drops attributes and visibility.
fn members<'a, 't>(inside: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let mut members = Vec::new();
    let (mut start, mut at, mut angles) = (0, 0, 0_usize);
    while let Some(token) = inside.get(at) {
        if at == start {
            let member_start =
                rust_tokens::attribute_end(inside, at).or_else(|| visibility_end(inside, at));
            if let Some(end) = member_start {
                (start, at) = (end, end);
                continue;
            }
        }
        if token.is("(") || token.is("[") || token.is("{") {
            at = rust_tokens::group_end(inside, at);
            continue;
        }
        if token.is("<") {
            angles += 1;
        } else if token.is(">")
            && !at
                .checked_sub(1)
                .is_some_and(|before| inside[before].is("-"))
        {
            angles = angles.saturating_sub(1);
        } else if token.is(",") && angles == 0 {
            members.push(&inside[start..at]);
            start = at + 1;
        }
        at += 1;
    }
    members.push(&inside[start.min(inside.len())..]);
    members
}

fn visibility_end(inside: &[Token<'_>], at: usize) -> Option<usize> {
    inside.get(at).filter(|token| token.is("pub"))?;
    let is_limited = inside.get(at + 1).is_some_and(|token| token.is("("));
    Some(if is_limited {
        rust_tokens::group_end(inside, at + 1)
    } else {
        at + 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, &str, usize)> {
        let names = declared(text).into_iter();
        names
            .map(|name| (name.kind, name.text, name.line))
            .collect()
    }

    #[test]
    fn declared_finds_every_kind_of_declaration() {
        let text = "pub struct A<T> { /* x */ #[serde(default)] pub(crate) b: HashMap<u8, Vec<T>>,\n c: fn(u8) -> u8, }\n\
                    enum D { E, F(u8), G { h: u8 }, I = 3 }\n\
                    trait J { fn k(&self); fn l() { let m: u8 = 1; } }\n\
                    pub(super) const unsafe extern \"C\" fn n(o: u8) {} fn p() {} mod q; type R = u8; struct S(u8); struct U;";
        assert_eq!(
            found(text),
            [
                ("type", "A", 1),
                ("field", "b", 1),
                ("field", "c", 2),
                ("type", "D", 3),
                ("variant", "E", 3),
                ("variant", "F", 3),
                ("variant", "G", 3),
                ("field", "h", 3),
                ("variant", "I", 3),
                ("type", "J", 4),
                ("public function", "k", 4),
                ("public function", "l", 4),
                ("public function", "n", 5),
                ("private function", "p", 5),
                ("module", "q", 5),
                ("type", "R", 5),
                ("type", "S", 5),
                ("type", "U", 5),
            ]
        );
    }

    #[test]
    fn constants_returns_names_and_types() {
        let text = "pub const A: usize = 1; const fn b(c: u8) {} impl D { const E: Duration = F; }\n\
                    fn g<const H: usize>() {} #[cfg(test)] mod tests { const I: u8 = 1; }";
        let found = constants(text).into_iter();
        let found: Vec<_> = found.map(|(name, kind)| (name.text, kind)).collect();
        assert_eq!(found, [("A", "usize"), ("E", "Duration")]);
    }

    #[test]
    fn parts_splits_at_underscores_and_capitals() {
        assert_eq!(words_of("who_is"), ["who", "is"]);
        assert_eq!(words_of("NobodysJob"), ["nobodys", "job"]);
        assert_eq!(words_of("LEFT"), ["left"]);
        assert_eq!(words_of("r#type"), ["type"]);
    }
}
