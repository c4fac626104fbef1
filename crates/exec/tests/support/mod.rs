//! Shared by the tests of this crate: a cache with the test supervisor, run specifications, a consumer that
//! collects output.

#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test file uses its part"
)]

use agent_bash_core::{
    Cancel, Environment, Executor, Flow, NotStarted, Outcome, OutputConsumer, RunSpec, Shell,
    StreamId, Streams,
};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::Supervisor;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

pub(crate) mod census;
pub(crate) mod driven_clock;
pub(crate) mod own_process;

/// Deadline for what should happen soon. Generous, as the machine may be busy, and no test passes by being fast.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Options without warm shells.
pub(crate) fn options() -> ShellCacheOptions {
    ShellCacheOptions::one_call(
        Supervisor::at(env!("CARGO_BIN_EXE_exec-test-supervisor")),
        Arc::new(SystemClock::new()),
    )
}

pub(crate) fn cache() -> ShellCache {
    ShellCache::new(options())
}

/// A process outside of the cache: for comparison, or as a host.
#[expect(
    clippy::disallowed_methods,
    reason = "tests need processes that are not the cache's"
)]
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(environment()).stdin(Stdio::null());
    command
}

/// Polls until `done` is true, at most until [`SOON`] has passed. Returns whether it was.
pub(crate) async fn soon(mut done: impl FnMut() -> bool) -> bool {
    let look = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, look).await.is_ok()
}

/// The environment of every test: only `PATH` comes from the machine.
pub(crate) fn environment() -> BTreeMap<OsString, OsString> {
    [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/nonexistent"),
        ("LANG", "C.UTF-8"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into()
}

pub(crate) fn spec(script: &str) -> RunSpec {
    RunSpec::new(script, "/tmp")
        .shell(Shell::bash("/bin/bash"))
        .env(Environment {
            base: Arc::new(environment()),
            changes: BTreeMap::new(),
        })
        .streams(Streams::Split)
        .timeout(Duration::from_secs(60))
        .enter_cwd(false)
        .snapshot(true)
}

/// A script whose processes have the mark of a census.
pub(crate) fn marked(script: &str, census: &census::Census) -> RunSpec {
    let mut base = environment();
    base.extend([census.variable()]);
    spec(script).env(Environment {
        base: Arc::new(base),
        ..Environment::default()
    })
}

/// Collects output, and asks to stop after `stop_after` bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct Collect {
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    pub(crate) stop_after: Option<usize>,
    pub(crate) survivors_file: Option<std::fs::File>,
}

impl OutputConsumer for Collect {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> Flow {
        let kept = if stream == StreamId::Stderr {
            &mut self.err
        } else {
            &mut self.out
        };
        kept.extend_from_slice(bytes);
        match self.stop_after {
            Some(enough) if kept.len() >= enough => Flow::Stop,
            _ => Flow::Continue,
        }
    }

    fn file_for_survivors(&mut self, _: StreamId) -> Option<std::fs::File> {
        self.survivors_file.take()
    }
}

/// What a call printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) outcome: Outcome,
}

pub(crate) async fn run(spec: &RunSpec) -> Result<Ran, NotStarted> {
    run_with(&cache(), spec, &Cancel::new()).await
}

pub(crate) async fn run_with(
    cache: &ShellCache,
    spec: &RunSpec,
    cancel: &Cancel,
) -> Result<Ran, NotStarted> {
    let mut collect = Collect::default();
    let outcome = cache.run(spec, &mut collect, cancel).await?;
    Ok(Ran {
        out: String::from_utf8_lossy(&collect.out).into_owned(),
        err: String::from_utf8_lossy(&collect.err).into_owned(),
        outcome,
    })
}
