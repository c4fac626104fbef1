//! The output of programs that fill in a template: `awk '{print "rm " $1}'`, `sed 's/^/rm /'`, `git
//! for-each-ref --format='git push %(refname)'`. Such lines are often piped into a shell.

use super::super::value::Value;

/// Returns the output of a program that fills in a template on its command line, or that edits the
/// lines of its input. Each field of a template becomes `hole`, an unknown value. `None` for other
/// programs and texts.
pub(super) fn template_output(
    name: &str,
    values: &[Value],
    input: Option<&Value>,
    hole: &Value,
) -> Option<Value> {
    if matches!(name, "sed" | "gsed") {
        return substituted(values, input.unwrap_or(hole));
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let mut printers = PRINTERS.iter();
    if let Some(printer) = printers.find(|printer| printer.names.contains(&stem)) {
        return printer.output(values, hole);
    }
    let literal = |value| Value::literal(value).unwrap_or_default();
    let words: Vec<&str> = values.iter().map(literal).collect();
    let mut templates = TEMPLATES
        .iter()
        .filter(|template| template.names.contains(&name));
    templates.find_map(|template| template.output(&words, hole))
}

/// A program that prints expressions of the program on its command line.
struct Printer {
    names: &'static [&'static str],
    /// The words before a printed expression; empty if the whole program is an expression.
    statements: &'static [&'static str],
    /// The characters that end an expression.
    ends: &'static str,
}

#[rustfmt::skip]
const PRINTERS: [Printer; 5] = [
    Printer { names: &["awk", "gawk", "mawk", "nawk"], statements: &["print"], ends: ";}|>\n" },
    Printer { names: &["perl", "python", "pypy", "ruby", "php"], statements: &["print", "say ", "puts ", "echo "], ends: ";}\n" },
    Printer { names: &["node", "nodejs", "bun", "deno"], statements: &["console.log", "stdout.write"], ends: ";\n" },
    Printer { names: &["jq", "gojq", "jaq", "yq", "gh"], statements: &[], ends: "" },
    Printer { names: &["sqlite", "psql", "mysql", "mariadb", "duckdb"], statements: &["select ", "SELECT "], ends: ";" },
];

impl Printer {
    fn output(&self, values: &[Value], hole: &Value) -> Option<Value> {
        let prints = |text: &&str| self.statements.iter().any(|word| text.contains(word));
        let quotes = |text: &&str| self.statements.is_empty() && text.contains('"');
        let mut programs = values.iter().filter_map(Value::literal);
        let program = programs.find(|text| prints(text) || quotes(text))?;
        let expressions: Vec<&str> = match self.statements {
            [] => stages(program),
            words => {
                let words = words.iter();
                words.flat_map(|word| program.split(word).skip(1)).collect()
            }
        };
        let mut out = Value::default();
        for line in expressions
            .iter()
            .filter_map(|text| expression(text, self.ends, hole))
        {
            out.extend(&line);
            out.push_text("\n");
        }
        (!out.is_empty()).then_some(out)
    }
}

/// An option with a template that a program prints for each of its results.
struct Template {
    names: &'static [&'static str],
    /// The subcommands with the option; empty for all subcommands.
    subcommands: &'static [&'static str],
    options: &'static [&'static str],
    /// The beginning and the end of a field; without an end, a field ends after letters.
    field: (&'static str, &'static str),
}

#[rustfmt::skip]
const TEMPLATES: [Template; 12] = [
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
    Template { names: &["stat", "gstat"], subcommands: &[], options: &["--format", "--printf", "-c"], field: ("%", "") },
    Template { names: &["seq"], subcommands: &[], options: &["-f", "--format"], field: ("%", "") },
    Template { names: &["kubectl", "oc"], subcommands: &[], options: &["-o", "--output"], field: ("{", "}") },
    Template { names: &["dpkg-query", "dpkg"], subcommands: &[], options: &["-f", "--showformat"], field: ("${", "}") },
    Template { names: &["rpm"], subcommands: &[], options: &["--qf", "--queryformat"], field: ("%{", "}") },
    Template { names: &["tmux"], subcommands: &[], options: &["-F"], field: ("#{", "}") },
    Template { names: &["fd", "fdfind"], subcommands: &[], options: &["--format"], field: ("{", "}") },
    Template { names: &["hg"], subcommands: &[], options: &["--template", "-T"], field: ("{", "}") },
];

/// Fields of templates that print nothing.
const SILENT_FIELDS: [&str; 4] = ["range ", "end", "if ", "else"];

