//! Placeholders in commands and expectations.
//!
//! | written | stands for |
//! |---|---|
//! | `{{cwd}}` `{{home}}` `{{state}}` `{{tmp}}` | directories of the case's world |
//! | `{{content NAME}}` | the trimmed content of a file in the working directory |
//! | `{{lines A B}}` | the numbers from A to B, a line each, without the last newline |
//! | `{{repeat N TEXT}}` | TEXT, N times |
//! | `{{int}}` `{{number}}` | in an expectation: a whole number, any number |
//! | `{{word}}` `{{line}}` `{{any}}` | in an expectation: text without spaces, the rest of a line, anything |
//! | `{{null}}` | in a result: JSON's `null` |

use crate::world::World;
use anyhow::{Context, Result, bail};
use regex::{Regex, RegexBuilder};

/// Wildcards and the patterns they match.
const WILDCARDS: [(&str, &str); 5] = [
    ("int", r"-?[0-9]+"),
    ("number", r"-?[0-9]+(?:\.[0-9]+)?"),
    ("word", r"\S+"),
    ("line", r"[^\n]*"),
    ("any", r"(?s:.*)"),
];

/// True if `pattern` is the wildcard for a JSON number.
pub(super) fn is_number_wildcard(pattern: &str) -> bool {
    matches!(pattern, "{{int}}" | "{{number}}")
}

/// A piece of a text.
enum Piece<'a> {
    Plain(&'a str),
    Placeholder(&'a str),
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inside, after) = after
            .split_once("}}")
            .with_context(|| format!("`{{{{` without `}}}}` in {text:.80}"))?;
        pieces.push(Piece::Plain(before));
        pieces.push(Piece::Placeholder(inside));
        rest = after;
    }
    pieces.push(Piece::Plain(rest));
    Ok(pieces)
}

/// Replaces every placeholder that has a value.
///
/// # Errors
/// An unknown placeholder, or a wildcard, which has no value.
pub(super) fn fill(text: &str, world: &World) -> Result<String> {
    let mut filled = String::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Plain(plain) => filled.push_str(plain),
            Piece::Placeholder(inside) => filled.push_str(&value(inside, world)?),
        }
    }
    Ok(filled)
}

/// Replaces every placeholder that has a value, and leaves the others. For reports.
pub(super) fn fill_known(text: &str, world: &World) -> String {
    let Ok(pieces) = pieces(text) else {
        return text.to_owned();
    };
    let mut filled = String::new();
    for piece in pieces {
        match piece {
            Piece::Plain(plain) => filled.push_str(plain),
            Piece::Placeholder(inside) => match value(inside, world) {
                Ok(value) => filled.push_str(&value),
                Err(_) => filled.extend(["{{", inside, "}}"]),
            },
        }
    }
    filled
}

/// Returns true if `actual` matches `expected`, including wildcards.
///
/// # Errors
/// An unknown placeholder.
pub(super) fn matches(expected: &str, actual: &str, world: &World) -> Result<bool> {
    // The literal parts between the wildcards.
    let mut plain = vec![String::new()];
    let mut wildcards = Vec::new();
    for piece in pieces(expected)? {
        let text = match piece {
            Piece::Plain(text) => text.to_owned(),
            Piece::Placeholder(inside) => {
                if let Some((_, wildcard)) = WILDCARDS.into_iter().find(|(name, _)| *name == inside)
                {
                    wildcards.push(wildcard);
                    plain.push(String::new());
                    continue;
                }
                value(inside, world)?
            }
        };
        if let Some(last) = plain.last_mut() {
            last.push_str(&text);
        }
    }
    // Literal ends are compared directly: expectations contain whole outputs, and regular
    // expressions of that size are slow.
    let end = plain.pop().unwrap_or_default();
    let [begin, middle @ ..] = plain.as_slice() else {
        return Ok(end == actual);
    };
    let Some(rest) = actual
        .strip_prefix(begin.as_str())
        .and_then(|rest| rest.strip_suffix(end.as_str()))
    else {
        return Ok(false);
    };
    let mut pattern = String::from(r"\A");
    for (index, wildcard) in wildcards.into_iter().enumerate() {
        pattern.push_str(wildcard);
        pattern.push_str(&regex::escape(middle.get(index).map_or("", String::as_str)));
    }
    pattern.push_str(r"\z");
    Ok(compile(&pattern)?.is_match(rest))
}

fn compile(pattern: &str) -> Result<Regex> {
    /// Compiles with a higher size limit than the default, which is too low for wildcards around
    /// large outputs.
    const SIZE_LIMIT: usize = 256 << 20;
    Ok(RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build()?)
}

fn value(inside: &str, world: &World) -> Result<String> {
    let mut words = inside.splitn(3, ' ');
    let words = (words.next(), words.next(), words.next());
    Ok(match words {
        (Some("cwd"), None, None) => world.cwd().display().to_string(),
        (Some("home"), None, None) => world.home().display().to_string(),
        (Some("state"), None, None) => world.state().display().to_string(),
        (Some("tmp"), None, None) => world.temp().display().to_string(),
        (Some("content"), Some(name), None) => {
            let path = world.cwd().join(name);
            let content = std::fs::read_to_string(&path)
                .with_context(|| format!("reading {}", path.display()))?;
            content.trim().to_owned()
        }
        (Some("lines"), Some(from), Some(to)) => {
            let numbers = from.parse::<u64>()?..=to.parse::<u64>()?;
            numbers
                .map(|n| n.to_string())
                .collect::<Vec<_>>()
                .join("\n")
        }
        (Some("repeat"), Some(count), Some(text)) => text.repeat(count.parse()?),
        _ => bail!("no placeholder `{{{{{inside}}}}}` has a value here"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_wildcards_match() {
        let world = World::new().unwrap();
        let cwd = world.cwd().display().to_string();
        assert_eq!(
            fill("cd {{cwd}}; {{lines 8 10}}|{{repeat 3 ab}}", &world).unwrap(),
            format!("cd {cwd}; 8\n9\n10|ababab")
        );
        for (expected, actual, want) in [
            ("plain (.*)", "plain (.*)", true),
            ("plain (.*)", "plain x", false),
            ("pid {{int}}.", "pid 12.", true),
            ("pid {{int}}.", "pid x.", false),
            ("took {{number}} s", "took 0.25 s", true),
            ("a {{word}} b", "a x y b", false),
            ("a {{line}}\nb", "a x y\nb", true),
            ("a {{line}}\nb", "a x\ny\nb", false),
            ("a{{any}}", "a x\ny\n", true),
            ("{{int}}", "1 ", false),
            ("{{int}}", " 1", false),
            ("{{lines 1 2}}", "1\n2", true),
            ("{{lines 1 2}}", "{{lines 1 2}}", false),
            ("ab{{any}}ba", "aba", false),
            ("{{int}}{{word}}", "1x", true),
        ] {
            assert_eq!(
                matches(expected, actual, &world).unwrap(),
                want,
                "{expected} / {actual}"
            );
        }
        std::fs::write(world.cwd().join("port"), "5173\n").unwrap();
        assert_eq!(fill(":{{content port}}", &world).unwrap(), ":5173");
        assert!(fill("{{content missing}}", &world).is_err());
        assert!(fill("{{nonsense}}", &world).is_err());
        assert_eq!(fill_known("{{int}} {{repeat 2 a}}", &world), "{{int}} aa");
        assert!(fill("{{int}}", &world).is_err());
        assert!(matches("{{open", "x", &world).is_err());
    }
}
