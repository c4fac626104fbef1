//! Paths as text: made absolute, tidied, marked as directories.

use super::super::state::ShellState;

/// A unique directory, as created by `mktemp -d`.
pub(super) const FRESH_DIRECTORY: &str = "/tmp/fresh/mktemp";

/// The path relative to the working directory, without `./`.
pub(super) fn absolute(name: &str, st: &ShellState) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    let name = name.strip_prefix("./").unwrap_or(name);
    format!("{}/{name}", st.cwd.as_deref().unwrap_or("?"))
}

/// The path without `.`, `..` and doubled slashes.
pub fn lexical(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    format!("/{}", kept.join("/"))
}

/// The key under which a created directory is kept among the script's files.
pub(super) fn made(directory: &str) -> String {
    format!("{}/", directory.trim_end_matches('/'))
}
