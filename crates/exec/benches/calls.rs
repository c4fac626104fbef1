//! Measures the cost of a call compared with plain bash. Both are interleaved in one run, because
//! the speed of a machine changes by the minute. The result is the ratio of the medians.
//!
//! A plain program without criterion, because it must call the supervisor's `init` at the top of
//! `main`.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts the other side and measures"
)]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]

#[path = "script/timed.rs"]
mod script;

use agent_bash_core::SessionName;
use agent_bash_exec::{ShellCache, ShellCacheOptions, SnapshotOptions};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::{self, Supervisor, Token};
use script::{environment, median, micros, runtime, spec, time};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pause between calls in the rows "with pauses", long enough for the pool to refill.
const PAUSE: Duration = Duration::from_millis(12);

fn main() {
    let token = supervisor::init();
    // The number of rounds, and the only part to run, if named.
    let mut rounds = 300;
    let mut only = None;
    for argument in std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
    {
        match argument.parse() {
            Ok(number) => rounds = number,
            Err(_) => only = Some(argument),
        }
    }
    let wanted = move |part: &str| only.as_deref().is_none_or(|only| only == part);
    let runtime = runtime();
    // In a task, like a server's calls.
    let all = runtime.spawn(async move {
        for script in ["true", "/bin/true"] {
            if wanted("pauses") {
                with_pauses(&token, script, rounds).await;
            }
            if wanted("back_to_back") {
                back_to_back(&token, script, rounds).await;
            }
            if wanted("session") {
                session(&token, script, rounds).await;
            }
        }
        if wanted("snapshot") {
            snapshot(&token, "true", rounds).await;
        }
    });
    runtime.block_on(all).unwrap();
}

async fn with_pauses(token: &Token, script: &str, rounds: usize) {
    let spec = spec(script);
    let warm = cache(token, ShellCacheOptions::long_lived);
    let cold = cache(token, ShellCacheOptions::one_shot);
    let (mut ours, mut fresh, mut bash) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        tokio::time::sleep(PAUSE).await;
        bash.push(time_bash(script));
        tokio::time::sleep(PAUSE).await;
        ours.push(time(&warm, &spec).await);
        tokio::time::sleep(PAUSE).await;
        fresh.push(time(&cold, &spec).await);
    }
    row(&format!("isolated, warm, `{script}`"), &mut ours, &mut bash);
    row(
        &format!("isolated, cold, `{script}`"),
        &mut fresh,
        &mut bash,
    );
}

async fn back_to_back(token: &Token, script: &str, rounds: usize) {
    let spec = spec(script);
    let warm = cache(token, ShellCacheOptions::long_lived);
    let (mut ours, mut bash) = (Vec::new(), Vec::new());
    for _ in 0..rounds / 20 {
        for _ in 0..20 {
            ours.push(time(&warm, &spec).await);
        }
        tokio::time::sleep(PAUSE).await;
        for _ in 0..20 {
            bash.push(time_bash(script));
        }
    }
    row(
        &format!("isolated, back to back, `{script}`"),
        &mut ours,
        &mut bash,
    );
}

async fn session(token: &Token, script: &str, rounds: usize) {
    let cache = cache(token, ShellCacheOptions::long_lived);
    let spec = spec(script).session(SessionName("bench".into()));
    time(&cache, &spec).await;
    let (mut ours, mut bash) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(time(&cache, &spec).await);
        bash.push(time_bash(script));
    }
    row(
        &format!("session, by turns, `{script}`"),
        &mut ours,
        &mut bash,
    );
    let (mut ours, mut bash) = (Vec::new(), Vec::new());
    for _ in 0..rounds / 20 {
        for _ in 0..20 {
            ours.push(time(&cache, &spec).await);
        }
        for _ in 0..20 {
            bash.push(time_bash(script));
        }
    }
    row(
        &format!("session, back to back, `{script}`"),
        &mut ours,
        &mut bash,
    );
}

