//! Cost of the pipeline: a whole tool call compared with the run inside it, and a long output from
//! end to end.
//!
//! A plain program without criterion, because it must call the supervisor's `init` at the top of
//! `main`.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts the other side and measures"
)]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

use agent_bash::core::{Cancel, Clock, Executor, NotStarted, Outcome, OutputConsumer, RunSpec};
use agent_bash::process::SystemClock;
use agent_bash::process::supervisor::{self, Supervisor};
use agent_bash::{BashTool, HostContext, profiles};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use agent_bash_test_kit::process_state::status;
use async_trait::async_trait;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Pause between two calls, long enough for the pool to refill.
const PAUSE: Duration = Duration::from_millis(12);

/// A hundred bytes.
const COMMAND: &str = "cd /usr && [[ -d bin && -d lib ]] && for name in bin lib share; do echo \"$name\" is there; done # ...";

/// Prints 1 GiB of lines.
const LONG: &str = "seq 128482000";

/// Measures how long the run inside a call takes.
struct Timed {
    inner: ShellCache,
    duration: Mutex<Duration>,
}

#[async_trait]
impl Executor for Timed {
    async fn run(
        &self,
        spec: &RunSpec,
        out: &mut dyn OutputConsumer,
        cancel: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        let start = Instant::now();
        let outcome = self.inner.run(spec, out, cancel).await;
        *self.duration.lock().unwrap() = start.elapsed();
        outcome
    }
}

fn main() {
    let token = supervisor::init();
    let supervisor = Supervisor::this_program(&token);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    // In a task, like a server's calls.
    let all = runtime.spawn(async move {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let options =
            ShellCacheOptions::long_lived(supervisor, Arc::clone(&clock), std::env::temp_dir());
        let timed = Arc::new(Timed {
            inner: ShellCache::new(options),
            duration: Mutex::default(),
        });
        let host = HostContext::capture("/tmp".into());
        let executor: Arc<dyn Executor> = timed.clone();
        // No artifacts.
        let tool = BashTool::builder(profiles::STANDARD, host, executor, clock).build();
        let only = std::env::args()
            .skip(1)
            .find(|argument| argument != "--bench");
        if only.as_deref().is_none_or(|only| only == "on_top") {
            on_top("with pauses", PAUSE, &tool, &timed).await;
            on_top("back to back", Duration::ZERO, &tool, &timed).await;
        }
        if only.as_deref().is_none_or(|only| only == "long") {
            long_output(&tool).await;
        }
    });
    runtime.block_on(all).unwrap();
}

async fn on_top(name: &str, pause: Duration, tool: &BashTool, timed: &Timed) {
    assert_eq!(COMMAND.len(), 100);
    let (mut whole, mut inner, mut on_top) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..300 {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let start = Instant::now();
        let result = tool
            .execute(serde_json::Value::from(COMMAND), &Cancel::new())
            .await;
        let total = start.elapsed();
        assert!(!result.is_error, "{}", result.text);
        let run = *timed.duration.lock().unwrap();
        whole.push(micros(total));
        inner.push(micros(run));
        on_top.push(micros(total.saturating_sub(run)));
    }
    println!(
        "whole call, 100 bytes, {name}: {:8.1} µs   its run {:8.1} µs   on top {:.1} µs",
        median(&mut whole),
        median(&mut inner),
        median(&mut on_top)
    );
}

async fn long_output(tool: &BashTool) {
    let (mut ours, mut cat) = (Vec::new(), Vec::new());
    let mut grown = 0;
    for _ in 0..3 {
        let before = status("VmRSS:");
        // Resets the peak RSS.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let start = Instant::now();
        let result = tool
            .execute(serde_json::Value::from(LONG), &Cancel::new())
            .await;
        ours.push(start.elapsed().as_secs_f64());
        assert!(!result.is_error, "{}", result.text);
        grown = grown.max(status("VmHWM:").saturating_sub(before));
        let start = Instant::now();
        let script = format!("{LONG} | cat >/dev/null");
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", &script]).stdin(Stdio::null());
        assert!(bash.status().unwrap().success());
        cat.push(start.elapsed().as_secs_f64());
    }
    let (ours, cat) = (median(&mut ours), median(&mut cat));
    println!(
        "1 GiB of lines {ours:6.2} s   read by cat {cat:6.2} s   ratio {:.2}   resident memory +{grown} KiB",
        ours / cat
    );
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
