//! Parses SQL just far enough to detect data loss: statements and their first words, without
//! strings and comments.

/// Objects that hold data.
const DATA_OBJECTS: [&str; 6] = [
    "database", "schema", "table", "keyspace", "owned", "tablespace",
];

/// True if a statement drops a database, a schema or a table, or empties a table.
pub(super) fn destroys(text: &str) -> bool {
    let code = without_literals(text).to_ascii_lowercase();
    code.split(';').any(|statement| {
        let words: Vec<&str> = statement
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '"' | '*'))
            .filter(|word| !word.is_empty())
            .collect();
        match words.as_slice() {
            ["drop", object, ..] => DATA_OBJECTS.contains(object),
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
        let (replacement, end) = match c {
            '\'' | '`' => (" ", closing(&rest[1..], c).map(|quote| quote + 2)),
            '-' if rest.starts_with("--") => ("\n", rest.find('\n')),
            '/' if rest.starts_with("/*") => (" ", rest.find("*/").map(|mark| mark + 2)),
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        out.push_str(replacement);
        rest = end.and_then(|end| rest.get(end..)).unwrap_or("");
    }
    out
}

/// Returns the offset of the quote that ends a string; a doubled quote is part of the string.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut offset = 0;
    loop {
        offset += text.get(offset..)?.find(quote)?;
        if !text[offset + 1..].starts_with(quote) {
            return Some(offset);
        }
        offset += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_classified() {
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
