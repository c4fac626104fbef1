//! Checks that the crates compile for macOS; nothing is run. The step is skipped, with a message,
//! unless the target's standard library is installed (`rustup target add aarch64-apple-darwin`).

use crate::suite::{cargo, check};
use crate::{Tree, say};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use xshell::cmd;

const TARGET: &str = "aarch64-apple-darwin";

/// A fake C compiler that creates empty object files: a check does not link, so no compiler for
/// macOS is needed.
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
    // A separate target directory: sharing one would make the builds wait for each other's lock.
    let directory = tree.root.join("target/macos");
    fs::create_dir_all(&directory).context("making target/macos")?;
    let compiler = directory.join("no-compiler");
    fs::write(&compiler, NO_COMPILER)?;
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
    // Only the crates of the product, not the build tools and tests.
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
