//! Filters a list of paths as `grep` does.
//!
//! A list printed by `find` stands for a path and all files below the path. After a filter by name,
//! the list stands for the matching files only. `grep -l` prints names of files from its arguments.
//! Any other text is assumed to pass unchanged.

use super::super::value::{Value, ValuePiece};

/// Names that many directories contain. A filter by such a name, or by a part of such a name, does
/// not narrow a list.
const COMMON_NAMES: [&str; 5] = [".git", "src", "etc", "usr", "home"];

/// The name that represents the files that pass the filter.
const REST_PLACEHOLDER: &str = "(matching)";

/// Returns the lines of `text` that pass `grep` with these arguments.
pub(super) fn matching_lines(text: &Value, arguments: &[Value]) -> Value {
    let lines = text.split(&['\n', '\0']);
    if !lines.iter().all(is_path) || !filters_by_name(arguments) {
        return text.clone();
    }
    let mut out = Value::default();
    for line in lines {
        let path = line.prefix().trim_end_matches('/');
        // `ls` prints names without directories.
        let path = if line.prefix().is_empty() { "." } else { path };
        out.push_text(&format!("{path}/{REST_PLACEHOLDER}\n"));
    }
    out
}

/// True if the only operand is a pattern with a name in each of its alternatives, and no option
/// inverts the filter.
fn filters_by_name(arguments: &[Value]) -> bool {
    let is_option = |value: &&Value| value.prefix().starts_with('-');
    let (options, operands): (Vec<&Value>, Vec<&Value>) = arguments.iter().partition(is_option);
    let keeps_matching_lines = |option: &&Value| {
        let letters = option.prefix().trim_start_matches('-');
        letters.chars().all(|letter| "EPFiawxze".contains(letter))
    };
    let [pattern] = operands.as_slice() else {
        return false;
    };
    let alternatives = pattern.literal().map(|text| text.split('|'));
    let has_name = |alternative: &str| {
        let mut words = alternative.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.any(|word| word.len() > 1 && !COMMON_NAMES.iter().any(|usual| usual.contains(word)))
    };
    options.iter().all(keeps_matching_lines)
        && alternatives.is_some_and(|mut all| all.all(has_name))
}

/// Returns the output of `grep -l`: names of its file arguments, or of files below them. `None` if
/// `grep` prints lines, or if the file arguments are unknown.
pub(super) fn file_names(arguments: &[Value]) -> Option<Value> {
    let (mut lists_names, mut has_pattern_option) = (false, false);
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.prefix();
        if word.has_unknown() {
            return None;
        }
        if text.len() < 2 || !text.starts_with('-') {
            operands.push(word);
        } else if text.starts_with("--") {
            lists_names |= text.starts_with("--files-with");
        } else {
            lists_names |= text.contains(['l', 'L']);
            let value = text.find(['e', 'f', 'm', 'A', 'B', 'C']);
            has_pattern_option |= text.contains(['e', 'f']);
            if value.is_some_and(|index| index + 1 == text.len()) {
                words.next()?;
            }
        }
    }
    let files = operands.get(usize::from(!has_pattern_option)..)?;
    if !lists_names || files.is_empty() {
        return None;
    }
    let mut out = Value::default();
    for file in files {
        out.extend(file);
        out.push_text("\n");
    }
    Some(out)
}

/// True if a line is a path, possibly with a final `*` for all files in it.
fn is_path(line: &Value) -> bool {
    let path = |text: &str| {
        text.starts_with(['.', '/'])
            && !text.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    match line.pieces() {
        [ValuePiece::Text(text)] => path(text),
        [ValuePiece::Text(text), ValuePiece::Glob(glob)] => {
            path(text) && text.ends_with('/') && glob == "*"
        }
        [ValuePiece::Glob(glob)] => glob == "*",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::push_globbed;

    #[test]
    fn grep_narrows_a_list_of_paths_only_by_a_name() {
        for (list, arguments, expect) in [
            (".", &["-E", "(__pycache__|\\.pyc$)"][..], "./(matching)\n"),
            (".", &["\\(pycache\\|pyc\\)"], "./(matching)\n"),
            (".", &["node_modules"], "./(matching)\n"),
            ("*", &["node_modules"], "./(matching)\n"),
            ("*", &["^src"], "*"),
            ("/", &["-i", "Thumbs"], "/(matching)\n"),
            (".", &["."], "."),
            (".", &["git"], "."),
            (".", &["x|node_modules"], "."),
            ("/", &["^/etc"], "/"),
            (".", &["-v", "node_modules"], "."),
            (".", &["-E", "node_modules", "file"], "."),
            ("rm -rf /", &["node"], "rm -rf /"),
            ("rm", &["node"], "rm"),
        ] {
            let mut text = Value::default();
            push_globbed(&mut text, list);
            let arguments: Vec<Value> = arguments.iter().map(|word| Value::text(*word)).collect();
            assert_eq!(
                matching_lines(&text, &arguments).to_string(),
                expect,
                "{list} {arguments:?}"
            );
        }
    }
}
