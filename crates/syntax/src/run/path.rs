//! Operations on paths as text, without access to the file system.

use super::super::state::ShellState;

/// The path that represents the unique directory of `mktemp -d`.
pub(super) const FRESH_DIRECTORY: &str = "/tmp/mktemp.fresh";

/// The path that represents an unknown working directory.
pub(super) const UNKNOWN_DIRECTORY: &str = "/\u{f8fe}";

/// Returns `name` as an absolute path. A relative path starts from the working directory.
pub(super) fn absolute(name: &str, shell: &ShellState) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    let name = name.strip_prefix("./").unwrap_or(name);
    let cwd = shell.cwd.as_deref().unwrap_or(UNKNOWN_DIRECTORY);
    format!("{cwd}/{name}")
}

/// Returns the path without `.`, `..` and doubled slashes.
pub fn lexical(path: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop();
            }
            name => components.push(name),
        }
    }
    format!("/{}", components.join("/"))
}

/// Returns the key of a created directory in [`ShellState::files`].
pub(super) fn directory_key(directory: &str) -> String {
    format!("{}/", directory.trim_end_matches('/'))
}
