//! `cargo xtask soak`: many calls of all kinds, and then a look whether anything is left. The test that does it runs for
//! seconds in `cargo xtask test`; here it makes more calls, and every process that outlives it is found.

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
    let call = [
        "test",
        "--package",
        "agent-bash-exec",
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
    say(&format!("{count} calls have left nothing"));
    Ok(())
}
