//! Parses SQL just far enough to detect data loss: statements and their first words, without
//! strings and comments.

/// Objects that can be dropped without much harm.
const SMALL_OBJECTS: [&str; 9] = [
    "index", "constraint", "view", "trigger", "function", "procedure", "role", "user", "type",
];

/// True if a statement drops a database, schema or table, or empties one.
pub(super) fn destroys(text: &str) -> bool {
    let known = without_literals(text).to_ascii_lowercase();
    known.split(';').any(|statement| {
        let words: Vec<&str> = statement
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '"' | '*'))
            .filter(|word| !word.is_empty())
            .collect();
        match words.as_slice() {
            ["drop", what, ..] => {
                !SMALL_OBJECTS.contains(what)
                    && matches!(
                        *what,
                        "database" | "schema" | "table" | "keyspace" | "owned" | "tablespace"
                    )
            }
            ["truncate", ..] => true,
            ["delete", "from", rest @ ..] => {
                !rest.is_empty() && !rest.contains(&"where") && !rest.contains(&"using")
            }
            _ => false,
        }
    })
}

/// Returns the text without comments and without the contents of strings.
pub(super) fn without_literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (kept, end) = match c {
            '\'' | '`' => (" ", closing(&rest[1..], c).map(|at| at + 2)),
            '-' if rest.starts_with("--") => ("\n", rest.find('\n')),
            '/' if rest.starts_with("/*") => (" ", rest.find("*/").map(|at| at + 2)),
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        out.push_str(kept);
        rest = end.and_then(|end| rest.get(end..)).unwrap_or("");
    }
    out
}

/// Returns the end of a string; a doubled quote is part of it.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find(quote)?;
        if !text[at + 1..].starts_with(quote) {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart() {
        for (text, expect) in [
            ("DROP DATABASE x", true),
            ("drop schema if exists public cascade;", true),
            ("BEGIN; drop table x; COMMIT", true),
            ("truncate x", true),
            ("DELETE FROM x", true),
            ("-- clean\ndrop table x", true),
            ("/* a */ drop table x", true),
            ("DELETE FROM x WHERE y = 1", false),
            ("drop index x", false),
            ("alter table x drop column y", false),
            ("select 'a; drop table x'", false),
            ("select 'it''s; drop table x'", false),
            ("-- drop table x", false),
            ("/* ; drop table x */ select 1", false),
            ("select 'é", false),
            ("", false),
        ] {
            assert_eq!(destroys(text), expect, "{text}");
        }
    }
}