/// Measures calls with 200 functions. A warm shell loads the functions before the call, or during
/// the call if calls follow each other without pauses. Bash loads the same file at its start.
async fn snapshot(token: &Token, script: &str, rounds: usize) {
    let spec = spec(script);
    let root = tempfile::tempdir().unwrap();
    let (rc, directory) = (root.path().join("bashrc"), root.path().join("snapshots"));
    std::fs::write(&rc, functions(200)).unwrap();
    let with = |options: Options| {
        let supervisor = Supervisor::this_program(token);
        ShellCache::new(ShellCacheOptions {
            snapshot: Some(SnapshotOptions::new(&rc, &directory)),
            ..options(
                supervisor,
                Arc::new(SystemClock::new()),
                std::env::temp_dir(),
            )
        })
    };
    let warm = with(ShellCacheOptions::long_lived);
    time(&warm, &spec).await;
    let files = std::fs::read_dir(&directory).unwrap();
    let file = files.flatten().next().unwrap().path();
    let sourced = format!(". {}; {script}", file.display());
    let (mut ours, mut bash) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        tokio::time::sleep(PAUSE).await;
        bash.push(time_bash(&sourced));
        tokio::time::sleep(PAUSE).await;
        ours.push(time(&warm, &spec).await);
    }
    row(
        &format!("isolated, warm, 200 functions, `{script}`"),
        &mut ours,
        &mut bash,
    );
    let (mut ours, mut bash) = (Vec::new(), Vec::new());
    for _ in 0..rounds / 20 {
        for _ in 0..20 {
            ours.push(time(&warm, &spec).await);
        }
        tokio::time::sleep(PAUSE).await;
        for _ in 0..20 {
            bash.push(time_bash(&sourced));
        }
    }
    row(
        &format!("back to back, 200 functions, `{script}`"),
        &mut ours,
        &mut bash,
    );
    let cold = with(ShellCacheOptions::one_shot);
    time(&cold, &spec).await;
    let (mut ours, mut bash) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(time(&cold, &spec).await);
        bash.push(time_bash(&sourced));
    }
    row(
        &format!("isolated, cold, 200 functions, `{script}`"),
        &mut ours,
        &mut bash,
    );
}

/// Returns functions of a typical size: 15 lines, a loop, a `case`, a pipeline.
fn functions(count: usize) -> String {
    let body = r#"
        local x=$1 y
        if [[ -n $x ]]; then
            for y in a b c; do echo "$x $y" | sed -e 's/a/b/' | tr a b; done
        else
            case $x in a) echo one ;; b) echo two ;; esac
        fi
        while read -r line; do printf '%s\n' "$line"; done </etc/passwd
    "#;
    let functions: Vec<String> = (0..count)
        .map(|number| format!("function_{number}() {{ {body} }}"))
        .collect();
    functions.join("\n")
}

/// A constructor of options: for one call, or for many.
type Options = fn(Supervisor, Arc<dyn agent_bash_core::Clock>, PathBuf) -> ShellCacheOptions;

fn cache(token: &Token, options: Options) -> ShellCache {
    ShellCache::new(options(
        Supervisor::this_program(token),
        Arc::new(SystemClock::new()),
        std::env::temp_dir(),
    ))
}

/// Returns the duration of a script in plain bash, in microseconds.
fn time_bash(script: &str) -> f64 {
    let start = Instant::now();
    let args = ["--norc", "--noprofile", "-c", script];
    let mut command = Command::new("/bin/bash");
    command
        .args(args)
        .env_clear()
        .envs(environment())
        .stdin(Stdio::null());
    command.output().unwrap();
    micros(start)
}

/// Prints the medians and their ratio.
fn row(name: &str, ours: &mut [f64], bash: &mut [f64]) {
    let (ours, bash) = (median(ours), median(bash));
    println!(
        "{name:44} {ours:8.1} µs   bash -c {bash:8.1} µs   ratio {:.2}",
        ours / bash
    );
}
