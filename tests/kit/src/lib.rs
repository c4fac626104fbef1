//! Code shared by the tests of several crates: run specifications, a sandboxed workspace, a clock
//! driven by the test, executors that panic or follow a script, and checks for leftover processes
//! and descriptors.
//!
//! `programs/` holds the programs that these tests start. Cargo builds only a crate's own binaries
//! for its tests, so the manifests name these by path. Working executors and the world of the
//! end-to-end tests (`agent-bash-tests`) are elsewhere.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking, and all of it is test code"
)]

pub mod census;
pub mod driven_clock;
mod faulty;
pub mod process_state;
pub mod scripted;
pub mod test_workspace;

pub use faulty::FaultyExecutor;

use agent_bash_core::{Environment, RunSpec};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// The deadline of all waits. Generous, as the machine may be busy.
pub const SOON: Duration = Duration::from_secs(60);

/// Polls until `done` returns true, at most for [`SOON`]. Returns whether it did.
pub async fn soon(mut done: impl FnMut() -> bool) -> bool {
    let look = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, look).await.is_ok()
}

/// The environment of every test: only `PATH` comes from the machine.
pub fn environment() -> BTreeMap<OsString, OsString> {
    [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/nonexistent"),
        ("LANG", "C.UTF-8"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into()
}

/// Runs a script by bash in `/tmp`, as most tests do, with these variables in addition to
/// [`environment`].
pub fn spec(script: &str, more: &[(&str, &str)]) -> RunSpec {
    let mut base = environment();
    base.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
    RunSpec::new(script, "/tmp")
        .env(Environment {
            base: Arc::new(base),
            changes: BTreeMap::new(),
        })
        .timeout(SOON)
        .enter_cwd(false)
}
