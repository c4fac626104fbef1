//! Commands of cargo in the checkout, and other commands that explain their failure.

use crate::Tree;
use anyhow::{Result, bail};
use xshell::{Cmd, cmd};

/// A cargo command in the checkout. Removes the variables about *this* package that the outer
/// `cargo run` has set: build scripts that watch them would rebuild on every change between nested
/// and direct calls.
pub(crate) fn cargo<'a>(tree: &'a Tree, arguments: &[&str]) -> Cmd<'a> {
    let program = &tree.cargo;
    let mut command = cmd!(tree.shell, "{program} {arguments...}").quiet();
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command = command.env_remove(name);
        }
    }
    command
}

/// Returns the words of a command line without quotes.
pub(crate) fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Runs a command whose own output explains any failure.
pub(crate) fn check(command: &Cmd<'_>) -> Result<()> {
    let shown = command.to_string();
    if command.run().is_err() {
        bail!("`{shown}` failed; its output is above");
    }
    Ok(())
}
