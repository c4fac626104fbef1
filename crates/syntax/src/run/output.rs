//! The output of simple commands: `echo`, `printf`, `pwd`, `cat` of known text, `mktemp`, …
//!
//! The output of other programs is unknown. Filters that only drop or reorder lines are assumed to
//! pass all lines.

use super::super::escape::escapes;
use super::super::state::ShellState;
use super::super::value::{UnknownCause, Value, ValuePiece};
use super::Walker;
use super::call::Call;
use super::directory;
use super::expand::join;
use super::fetch;
use super::grep_output;
use super::path::{FRESH_DIRECTORY, absolute, lexical};
use super::template_output::{edits_name, template_output};

/// The programs whose output is interpreted.
const FOLLOWED_PROGRAMS: [&str; 35] = [
    "echo", "printf", "pwd", "mktemp", "cat", "tac", "sort", "uniq", "head", "tail", "grep", "tee",
    "realpath", "readlink", "dirname", "basename", "ls", "command", "which", "type", "yes",
    "sleep", "mkdir", "rm", "touch", "chmod", "cp", "mv", "true", "false", "pv", "shuf",
    "dos2unix", "sponge", "cygpath",
];

impl Walker<'_> {
    /// Returns the output of the program `name`.
    pub(super) fn output(&mut self, name: &str, call: &Call, shell: &mut ShellState) -> Value {
        if !FOLLOWED_PROGRAMS.contains(&name) {
            let values = call.values(1);
            fetch::note_downloads(name, &values, shell);
            let mut unknown = fetch::unknown_output(name, shell);
            let input = shell.stdin.as_deref();
            if !unknown.is_fetched() && edits_name(name, &values, input) {
                unknown = Value::unknown(UnknownCause::FileName);
            }
            return template_output(name, &values, input, &unknown).unwrap_or(unknown);
        }
        let values = call.values(1);
        match name {
            "echo" => echo(&values),
            "printf" => self.printf(&values, shell),
            "pwd" => shell
                .cwd
                .as_deref()
                .map_or(Value::unknown(UnknownCause::WorkingDirectory), |cwd| {
                    Value::text(format!("{cwd}\n"))
                }),
            "mktemp" => mktemp(&values),
            "cat" | "tac" | "sort" | "uniq" | "head" | "tail" | "grep" | "tee" | "pv" | "shuf"
            | "dos2unix" | "sponge" => Self::pass_on(name, &values, shell),
            "realpath" | "readlink" | "cygpath" => match values.last() {
                Some(value) => match value.literal() {
                    Some(path) if shell.cwd.is_some() => {
                        Value::text(format!("{}\n", lexical(&absolute(path, shell))))
                    }
                    _ => value.quoted(),
                },
                None => Value::unknown(UnknownCause::Output),
            },
            "dirname" | "basename" => part_of_path(name, &values),
            "ls" => ls(&values),
            "command" | "which" | "type" => match values.as_slice() {
                [program] if name == "which" => program.clone(),
                [option, program] if option.literal() == Some("-v") => program.clone(),
                _ => Value::unknown(UnknownCause::Output),
            },
            "yes" => values
                .first()
                .cloned()
                .unwrap_or_else(|| Value::text("y\n")),
            "mkdir" => {
                let operands = values.iter().filter(|value| !is_option(value));
                for path in operands.filter_map(directory::directory_text) {
                    directory::mark_created(&path, shell);
                }
                Value::default()
            }
            "true" | "false" | ":" | "sleep" | "wait" | "rm" | "touch" | "chmod" | "cp" | "mv" => {
                Value::default()
            }
            _ => Value::unknown(UnknownCause::Output),
        }
    }

    fn printf(&mut self, values: &[Value], shell: &mut ShellState) -> Value {
        let (values, variable) = match values {
            [option, name, rest @ ..] if option.literal() == Some("-v") => (rest, Some(name)),
            [option, rest @ ..] if option.literal() == Some("--") => (rest, None),
            all => (all, None),
        };
        let Some((format, arguments)) = values.split_first() else {
            return Value::default();
        };
        let out = match format.literal() {
            Some(format) => formatted(format, arguments),
            None => join(values, " "),
        };
        let Some(variable) = variable else { return out };
        self.subscripts(std::slice::from_ref(variable), shell);
        if let Some(name) = variable.literal() {
            self.set_variable(name, out, false, false, shell);
        }
        Value::default()
    }

    /// Returns the output of a filter: the text of the named files, or stdin.
    fn pass_on(name: &str, values: &[Value], shell: &mut ShellState) -> Value {
        let stdin = || {
            shell
                .stdin
                .as_deref()
                .cloned()
                .unwrap_or_else(|| Value::unknown(UnknownCause::Input))
        };
        match name {
            "cat" | "tac" => {
                let files: Vec<&Value> = values.iter().filter(|value| !is_option(value)).collect();
                if files.is_empty() {
                    return stdin();
                }
                let texts: Vec<Value> = files
                    .into_iter()
                    .map(|file| {
                        Self::file(file, shell)
                            .unwrap_or_else(|| Value::unknown(UnknownCause::Input))
                    })
                    .collect();
                join(&texts, "")
            }
            "tee" => {
                let text = stdin();
                for value in values {
                    if let Some(path) = value.literal().filter(|path| !path.starts_with('-')) {
                        let path = absolute(path, shell);
                        std::rc::Rc::make_mut(&mut shell.files).insert(path, text.clone());
                    }
                }
                text
            }
            "grep" if let Some(names) = grep_output::file_names(values) => names,
            "grep" if shell.stdin.is_some() => grep_output::matching_lines(&stdin(), values),
            _ if shell.stdin.is_some() => stdin(),
            _ => Value::unknown(UnknownCause::Output),
        }
    }
}

