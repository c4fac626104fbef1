//! The output of programs that fill in a template: `awk '{print "rm " $1}'`, `git for-each-ref
//! --format='git push %(refname)'`. Such lines are often piped into a shell.

use super::super::value::Value;

/// Returns the output of a program that prints a template with text between its fields, each of
/// which becomes `hole`; `None` for other programs and templates.
pub(super) fn printed(name: &str, values: &[Value], hole: &Value) -> Option<Value> {
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => {
            let program = values.iter().filter_map(Value::literal);
            let program = program.max_by_key(|text| text.contains("print"))?;
            let statements = program.split("print").skip(1);
            let mut out = Value::default();
            for line in statements.filter_map(|statement| statement_output(statement, hole)) {
                out.extend(&line);
                out.push_text("\n");
            }
            (!out.is_empty()).then_some(out)
        }
        "git" => {
            let mut words = values.iter().filter_map(Value::literal);
            words.next().filter(|word| *word == "for-each-ref")?;
            let format = words.find_map(|word| word.strip_prefix("--format="))?;
            let mut parts = format.split("%(");
            let mut out = Value::text(parts.next()?);
            for part in parts {
                out.extend(hole);
                out.push_text(part.split_once(')')?.1);
            }
            out.push_text("\n");
            format.contains(' ').then_some(out)
        }
        _ => None,
    }
}

/// Returns the line of a `print` or `printf` of awk: its strings, and a hole for each other
/// expression. `None` without a string.
fn statement_output(statement: &str, hole: &Value) -> Option<Value> {
    let formatted = statement.strip_prefix('f');
    let mut chars = formatted.unwrap_or(statement).chars().peekable();
    let (mut out, mut is_text, mut has_text, mut in_hole) = (Value::default(), false, false, false);
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                is_text = !is_text;
                in_hole = false;
            }
            '%' if is_text && formatted.is_some() => {
                chars.next();
                out.extend(hole);
            }
            '\\' if is_text => match chars.next() {
                Some('n') | None => out.push_text("\n"),
                Some(escaped) => out.push_text(escaped.encode_utf8(&mut [0; 4])),
            },
            _ if is_text => {
                out.push_text(c.encode_utf8(&mut [0; 4]));
                has_text = true;
            }
            ',' if formatted.is_some() => break,
            ';' | '}' | '|' | '>' | '\n' => break,
            ',' => out.push_text(" "),
            _ if c.is_whitespace() => {}
            _ => {
                if !std::mem::replace(&mut in_hole, true) {
                    out.extend(hole);
                }
            }
        }
    }
    has_text.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::UnknownCause;

    #[test]
    fn a_template_is_printed_with_its_text() {
        let hole = Value::unknown(UnknownCause::Output);
        for (name, words, expect) in [
            (
                "awk",
                &[r#"{print "rm " $1}"#][..],
                "rm <the output of a command>\n",
            ),
            (
                "awk",
                &["-F:", r#"/x/ {print "a", $NF "/b"; x}"#],
                "a <the output of a command>/b\n",
            ),
            (
                "gawk",
                &[r#"{printf "kill %s\n", $2}"#],
                "kill <the output of a command>\n\n",
            ),
            ("awk", &["{print $2}"], ""),
            (
                "git",
                &["for-each-ref", "--format=git push %(refname)", "refs"],
                "git push <the output of a command>\n",
            ),
            ("git", &["for-each-ref", "--format=%(refname)"], ""),
            ("git", &["log", "--format=a %(x)"], ""),
        ] {
            let values: Vec<Value> = words.iter().map(|word| Value::text(*word)).collect();
            let out = printed(name, &values, &hole).map(|out| out.to_string());
            assert_eq!(out.as_deref().unwrap_or(""), expect, "{words:?}");
        }
    }
}
