//! `cargo xtask environments`: installs version and environment managers in pinned versions below
//! the target directory, and compares what their commands print in a terminal, in isolated calls
//! and in a session.
//!
//! The checks are data (`tests/environments/frameworks.toml`). Not a step of CI: the installation
//! needs several minutes, package indexes and, for some managers, a git server.

use crate::suite::cargo;
use crate::{Tree, layers};
use anyhow::Result;
use std::path::Path;
use xshell::cmd;

/// `cargo xtask environments [NAME…]`.
pub(crate) fn command(tree: &Tree, names: &[String]) -> Result<()> {
    cargo(tree, &["build", "--quiet", "--package=agent-bash-cli"]).run()?;
    let metadata = layers::metadata(tree)?;
    let target = Path::new(metadata.target_directory.as_str());
    let binary = target.join("debug/agent-bash");
    let directory = target.join("environments");
    let program = "tests/environments/check.py";
    cmd!(
        tree.shell,
        "python3 {program} {binary} {directory} {names...}"
    )
    .run()?;
    Ok(())
}
