//! `cargo xtask soak`: many calls of all kinds, of the executor's and through each server, and then a look whether anything is
//! left. The tests that do it run for seconds in `cargo xtask test`; here they make more calls, and every process that
//! outlives them is found.

use crate::suite::cargo;
use crate::tests_step;
use crate::{Tree, say};
use anyhow::{Context, Result, bail};

/// Takes the number of calls.
const VARIABLE: &str = "AGENT_BASH_SOAK_CALLS";

/// Calls where the caller names no number: some minutes.
const COUNT: u32 = 10_000;

/// `cargo xtask soak [COUNT]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let count = match arguments {
        [] => COUNT,
        [count] => count
            .parse()
            .with_context(|| format!("`{count}` is no number of calls"))?,
        [_, extra, ..] => bail!("unexpected argument `{extra}`"),
    };
    for package in ["agent-bash-exec", "agent-bash-tests"] {
        let call = [
            "test",
            "--package",
            package,
            "--test",
            "soak",
            "--",
            "--nocapture",
        ];
        tests_step::under_census(|temp, state| {
            cargo(tree, &call)
                .env("TMPDIR", temp)
                .env("XDG_STATE_HOME", state)
                .env(VARIABLE, count.to_string())
        })?;
    }
    say(&format!(
        "{count} calls each of the executor, through rpc and through mcp have left nothing"
    ));
    Ok(())
}
