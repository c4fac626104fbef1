//! `cargo xtask soak`: makes many calls of all kinds, through the executor and through each server,
//! then checks for leftover processes. `cargo xtask test` runs the same tests for seconds; this
//! command makes more calls.

use crate::cargo_command::{cargo, words};
use crate::tests_step;
use crate::{Tree, say};
use anyhow::{Context, Result, bail};

/// The variable with the number of calls.
const COUNT_VARIABLE: &str = "AGENT_BASH_SOAK_CALLS";

/// Default number of calls: some minutes.
const DEFAULT_CALL_COUNT: u32 = 10_000;

/// `cargo xtask soak [COUNT]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let count = match arguments {
        [] => DEFAULT_CALL_COUNT,
        [count] => count
            .parse()
            .with_context(|| format!("`{count}` is no number of calls"))?,
        [_, extra, ..] => bail!("unexpected argument `{extra}`"),
    };
    for package in ["agent-bash-exec", "agent-bash-tests"] {
        let call = format!("test --package {package} --test soak -- --nocapture");
        let tests = cargo(tree, &words(&call));
        tests_step::under_census(tests.env(COUNT_VARIABLE, count.to_string()))?;
    }
    say(&format!(
        "{count} calls each of the executor, through rpc and through mcp have left no process behind"
    ));
    Ok(())
}
