//! What `grep` leaves of a list of paths.
//!
//! A list printed by `find` represents everything below a path. After filtering by name, only matching files
//! remain, and no longer the path itself. `grep -l` prints names of files among its arguments. Any other text is
//! assumed to pass unchanged.

use regex::RegexBuilder;

use super::super::value::{Piece, Value};

/// Longest pattern that is tried, in bytes.
const MAX_PATTERN: usize = 200;

/// Size limit of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 64 * 1024;

/// Sample names that may exist below a path; a selective filter must not match them.
const SAMPLES: [&str; 9] = [
    "", "/a", "/.git", "/.git/a", "/src", "/etc", "/usr", "/home", "/x.c",
];

/// Represents what remains.
const REST: &str = "(matching)";

/// The lines of `text` that pass `grep` with these arguments.
pub(super) fn grep(text: &Value, arguments: &[Value]) -> Value {
    let lines = text.split(&['\n', '\0']);
    if !lines.iter().all(is_path) {
        return text.clone();
    }
    let Some(pattern) = pattern(arguments) else {
        return text.clone();
    };
    let mut out = Value::default();
    for line in lines {
        let path = line.prefix().trim_end_matches('/');
        // `ls` prints names without directories.
        let is_name = line.prefix().is_empty();
        let narrows = SAMPLES.iter().all(|sample| {
            let name = if is_name {
                &sample[sample.len().min(1)..]
            } else {
                sample
            };
            !pattern.is_match(&format!("{path}{name}"))
        });
        if narrows {
            let path = if is_name { "." } else { path };
            out.push_text(&format!("{path}/{REST}"));
        } else {
            out.extend(&line);
        }
        out.push_text("\n");
    }
    out
}

/// Short options of `grep`, without and with a value.
const FLAGS: &str = "lLrRiIEFGPwxnHhsZzaqcvobUyT";
const VALUED: &str = "efmABCdD";

/// Long options of `grep`, without and with a separate value.
const LONG_FLAGS: [&str; 10] = [
    "files-with-matches", "files-without-match", "recursive", "dereference-recursive",
    "ignore-case", "extended-regexp", "fixed-strings", "perl-regexp", "word-regexp", "null",
];
const LONG_VALUED: [&str; 6] = [
    "regexp", "file", "include", "exclude", "exclude-dir", "max-count",
];

/// The output of `grep -l`: names of its file arguments, or of files below them. `None` if it prints lines, or if
/// the file arguments cannot be determined.
pub(super) fn names(arguments: &[Value]) -> Option<Value> {
    let (mut lists, mut patterned, mut options) = (false, false, true);
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.prefix();
        if word.has_unknown() {
            return None;
        }
        if !options || text.len() < 2 || !text.starts_with('-') {
            operands.push(word);
        } else if text == "--" {
            options = false;
        } else if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            lists |= name.starts_with("files-with");
            if LONG_VALUED.contains(&name) {
                patterned |= matches!(name, "regexp" | "file");
                if name == long {
                    words.next()?;
                }
            } else if !LONG_FLAGS.contains(&name) {
                return None;
            }
        } else {
            for (at, letter) in text.char_indices().skip(1) {
                if VALUED.contains(letter) {
                    patterned |= matches!(letter, 'e' | 'f');
                    if at + 1 == text.len() {
                        words.next()?;
                    }
                    break;
                }
                if !FLAGS.contains(letter) {
                    return None;
                }
                lists |= matches!(letter, 'l' | 'L');
            }
        }
    }
    let files = operands.get(usize::from(!patterned)..)?;
    if !lists || files.is_empty() {
        return None;
    }
    let mut out = Value::default();
    for file in files {
        out.extend(file);
        out.push_text("\n");
    }
    Some(out)
}

/// Whether a line is a path, possibly with `*` for everything in it.
fn is_path(line: &Value) -> bool {
    let path = |text: &str| {
        text.starts_with(['.', '/'])
            && !text.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    match line.pieces() {
        [Piece::Text(text)] => path(text),
        [Piece::Text(text), Piece::Glob(glob)] => path(text) && text.ends_with('/') && glob == "*",
        [Piece::Glob(glob)] => glob == "*",
        _ => false,
    }
}

/// The only pattern, if exactly the lines that match it pass.
fn pattern(arguments: &[Value]) -> Option<regex::Regex> {
    let mut pattern = None;
    let (mut extended, mut fixed, mut ignores_case) = (false, false, false);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.literal()?;
        match text {
            "-e" | "--regexp" if pattern.is_none() => pattern = Some(words.next()?.literal()?),
            "--extended-regexp" | "--perl-regexp" => extended = true,
            "--fixed-strings" => fixed = true,
            "--ignore-case" => ignores_case = true,
            _ if text.starts_with("--") => return None,
            _ if text.len() > 1 && text.starts_with('-') => {
                for letter in text[1..].chars() {
                    match letter {
                        'E' | 'P' => extended = true,
                        'F' => fixed = true,
                        'i' => ignores_case = true,
                        'a' | 'z' | 'x' | 'w' => {}
                        _ => return None,
                    }
                }
            }
            _ if pattern.is_none() => pattern = Some(text),
            // A file.
            _ => return None,
        }
    }
    let pattern = pattern.filter(|pattern| !pattern.is_empty() && pattern.len() <= MAX_PATTERN)?;
    let pattern = if fixed {
        regex::escape(pattern)
    } else if extended {
        pattern.to_owned()
    } else {
        basic(pattern)
    };
    RegexBuilder::new(&pattern)
        .case_insensitive(ignores_case)
        .size_limit(MAX_COMPILED)
        .build()
        .ok()
}

/// Converts a basic regular expression to an extended one, by swapping which operators need a backslash.
fn basic(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('(' | ')' | '{' | '}' | '|' | '+' | '?')) => out.push(next),
                Some(next) => out.extend(['\\', next]),
                None => out.push_str("\\\\"),
            },
            '(' | ')' | '{' | '}' | '|' | '+' | '?' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::push_globbed;

    #[test]
    fn only_a_name_narrows_a_list_of_paths() {
        for (list, arguments, expect) in [
            (".", &["-E", "(__pycache__|\\.pyc$)"][..], "./(matching)\n"),
            (".", &["\\(pycache\\|pyc\\)"], "./(matching)\n"),
            (".", &["node_modules"], "./(matching)\n"),
            ("*", &["node_modules"], "./(matching)\n"),
            ("*", &["^src"], "*\n"),
            ("/", &["-i", "Thumbs"], "/(matching)\n"),
            (".", &["."], ".\n"),
            (".", &["git"], ".\n"),
            ("/", &["^/etc"], "/\n"),
            (".", &["-v", "node_modules"], "."),
            (".", &["-E", "x", "file"], "."),
            (".", &["-E", "("], "."),
            ("rm -rf /", &["node"], "rm -rf /"),
            ("rm", &["node"], "rm"),
        ] {
            let mut text = Value::default();
            push_globbed(&mut text, list);
            let arguments: Vec<Value> = arguments.iter().map(|word| Value::text(*word)).collect();
            assert_eq!(
                grep(&text, &arguments).to_string(),
                expect,
                "{list} {arguments:?}"
            );
        }
    }
}
