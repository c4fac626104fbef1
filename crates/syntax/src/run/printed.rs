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
        _ => {
            let literal = |value| Value::literal(value).unwrap_or_default();
            let words: Vec<&str> = values.iter().map(literal).collect();
            TEMPLATES
                .iter()
                .filter(|template| template.names.contains(&name))
                .find_map(|template| template.output(&words, hole))
        }
    }
}

/// An option with a template that a program prints for each of its results.
struct Template {
    names: &'static [&'static str],
    /// The subcommands with the option; empty if all have it.
    subcommands: &'static [&'static str],
    options: &'static [&'static str],
    /// The beginning and the end of a field; without an end, a field ends after letters.
    field: (&'static str, &'static str),
}

#[rustfmt::skip]
const TEMPLATES: [Template; 4] = [
    Template {
        names: &["git"],
        subcommands: &["for-each-ref", "branch", "tag", "ls-files", "ls-tree", "cat-file"],
        options: &["--format", "--batch-check"],
        field: ("%(", ")"),
    },
    Template {
        names: &["git"],
        subcommands: &["log", "show", "rev-list", "reflog", "stash", "whatchanged"],
        options: &["--format", "--pretty"],
        field: ("%", ""),
    },
    Template {
        names: &["docker", "podman", "nerdctl", "buildah"],
        subcommands: &[],
        options: &["--format"],
        field: ("{{", "}}"),
    },
    Template { names: &["find", "gfind"], subcommands: &[], options: &["-printf"], field: ("%", "") },
];

impl Template {
    fn output(&self, words: &[&str], hole: &Value) -> Option<Value> {
        let is_known = |word: &&&str| TEMPLATES.iter().any(|it| it.subcommands.contains(word));
        let subcommand = words.iter().find(is_known);
        if !self.subcommands.is_empty() && !self.subcommands.contains(subcommand?) {
            return None;
        }
        let format = words.iter().enumerate().find_map(|(at, word)| {
            let option = self
                .options
                .iter()
                .find(|option| word.starts_with(*option))?;
            match &word[option.len()..] {
                "" => words.get(at + 1).copied(),
                rest => rest.strip_prefix('='),
            }
        })?;
        let (open, close) = self.field;
        let prefixes = ["format:", "tformat:", "table "];
        let format = prefixes
            .iter()
            .find_map(|it| format.strip_prefix(it))
            .unwrap_or(format);
        let format = format.replace("\\n", "\n");
        let mut parts = format.split(open);
        let mut out = Value::text(parts.next()?);
        for part in parts {
            out.extend(hole);
            let field = |c: char| !c.is_alphabetic() && c != '%';
            out.push_text(match close {
                "" => part
                    .trim_start_matches(field)
                    .trim_start_matches(char::is_alphabetic),
                close => part.split_once(close)?.1,
            });
        }
        out.push_text("\n");
        format.contains(' ').then_some(out)
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
            (
                "git",
                &["branch", "--format", "rm %(refname)"],
                "rm <the output of a command>\n",
            ),
            (
                "git",
                &["log", "-1", "--pretty=format:a %h b"],
                "a <the output of a command> b\n",
            ),
            (
                "podman",
                &["ps", "--format", "rm {{.Names}}"],
                "rm <the output of a command>\n",
            ),
            (
                "find",
                &[".", "-printf", r"rm /%f\n"],
                "rm /<the output of a command>\n\n",
            ),
            ("git", &["status", "--format=a %(x)"], ""),
        ] {
            let values: Vec<Value> = words.iter().map(|word| Value::text(*word)).collect();
            let out = printed(name, &values, &hole).map(|out| out.to_string());
            assert_eq!(out.as_deref().unwrap_or(""), expect, "{words:?}");
        }
    }
}
