//! The directory that a script enters first.

use std::path::{Component, Path, PathBuf};

/// Blanks between words.
const BLANKS: [char; 2] = [' ', '\t'];

/// Returns the directory that a script enters first, if its first command is `cd` with a literal
/// path.
pub(super) fn entered_directory(script: &str, cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let rest = script.trim_start().strip_prefix("cd")?;
    let rest = rest.strip_prefix(BLANKS)?.trim_start_matches(BLANKS);
    let (word, rest) = literal_word(rest, home.and_then(Path::to_str))?;
    let rest = rest.trim_start_matches(BLANKS);
    let ends_command = ["&&", "||", ";", "\n"]
        .iter()
        .any(|end| rest.starts_with(end));
    if !(ends_command || rest.is_empty()) || word.is_empty() || word.starts_with('-') {
        return None;
    }
    // As bash does, `..` removes the last name.
    let mut entered = PathBuf::new();
    for part in cwd.join(word).components() {
        match part {
            Component::ParentDir => drop(entered.pop()),
            Component::CurDir => {}
            part => entered.push(part),
        }
    }
    entered.is_dir().then_some(entered)
}

/// Returns the first word without its quotes, and the text after it. `None` if the word contains
/// expansions other than `~` and `$HOME`.
fn literal_word<'t>(text: &'t str, home: Option<&str>) -> Option<(String, &'t str)> {
    let ends_word = |c: char| c.is_whitespace() || ";&|".contains(c);
    let (mut word, mut rest, mut quote) = (String::new(), text, None);
    if let Some(after) = rest.strip_prefix('~') {
        let is_home = after.is_empty() || after.starts_with(|c| c == '/' || ends_word(c));
        word.push_str(home.filter(|_| is_home)?);
        rest = after;
    }
    while let Some(c) = rest.chars().next() {
        match (quote, c) {
            (None, c) if ends_word(c) => break,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (Some('\''), c) => word.push(c),
            (_, '$') => {
                rest = after_home(rest)?;
                word.push_str(home?);
                continue;
            }
            (_, '`' | '\\') => return None,
            (None, c) if "*?[{()<>#!".contains(c) => return None,
            (_, c) => word.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    quote.is_none().then_some((word, rest))
}

/// Returns the text after `$HOME` or `${HOME}`.
fn after_home(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("${HOME}") {
        return Some(rest);
    }
    let rest = text.strip_prefix("$HOME")?;
    let continues = rest.starts_with(|c: char| c == '_' || c.is_ascii_alphanumeric());
    (!continues).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entered_directory_reads_literal_paths() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b c"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let a = root.path().join("a");
        let of = |script: &str| {
            let entered = entered_directory(script, &a, Some(root.path()))?;
            Some(entered.strip_prefix(root.path()).unwrap().to_owned())
        };
        for (script, want) in [
            ("cd '../b c' && x", Some("b c")),
            ("  cd ~/a; x", Some("a")),
            ("cd ../a/./../a\nx", Some("a")),
            ("cd ~", Some("")),
            ("cd ..", Some("")),
            ("cd $HOME/a && x", Some("a")),
            ("cd \"$HOME/b c\" && x", Some("b c")),
            ("cd ${HOME}; x", Some("")),
            ("cd \"$HOME\"/a && x", Some("a")),
            ("cd \"${HOME}\"/'b c'; x", Some("b c")),
            ("cd ~/\"b c\"; x", Some("b c")),
            ("cd \"..\"/a && x", Some("a")),
            ("cd ../a || exit", Some("a")),
            ("cd ~\"/a\" && x", None),
            ("cd \"$HOME && x", None),
            ("cd \"$HOME\"$D && x", None),
            ("cd '$HOME/a' && x", None),
            ("cd \"~/a\" && x", None),
            ("cd $HOMES/a && x", None),
            ("cd $HOME/$D && x", None),
            ("cd ~user && x", None),
            ("cd ../missing && x", None),
            ("cd $D && x", None),
            ("cd .. | x", None),
            ("cd .. & x", None),
            ("cd - && x", None),
            ("cdx ..", None),
        ] {
            assert_eq!(of(script), want.map(PathBuf::from), "{script}");
        }
    }
}
