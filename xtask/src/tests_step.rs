//! Runs all tests of the workspace in an isolated environment, then checks for leftovers.
//!
//! The census itself is `agent_bash_tests::census`; each test finds its own leftovers. This check
//! also finds processes that removed every mark, because they are reparented to this process.

use crate::Tree;
use crate::suite::cargo;
use agent_bash_tests::census::{Census, adopt_orphans};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, WaitOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use xshell::Cmd;

/// Time limit for processes to end after the last test.
const PROCESS_END_TIMEOUT: Duration = Duration::from_secs(5);

/// `cargo test --workspace` under the census.
pub(crate) fn run(tree: &Tree) -> Result<()> {
    let binary = target_directory(tree)?.join("debug/agent-bash");
    under_census(|temp, state| {
        cargo(tree, &["test", "--workspace", "--no-fail-fast", "--quiet"])
            .env("TMPDIR", temp)
            // The census finds the leftovers of a test that sets no state directory below this one.
            .env("XDG_STATE_HOME", state)
            .env("AGENT_BASH_TEST_BINARY", binary)
            .env("INSTA_UPDATE", "no")
            .env("RUST_BACKTRACE", "1")
    })
}

/// Runs tests with new directories for temporary files and state, then checks for leftovers.
pub(crate) fn under_census<'a>(tests: impl FnOnce(&Path, &Path) -> Cmd<'a>) -> Result<()> {
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
    let passed = run_as_init(tests(&temp, &state).into());

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

/// Runs `command` and reaps all children that are reparented to this process, as init does. Without
/// this, a test that checks whether a process has exited would find a zombie. Returns true if the
/// command succeeded.
fn run_as_init(mut command: Command) -> Result<bool> {
    // The loop below collects the command's exit status, as it does for every other child.
    let child = command.spawn()?.id();
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == child => {
                return Ok(status.exit_status() == Some(0));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("waiting for the tests"),
        }
    }
}

fn target_directory(tree: &Tree) -> Result<PathBuf> {
    let metadata = crate::layers::metadata(tree)?;
    Ok(Path::new(metadata.target_directory.as_str()).to_owned())
}
