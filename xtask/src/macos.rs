//! Whether the crates still compile for macOS, where nothing of this can be run. Checked where the target's library is there
//! (`rustup target add aarch64-apple-darwin`); elsewhere the step says that it was left out.

use crate::suite::{cargo, check};
use crate::{Tree, say};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use xshell::cmd;

const TARGET: &str = "aarch64-apple-darwin";

/// Makes an empty file of whatever is to be compiled: a check does not link, and no compiler for macOS is needed.
const NO_COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = -o ] && : >"$2"
    shift
done
"#;

pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let installed = cmd!(tree.shell, "rustup target list --installed");
    let installed = installed.quiet().ignore_stderr().read().unwrap_or_default();
    if !installed.lines().any(|line| line == TARGET) {
        say(&format!(
            "   left out: there is no {TARGET} (`rustup target add {TARGET}`)"
        ));
        return Ok(());
    }
    // A directory of its own: a lock shared with other builds would make each wait for the other.
    let directory = tree.root.join("target/macos");
    fs::create_dir_all(&directory).context("making target/macos")?;
    let compiler = directory.join("no-compiler");
    fs::write(&compiler, NO_COMPILER)?;
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
    // The crates that are used, not those that build and test them.
    let arguments = [
        "check",
        "--quiet",
        "--workspace",
        "--exclude=xtask",
        "--exclude=agent-bash-tests",
        "--target",
        TARGET,
    ];
    let command = cargo(tree, &arguments)
        .env("CARGO_TARGET_DIR", &directory)
        .env("CC_aarch64_apple_darwin", &compiler)
        .env("AR_aarch64_apple_darwin", "true")
        .env("RUSTFLAGS", "-D warnings");
    check(&command)
}
