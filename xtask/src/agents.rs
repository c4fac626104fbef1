//! `cargo xtask agents`: runs ten published agents, each against a stub of its model. The command
//! downloads them once (more than a gigabyte), so the suite runs it only on CI.

use crate::cargo_command::{cargo, words};
use crate::{Tree, say, tests_step};
use anyhow::Result;

/// `cargo xtask agents [NAME]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let mut call = words("test --package agent-bash-tests --test agents -- --ignored");
    call.extend(arguments.iter().map(String::as_str));
    tests_step::under_census(cargo(tree, &call))
}

/// Runs the agents as a step of the suite, but only on CI.
pub(crate) fn step(tree: &Tree) -> Result<()> {
    if tree.is_on_ci() {
        return command(tree, &[]);
    }
    say("   left out: ten published agents; `cargo xtask agents` downloads and runs them");
    Ok(())
}
