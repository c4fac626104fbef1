//! Shared by the benchmarks: run specifications, and a consumer that discards output.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

use agent_bash_core::{
    Cancel, ConsumerFlow, Environment, Executor, OutputConsumer, RunSpec, Shell, StreamId,
};
use agent_bash_exec::ShellCache;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct DiscardOutput;

impl OutputConsumer for DiscardOutput {
    fn chunk(&mut self, _: StreamId, _: &[u8]) -> ConsumerFlow {
        ConsumerFlow::Continue
    }
}

/// A runtime with two workers, like a server's.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Returns the duration of a call in microseconds.
pub(crate) async fn time(cache: &ShellCache, spec: &RunSpec) -> f64 {
    let start = Instant::now();
    cache
        .run(spec, &mut DiscardOutput, &Cancel::new())
        .await
        .unwrap();
    micros(start)
}

/// Returns the microseconds since `start`.
pub(crate) fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// Returns the complete environment of a shell.
pub(crate) fn environment() -> BTreeMap<OsString, OsString> {
    [("PATH", "/usr/bin:/bin"), ("HOME", "/nonexistent")]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

/// Returns the specification of a script in a shell of its own.
pub(crate) fn spec(script: &str) -> RunSpec {
    RunSpec::new(script, "/tmp")
        .shell(Shell::bash("/bin/bash"))
        .env(Environment {
            base: Arc::new(environment()),
            changes: BTreeMap::new(),
        })
        .timeout(Duration::from_secs(60))
        .enter_cwd(false)
        .snapshot(true)
}

/// Returns the median.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
