//! Shared by the tests of this crate: a cache with the test supervisor, run specifications, a
//! consumer that collects output.

#![allow(
    dead_code,
    unused_imports,
    clippy::allow_attributes,
    reason = "each test file uses its part"
)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails may stop"
)]

use agent_bash_core::{
    Cancel, ConsumerFlow, Environment, Executor, NotStarted, NoticeKind, Outcome, OutputConsumer,
    RunSpec, ScriptEnding, StreamId, Streams,
};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::Supervisor;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use agent_bash_test_kit::{
    SOON, census, driven_clock, environment, process_state, soon,
};

/// Options without warm shells.
pub(crate) fn options() -> ShellCacheOptions {
    ShellCacheOptions::one_shot(
        Supervisor::at(env!("CARGO_BIN_EXE_exec-test-supervisor")),
        Arc::new(SystemClock::new()),
        std::env::temp_dir(),
    )
}

pub(crate) fn cache() -> ShellCache {
    ShellCache::new(options())
}

pub(crate) fn cache_with(set: impl FnOnce(&mut ShellCacheOptions)) -> ShellCache {
    let mut options = options();
    set(&mut options);
    ShellCache::new(options)
}

/// Options of a host that makes several calls.
pub(crate) fn long_lived(supervisor: Supervisor) -> ShellCacheOptions {
    ShellCacheOptions::long_lived(
        supervisor,
        Arc::new(SystemClock::new()),
        std::env::temp_dir(),
    )
}

/// Returns a cache with warm shells. By its clock, every call is short: during a long call, a shell
/// would be started below a new supervisor.
pub(crate) fn cache_of_short_calls(warm_shells: usize) -> ShellCache {
    let clock = driven_clock::DrivenClock::holding(Duration::from_millis(50));
    cache_with(|it| {
        it.warm_shells = warm_shells;
        it.clock = Arc::new(clock);
    })
}

/// Returns a command that runs outside of the cache, for comparison or as a host.
#[expect(
    clippy::disallowed_methods,
    reason = "tests need processes that are not the cache's"
)]
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(environment()).stdin(Stdio::null());
    command
}

pub(crate) fn spec(script: &str) -> RunSpec {
    agent_bash_test_kit::spec(script, &[])
        .streams(Streams::Split)
        .snapshot(true)
}

/// Returns a specification with the mark of a census, which all processes of the script inherit.
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
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        let kept = if stream == StreamId::Stderr {
            &mut self.err
        } else {
            &mut self.out
        };
        kept.extend_from_slice(bytes);
        match self.stop_after {
            Some(enough) if kept.len() >= enough => ConsumerFlow::Stop,
            _ => ConsumerFlow::Continue,
        }
    }

    fn file_for_survivors(&mut self, _: StreamId) -> Option<std::fs::File> {
        self.survivors_file.take()
    }
}

/// The output and the end of a call.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) outcome: Outcome,
}

impl FinishedRun {
    /// Returns the exit code of a script that exited.
    pub(crate) fn exit_code(&self) -> i32 {
        match &self.outcome.ending {
            ScriptEnding::Exited { code } => *code,
            other => panic!("{other:?}: {}", self.err),
        }
    }

    /// Returns the reason why the record of the call's changes is incomplete, if it is.
    pub(crate) fn incomplete_reason(&self) -> Option<&str> {
        let traced = self.outcome.traced.as_ref();
        traced.and_then(|traced| traced.incomplete_reason.as_deref())
    }

    /// Returns the reason why the session of the call got a new shell, if it did.
    pub(crate) fn reset_reason(&self) -> Option<&str> {
        let mut notices = self.outcome.notices.iter();
        notices.find_map(|notice| match &notice.kind {
            NoticeKind::SessionReset { reason } => Some(reason.as_str()),
            _ => None,
        })
    }
}

/// Runs a call that must start, in a cache of its own.
pub(crate) async fn run(spec: &RunSpec) -> FinishedRun {
    run_in(&cache(), spec).await
}

pub(crate) async fn run_with(
    cache: &ShellCache,
    spec: &RunSpec,
    cancel: &Cancel,
) -> Result<FinishedRun, NotStarted> {
    let mut collect = Collect::default();
    let outcome = cache.run(spec, &mut collect, cancel).await?;
    Ok(FinishedRun {
        out: String::from_utf8_lossy(&collect.out).into_owned(),
        err: String::from_utf8_lossy(&collect.err).into_owned(),
        outcome,
    })
}

/// Runs a call that must start.
pub(crate) async fn run_in(cache: &ShellCache, spec: &RunSpec) -> FinishedRun {
    run_with(cache, spec, &Cancel::new()).await.unwrap()
}
