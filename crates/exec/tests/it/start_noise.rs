//! Shells that print while they start, as bash does if its locale is not installed: the call runs,
//! and the message appears where bash would print it.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{SOON, cache_with, command, environment, options, run_in, soon, spec};
use agent_bash_core::{Cancel, Environment, RunSpec, SessionName, Streams};
use agent_bash_exec::{JobStdin, Jobs, JobsOptions, ShellCache, ShellCacheOptions};
use agent_bash_process::SystemClock;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The noise comes late, and is more than a pipe holds.
const NOISE: &str = "sleep 0.1; printf '%0100000d\\n' 0 >&2; echo warning >&2\n";

/// The shell of this call prints [`NOISE`] at its start.
fn noisy(script: &str, dir: &Path) -> RunSpec {
    let noise = dir.join("noise");
    fs::write(&noise, NOISE).unwrap();
    let mut base = environment();
    base.insert("BASH_ENV".into(), noise.into());
    spec(script)
        .env(Environment {
            base: Arc::new(base),
            ..Environment::default()
        })
        .timeout(SOON)
}

fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.starts_with('0'));
    lines.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn output_of_a_call_begins_with_output_of_its_shell() {
    let dir = tempfile::tempdir().unwrap();
    let warm = || ShellCacheOptions {
        warm_shells: 1,
        ..options()
    };
    for (streams, out, err) in [
        (Streams::Merged, &["warning", "ran"][..], &[][..]),
        (Streams::Split, &["ran"], &["warning"]),
    ] {
        let spec = noisy("unset BASH_ENV; echo ran; exit 3", dir.path()).streams(streams);
        for options in [options(), warm()] {
            let cache = ShellCache::new(options);
            for _ in 0..2 {
                let ran = run_in(&cache, &spec).await;
                assert_eq!(ran.exit_code(), 3);
                assert_eq!((&*lines(&ran.out), &*lines(&ran.err)), (out, err));
            }
        }
    }
}

/// A session's shell is started once for many calls, so the output of its start belongs to no call.
#[tokio::test(flavor = "multi_thread")]
async fn session_starts_without_the_capture() {
    let dir = tempfile::tempdir().unwrap();
    let cache = ShellCache::new(options());
    for _ in 0..2 {
        let spec = noisy("echo ran; echo err >&2", dir.path()).session(SessionName("a".into()));
        let ran = run_in(&cache, &spec).await;
        assert_eq!((&*ran.out, &*ran.err), ("ran\n", "err\n"));
        assert!(ran.outcome.notices.is_empty(), "{:?}", ran.outcome.notices);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_of_a_job_begins_with_output_of_its_shell() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new(JobsOptions::new(
        dir.path().join("jobs"),
        Arc::new(SystemClock::new()),
    ));
    let cache = cache_with(|it| it.jobs = Some(Arc::new(jobs)));
    let spec = noisy("unset BASH_ENV; echo ran", dir.path());
    let job = cache
        .start_job(&spec, JobStdin::Null, &Cancel::new())
        .await
        .unwrap();
    let printed = || fs::read_to_string(job.output.as_ref().unwrap()).unwrap_or_default();
    let all = soon(|| printed().ends_with("ran\n")).await;
    assert!(all, "{}", printed().len());
    assert_eq!(lines(&printed()), ["warning", "ran"]);
}

/// bash's own warning, at a random moment.
#[tokio::test(flavor = "multi_thread")]
async fn warning_equals_the_warning_of_bash() {
    let spec = spec("echo ran $SHLVL")
        .streams(Streams::Merged)
        .timeout(Duration::from_secs(20))
        .env(Environment {
            base: Arc::new(
                environment()
                    .into_iter()
                    .chain([("SHLVL".into(), "999".into())])
                    .collect(),
            ),
            ..Environment::default()
        });
    let mut bash = command("/bin/bash");
    let bash = bash.arg0("bash").env("SHLVL", "999");
    let bash = bash.args(["-c", "echo ran $SHLVL"]).output();
    let bash = bash.unwrap();
    let bash = String::from_utf8([bash.stderr, bash.stdout].concat()).unwrap();
    assert!(bash.contains("warning"), "{bash}");
    for _ in 0..20 {
        let ran = run_in(&ShellCache::new(options()), &spec).await;
        assert_eq!(ran.out, bash);
    }
}
