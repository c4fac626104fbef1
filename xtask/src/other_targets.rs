//! Checks that the crates compile for targets other than the machine's own; nothing is run. A
//! target is skipped, with a message, unless its standard library is installed (`rustup target
//! add`).

use crate::cargo_command::{cargo, check};
use crate::{Tree, say};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use xshell::cmd;

const TARGETS: &[&str] = &["aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// A fake C compiler that creates empty object files: a check does not link, so no compiler for the
/// target is needed.
const NO_COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" = -o ] && : >"$2"
    shift
done
"#;

pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let installed = cmd!(tree.shell, "rustup target list --installed");
    let installed = installed.quiet().ignore_stderr().read().unwrap_or_default();
    for target in TARGETS {
        if installed.lines().any(|line| line == *target) {
            check_target(tree, target)?;
        } else {
            say(&format!(
                "   left out: there is no {target} (`rustup target add {target}`)"
            ));
        }
    }
    Ok(())
}

fn check_target(tree: &Tree, target: &str) -> Result<()> {
    // A separate target directory: sharing one would make the builds wait for each other's lock.
    let directory = tree.root.join("target/other");
    fs::create_dir_all(&directory).context("making target/other")?;
    let compiler = directory.join("no-compiler");
    fs::write(&compiler, NO_COMPILER)?;
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
    // Only the crates of the product, not the build tools and tests.
    let arguments = [
        "check", "--quiet", "--workspace", "--exclude=xtask", "--exclude=agent-bash-tests",
        "--target", target,
    ];
    let suffix = target.replace('-', "_");
    let command = cargo(tree, &arguments)
        .env("CARGO_TARGET_DIR", &directory)
        .env(format!("CC_{suffix}"), &compiler)
        .env(format!("AR_{suffix}"), "true")
        .env("RUSTFLAGS", "-D warnings");
    check(&command)
}