fn is_option(value: &Value) -> bool {
    value
        .literal()
        .is_some_and(|text| text.len() > 1 && text.starts_with('-'))
}

fn echo(values: &[Value]) -> Value {
    let (mut newline, mut escaped) = (true, false);
    let mut options = 0;
    for value in values {
        let Some(flags) = value.literal().and_then(|text| text.strip_prefix('-')) else {
            break;
        };
        if flags.is_empty() || !flags.bytes().all(|b| b"neE".contains(&b)) {
            break;
        }
        newline &= !flags.contains('n');
        escaped = flags.contains('e') || (escaped && !flags.contains('E'));
        options += 1;
    }
    let mut out = join(&values[options..], " ");
    if escaped && let Some(text) = out.literal() {
        out = Value::text(escapes(text));
    }
    if newline {
        out.push_text("\n");
    }
    out
}

/// Returns the output of `printf`, which reuses the format until all arguments are consumed.
fn formatted(format: &str, arguments: &[Value]) -> Value {
    let mut out = Value::default();
    let mut rest = arguments.iter();
    let format = escapes(format);
    loop {
        let mut has_conversion = false;
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push_text(c.encode_utf8(&mut [0; 4]));
                continue;
            }
            if chars.peek() == Some(&'%') {
                chars.next();
                out.push_text("%");
                continue;
            }
            while chars
                .peek()
                .is_some_and(|c| c.is_ascii_digit() || "-+ #.*".contains(*c))
            {
                chars.next();
            }
            let kind = chars.next();
            has_conversion = true;
            match rest.next() {
                None => {}
                Some(value) if kind == Some('b') => match value.literal() {
                    Some(text) => out.push_text(&escapes(text)),
                    None => out.extend(value),
                },
                Some(value) => out.extend(value),
            }
        }
        if !has_conversion || rest.len() == 0 {
            return out;
        }
    }
}

fn mktemp(values: &[Value]) -> Value {
    // A template in a known directory: `mktemp -d /x/y.XXXX`.
    let is_known = |value: &Value| !is_option(value) && value.prefix().contains('/');
    let Some(index) = values.iter().position(is_known) else {
        return Value::text(format!("{FRESH_DIRECTORY}\n"));
    };
    let mut out = values[index].quoted();
    // `mktemp -d -p /x`
    let option = values[..index].last().and_then(Value::literal);
    let is_directory = option.is_some_and(|text| text.starts_with('-') && text.ends_with('p'));
    out.push_text(if is_directory { "/tmp.XXXXXX\n" } else { "\n" });
    out
}

/// Returns the output of `dirname` and `basename`.
fn part_of_path(name: &str, values: &[Value]) -> Value {
    let is_basename = name == "basename";
    // `basename PATH ENDING`
    let has_ending = is_basename && values.first().is_some_and(|value| !is_option(value));
    let path = if has_ending {
        values.first()
    } else {
        values.last()
    };
    let Some(path) = path.and_then(Value::literal) else {
        let why = if is_basename {
            UnknownCause::FileName
        } else {
            UnknownCause::Output
        };
        return Value::unknown(why);
    };
    let trimmed = path.trim_end_matches('/');
    let (head, tail) = trimmed.rsplit_once('/').unwrap_or((".", trimmed));
    let ending = values.get(1).filter(|_| has_ending);
    let stem = ending.and_then(|ending| tail.strip_suffix(ending.literal()?));
    let text = match (is_basename, head) {
        (true, _) => stem.filter(|stem| !stem.is_empty()).unwrap_or(tail),
        (false, "") => "/",
        (false, head) => head,
    };
    Value::text(format!("{text}\n"))
}

/// Returns the output of `ls`: a glob that represents the names in a directory.
fn ls(values: &[Value]) -> Value {
    let operands: Vec<&Value> = values.iter().filter(|value| !is_option(value)).collect();
    let mut out = Value::default();
    for operand in operands {
        if operand
            .pieces()
            .iter()
            .any(|piece| matches!(piece, ValuePiece::Glob(_)))
        {
            out.extend(operand);
            out.push_text("\n");
        }
    }
    if out.is_empty() {
        out.push_glob("*");
        out.push_text("\n");
    }
    out
}
