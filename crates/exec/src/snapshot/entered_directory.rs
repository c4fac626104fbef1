//! The directory that a script enters first.

use std::path::{Component, Path, PathBuf};

/// Returns the directory that a script enters first, if its first command is `cd` with a literal
/// path.
pub(super) fn entered_directory(script: &str, cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let blanks = [' ', '\t'];
    let rest = script.trim_start().strip_prefix("cd")?;
    let rest = rest.strip_prefix(blanks)?.trim_start_matches(blanks);
    let first = rest.chars().next()?;
    let (quote, (word, rest)) = if matches!(first, '"' | '\'') {
        (Some(first), rest[1..].split_once(first)?)
    } else {
        let end = rest.find(|c: char| c.is_whitespace() || ";&|".contains(c));
        (None, rest.split_at(end.unwrap_or(rest.len())))
    };
    let rest = rest.trim_start_matches(blanks);
    let ends_command = rest.is_empty() || ["&&", ";", "\n"].iter().any(|end| rest.starts_with(end));
    let below_home = below_home(word, quote);
    let is_special = |c: char| "$`\\*?[{\"'()<>#!".contains(c);
    let literal = below_home.unwrap_or(word);
    if !ends_command
        || word.is_empty()
        || word.starts_with('-')
        || literal.contains(is_special)
        || quote.is_none() && literal.starts_with('~')
    {
        return None;
    }
    let path = match below_home {
        Some(rest) => home?.join(rest),
        None => cwd.join(word),
    };
    // As bash does, `..` removes the last name.
    let mut entered = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(entered.pop()),
            Component::CurDir => {}
            part => entered.push(part),
        }
    }
    entered.is_dir().then_some(entered)
}

/// Returns the part of a word below the home directory, which `~` or `$HOME` names.
fn below_home(word: &str, quote: Option<char>) -> Option<&str> {
    let names: &[&str] = match quote {
        Some('\'') => &[],
        Some(_) => &["$HOME", "${HOME}"],
        None => &["$HOME", "${HOME}", "~"],
    };
    let rest = names.iter().find_map(|name| word.strip_prefix(name))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
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
            ("cd \"..\"/a && x", None),
            ("cdx ..", None),
        ] {
            assert_eq!(of(script), want.map(PathBuf::from), "{script}");
        }
    }
}
