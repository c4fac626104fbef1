//! `cargo xtask environments`: installs version and environment managers in pinned versions below
//! the target directory, and compares what their commands print in a terminal, in isolated calls
//! and in a session. Then compares scripts in the new forms of bash 5.3 with that bash.
//!
//! The checks are data (`tests/environments/frameworks.toml`, `bash-5.3.txt`). A manager that
//! cannot be installed, because a package index or git server is out of reach, is left out.

use crate::cargo_command::cargo;
use crate::{Tree, layers, say};
use anyhow::Result;
use xshell::cmd;

/// The name of the scripts for bash 5.3 among those of the managers.
const BASH_5_3: &str = "bash-5.3";

/// `cargo xtask environments [NAME…]`.
pub(crate) fn command(tree: &Tree, names: &[String]) -> Result<()> {
    let managers: Vec<&String> = names.iter().filter(|name| *name != BASH_5_3).collect();
    if names.is_empty() || !managers.is_empty() {
        check(tree, "check.py", &managers)?;
    }
    if names.is_empty() || managers.len() < names.len() {
        check(tree, "bash_5_3.py", &[])?;
    }
    Ok(())
}

/// The step of the suite: only on CI.
pub(crate) fn step(tree: &Tree) -> Result<()> {
    if tree.is_on_ci() {
        return command(tree, &[]);
    }
    say("   left out: version managers and bash 5.3, which `cargo xtask environments` downloads");
    Ok(())
}

fn check(tree: &Tree, program: &str, names: &[&String]) -> Result<()> {
    cargo(tree, &["build", "--quiet", "--package=agent-bash-cli"]).run()?;
    let target = layers::target_directory(tree)?;
    let binary = target.join("debug/agent-bash");
    let directory = target.join("environments");
    cmd!(
        tree.shell,
        "python3 tests/environments/{program} {binary} {directory} {names...}"
    )
    .run()?;
    Ok(())
}
