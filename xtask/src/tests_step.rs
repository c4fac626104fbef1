//! Runs all tests of the workspace in an isolated environment, then checks for leftovers.
//!
//! The census itself is `agent_bash_tests::census`; each test finds its own leftovers. This check
//! also finds processes that removed every mark, because they are reparented to this process.

use crate::cargo_command::{cargo, words};
use crate::{Tree, layers, repeated_tests};
use agent_bash_tests::census::{Census, adopt_orphans};
use anyhow::{Context as _, Result, bail};
use std::time::Duration;
use xshell::Cmd;

/// Time limit for processes to end after the last test.
const PROCESS_END_TIMEOUT: Duration = Duration::from_secs(5);

/// `cargo test --workspace` under the census.
pub(crate) fn run(tree: &Tree) -> Result<()> {
    let binary = layers::target_directory(tree)?.join("debug/agent-bash");
    let tests = cargo(tree, &words("test --workspace --no-fail-fast --quiet"));
    under_census(
        tests
            .env("AGENT_BASH_TEST_BINARY", binary)
            .env("INSTA_UPDATE", "no")
            .env("RUST_BACKTRACE", "1"),
    )
}

/// Runs tests with new directories for temporary files and state, then checks for leftovers. A few
/// failed tests are repeated once, see [`repeated_tests`].
pub(crate) fn under_census(tests: Cmd<'_>) -> Result<()> {
    let directory = tempfile::Builder::new()
        .prefix("agent-bash-suite-")
        .tempdir()
        .context("no temporary directory for the tests")?;
    let temp = directory.path().join("tmp");
    let state = directory.path().join("state");
    for directory in [&temp, &state] {
        std::fs::create_dir(directory)?;
    }

    adopt_orphans()?;
    let mut census = Census::new();
    census.watch_orphans();
    census.watch_directory(directory.path());
    census.watch_files(&temp);
    census.watch_files(&state);
    // The census finds the leftovers of a test that sets no state directory below this one.
    let tests = tests.env("TMPDIR", &temp).env("XDG_STATE_HOME", &state);
    let passed = repeated_tests::run(tests.into());

    let leftovers = census.end(PROCESS_END_TIMEOUT);
    let killed = census.kill_leftovers();
    if !passed? {
        bail!("tests failed; their output is above");
    }
    if !leftovers.is_empty() {
        bail!("the tests left behind (now removed, {killed} processes ended):\n{leftovers}");
    }
    Ok(())
}