impl Template {
    fn output(&self, words: &[&str], hole: &Value) -> Option<Value> {
        let is_known = |word: &&&str| {
            let mut templates = TEMPLATES.iter();
            templates.any(|template| template.subcommands.contains(word))
        };
        let subcommand = words.iter().find(is_known);
        if !self.subcommands.is_empty() && !self.subcommands.contains(subcommand?) {
            return None;
        }
        let format = words.iter().enumerate().find_map(|(index, word)| {
            let option = self
                .options
                .iter()
                .find(|option| word.starts_with(*option))?;
            match &word[option.len()..] {
                "" => words.get(index + 1).copied(),
                rest => rest.strip_prefix('='),
            }
        })?;
        let (open, close) = self.field;
        let prefixes = ["format:", "tformat:", "table ", "jsonpath="];
        let format = prefixes
            .iter()
            .find_map(|prefix| format.strip_prefix(prefix))
            .unwrap_or(format);
        let format = format.replace("\\n", "\n");
        let mut parts = format.split(open);
        let mut out = Value::text(parts.next()?);
        for part in parts {
            if !SILENT_FIELDS.iter().any(|field| part.starts_with(field)) {
                out.extend(hole);
            }
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

/// Returns the stages of a program of jq.
fn stages(program: &str) -> Vec<&str> {
    let (mut depth, mut is_text) = (0_usize, false);
    let ends_stage = |c: char| {
        match c {
            '"' => is_text = !is_text,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '|' && depth == 0 && !is_text
    };
    program.split(ends_stage).collect()
}

/// Returns the line that an expression prints: its strings, and a hole for each other part. `None`
/// without a string.
fn expression(text: &str, ends: &str, hole: &Value) -> Option<Value> {
    let formatted = text.strip_prefix('f');
    let mut chars = formatted.unwrap_or(text).chars().peekable();
    let (mut out, mut has_text, mut in_hole) = (Value::default(), false, false);
    let (mut quote, mut is_template) = (None, false);
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or('\n');
        match (quote, c) {
            (None, '"' | '\'' | '`') => {
                quote = Some(c);
                in_hole = false;
            }
            (Some(open), _) if open == c => (quote, is_template) = (None, false),
            (Some(_), '%') if formatted.is_some() || matches!(next, 's' | 'd') => {
                chars.next();
                out.extend(hole);
            }
            // `\(.name)`, `#{name}`, `${name}`, `{name}`
            (Some(_), '\\') if next == '(' => field(&mut chars, ')', &mut out, hole),
            (Some(_), '#' | '$') if next == '{' => field(&mut chars, '}', &mut out, hole),
            (Some(_), '{') if is_template => field(&mut chars, '}', &mut out, hole),
            (Some(_), '\\') => match chars.next() {
                Some('n') | None => out.push_text("\n"),
                Some(escaped) => out.push_text(escaped.encode_utf8(&mut [0; 4])),
            },
            (Some(_), _) => {
                out.push_text(c.encode_utf8(&mut [0; 4]));
                has_text = true;
            }
            (None, ',') if formatted.is_some() => break,
            (None, _) if ends.contains(c) => break,
            (None, ',') => out.push_text(" "),
            (None, '(' | ')' | '+' | '|') => {}
            (None, 'f' | 'r' | 'b') if matches!(next, '"' | '\'') => is_template = c == 'f',
            (None, _) if c.is_whitespace() => {}
            (None, _) => {
                if !std::mem::replace(&mut in_hole, true) {
                    out.extend(hole);
                }
            }
        }
    }
    has_text.then_some(out)
}

/// Skips an expression within a string up to its end, and adds a hole.
fn field(chars: &mut impl Iterator<Item = char>, close: char, out: &mut Value, hole: &Value) {
    let mut depth = 0_usize;
    for c in chars {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == close && depth == 0 {
            break;
        }
    }
    out.extend(hole);
}

/// Patterns of `sed` that match a whole line.
const WHOLE_LINES: [&str; 6] = [".*", "^.*", ".*$", "^.*$", "\\(.*\\)", "(.*)"];

/// Returns the input after the substitutions of `sed` that add text to each line; `None` without
/// such a substitution.
fn substituted(values: &[Value], input: &Value) -> Option<Value> {
    let scripts = values.iter().filter_map(Value::literal);
    let all: Vec<_> = scripts.flat_map(substitutions).collect();
    let is_relevant = |(pattern, text): &(String, String)| {
        let adds = text.contains(|c: char| c.is_alphanumeric());
        adds && (matches!(pattern.as_str(), "^" | "$") || WHOLE_LINES.contains(&pattern.as_str()))
    };
    if !all.iter().any(is_relevant) {
        return None;
    }
    let mut out = Value::default();
    for mut line in input.split(&['\n', '\0']) {
        for (pattern, text) in all.iter().filter(|substitution| is_relevant(substitution)) {
            let mut changed = Value::default();
            if pattern == "$" {
                changed.extend(&line);
            }
            for (index, part) in text.split('&').enumerate() {
                if index > 0 {
                    changed.extend(&line);
                }
                changed.push_text(part);
            }
            if pattern == "^" {
                changed.extend(&line);
            }
            line = changed;
        }
        out.extend(&line);
        out.push_text("\n");
    }
    Some(out)
}

/// True if a filter only edits a known name without a directory: `tr - _`, `sed 's/-.*//'`.
pub(super) fn edits_name(name: &str, values: &[Value], input: Option<&Value>) -> bool {
    let is_name = |text: &str| !text.contains('/');
    let words: Vec<&str> = values.iter().filter_map(Value::literal).collect();
    let is_edit = match name {
        "cut" => true,
        "tr" => words.iter().all(|word| is_name(word)),
        "sed" | "gsed" => {
            let mut texts = words.iter().copied().flat_map(substitutions);
            words.iter().all(|word| word.starts_with(['-', 's']))
                && texts.all(|(_, text)| is_name(&text))
        }
        _ => false,
    };
    is_edit && words.len() == values.len() && input.and_then(Value::literal).is_some_and(is_name)
}

/// Returns the patterns and the texts of the `s` commands in a script of `sed`; in the texts, `&`
/// stands for the match.
fn substitutions(script: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut chars = script.chars();
    while let Some(c) = chars.next() {
        if matches!(c, ' ' | '\n' | ';' | '{') {
            continue;
        }
        let delimiter = chars.clone().next().filter(char::is_ascii_punctuation);
        if let (true, Some(delimiter)) = (c == 's', delimiter) {
            chars.next();
            let pattern = section(&mut chars, delimiter);
            found.push((pattern, section(&mut chars, delimiter)));
        }
        // The rest of the command.
        chars.find(|c| matches!(c, ';' | '\n'));
    }
    found
}

/// Returns the text up to a delimiter; a reference to a group (`\1`) becomes `&`.
fn section(chars: &mut std::str::Chars<'_>, delimiter: char) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next().filter(|c| *c != delimiter) {
        match (c, chars.clone().next()) {
            ('\\', Some(next)) if next == delimiter => text.push(next),
            ('\\', Some('1'..='9')) => text.push('&'),
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some(next)) => text.extend([c, next]),
            _ => {
                text.push(c);
                continue;
            }
        }
        chars.next();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::UnknownCause;

    #[test]
    fn template_is_printed_with_its_text() {
        let hole = Value::unknown(UnknownCause::Output);
        // A program and its arguments, and the output, in which `…` stands for the hole.
        for (command, expect) in [
            (r#"awk :: {print "rm " $1}"#, "rm …\n"),
            (r#"awk :: -F: :: /x/ {print "a", $NF "/b"; x}"#, "a …/b\n"),
            (r#"gawk :: {printf "kill %s\n", $2}"#, "kill …\n\n"),
            ("awk :: {print $2}", ""),
            (
                r#"jq :: -r :: .[] | "rm -rf /\(.name | tostring)/x""#,
                "rm -rf /…/x\n",
            ),
            ("jq :: select(.a == 1) | .b", ""),
            (
                "python3 :: -c :: import os\nfor f in os.listdir():\n  print(f'rm {f}')",
                "rm …\n",
            ),
            (r#"perl :: -ne :: chomp; print "rm $_\n""#, "rm $_\n\n"),
            (r#"ruby :: -ne :: puts "rm #{$_}""#, "rm …\n"),
            (
                "sqlite3 :: x.db :: select 'rm ' || path from files",
                "rm …\n",
            ),
            (r"sed :: -e :: s/^/rm \//; s/$/x/", "rm /…x\n"),
            (r"sed :: s|\(.*\)|rm \1|", "rm …\n"),
            ("sed :: s/a/b/", ""),
            ("sed :: s/^/\"/; s/$/\"/", ""),
            (
                r#"kubectl :: get :: ns :: -o :: jsonpath={range .items[*]}rm {.a}{"\n"}{end}"#,
                "rm …\n",
            ),
            (
                "git :: for-each-ref :: --format=git push %(refname) :: refs",
                "git push …\n",
            ),
            ("git :: for-each-ref :: --format=%(refname)", ""),
            ("git :: branch :: --format :: rm %(refname)", "rm …\n"),
            ("git :: log :: -1 :: --pretty=format:a %h b", "a … b\n"),
            ("podman :: ps :: --format :: rm {{.Names}}", "rm …\n"),
            (r"find :: . :: -printf :: rm /%f\n", "rm /…\n\n"),
            ("git :: status :: --format=a %(x)", ""),
        ] {
            let mut words = command.split(" :: ");
            let name = words.next().unwrap();
            let values: Vec<Value> = words.map(Value::text).collect();
            let out = template_output(name, &values, None, &hole).map(|out| out.to_string());
            let expect = expect.replace('…', "<the output of a command>");
            assert_eq!(out.unwrap_or_default(), expect, "{command}");
        }
    }
}
