//! The ways of running a script, each of which must be indistinguishable from `bash -c`.

use super::Case;
use super::allowed::{self, Allowed};
use super::observed::{End, Observed};
use crate::support::{self, Collect, SOON, cache_with, options, run_in, spec};
use agent_bash_core::ScriptEnding;
use agent_bash_core::{Cancel, Executor, RunSpec, SessionName, Streams};
use agent_bash_exec::{
    Job, JobState, JobStdin, Jobs, JobsOptions, ShellCache, ShellCacheOptions, SnapshotOptions,
    WaitOutcome,
};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::JobEnd;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::sync::Mutex;

/// Concurrent calls.
pub(crate) const PARALLEL: usize = 6;

/// A way of running a script.
pub(crate) struct RunVariant {
    pub(crate) name: &'static str,
    pub(crate) streams: Streams,
    /// True to report stages, if the script ends with a pipeline.
    report_stages: bool,
    shell: Shell,
    /// The lists of allowed differences.
    allowed: &'static [&'static str],
}

/// The shell that runs the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shell {
    /// A new shell for the call.
    Cold,
    /// A warm shell.
    Warm,
    /// A warm shell with functions and aliases of a configuration.
    Snapshot,
    /// A new session.
    NewSession,
    /// One session, as long as scripts leave its state unchanged.
    OneSession,
    /// A background job.
    Job,
}

/// The allowed differences of every shell that reads its script as in design note 0002.
pub(crate) const OWN_SHELL: &str = include_str!("../../data/allowed_differences.jsonl");
const WITH_SNAPSHOT: &str = include_str!("../../data/allowed_with_snapshot.jsonl");
const IN_SESSION: &str = include_str!("../../data/allowed_in_session.jsonl");
const IN_ONE_SESSION: &str = include_str!("../../data/allowed_in_one_session.jsonl");

pub(crate) const RUN_VARIANTS: &[RunVariant] = &[
    RunVariant {
        name: "cold",
        streams: Streams::Split,
        report_stages: false,
        shell: Shell::Cold,
        allowed: &[OWN_SHELL],
    },
    RunVariant {
        name: "cold, one pipe, stages reported",
        streams: Streams::Merged,
        report_stages: true,
        shell: Shell::Cold,
        allowed: &[OWN_SHELL],
    },
    RunVariant {
        name: "warm",
        streams: Streams::Split,
        report_stages: false,
        shell: Shell::Warm,
        allowed: &[OWN_SHELL],
    },
    RunVariant {
        name: "warm, one pipe, stages reported",
        streams: Streams::Merged,
        report_stages: true,
        shell: Shell::Warm,
        allowed: &[OWN_SHELL],
    },
    RunVariant {
        name: "snapshot",
        streams: Streams::Split,
        report_stages: true,
        shell: Shell::Snapshot,
        allowed: &[OWN_SHELL, WITH_SNAPSHOT],
    },
    RunVariant {
        name: "new session",
        streams: Streams::Split,
        report_stages: false,
        shell: Shell::NewSession,
        allowed: &[IN_SESSION],
    },
    RunVariant {
        name: "one session",
        streams: Streams::Split,
        report_stages: false,
        shell: Shell::OneSession,
        allowed: &[IN_SESSION, IN_ONE_SESSION],
    },
    RunVariant {
        name: "job",
        streams: Streams::Merged,
        report_stages: false,
        shell: Shell::Job,
        allowed: &[OWN_SHELL],
    },
];

/// A way, and the shells it needs.
pub(crate) struct Player {
    pub(crate) variant: &'static RunVariant,
    /// The allowed differences, by script.
    pub(crate) allowed: BTreeMap<String, Allowed>,
    cache: ShellCache,
    /// Number of sessions so far.
    sessions: AtomicUsize,
    /// Number of scripts that ran in a session after another one.
    shared: AtomicUsize,
    /// The state in which the last script found and left the shared session.
    found: Mutex<Option<String>>,
    _directory: TempDir,
}

impl Player {
    pub(crate) async fn new(variant: &'static RunVariant) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ahead = matches!(variant.shell, Shell::Warm | Shell::Snapshot);
        let rc = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rc/quiet.bashrc");
        let snapshot = || SnapshotOptions::new(rc, directory.path().join("snapshots"));
        let cache = ShellCache::new(ShellCacheOptions {
            // As many warm shells as concurrent calls.
            warm_shells: if ahead { PARALLEL } else { 0 },
            snapshot: (variant.shell == Shell::Snapshot).then(snapshot),
            ..options()
        });
        if ahead {
            // The first call of a kind fills the pool.
            let first = run_in(&cache, &spec("declare -F")).await;
            let has_functions = first.out.contains("quiet_one\n");
            assert_eq!(has_functions, variant.shell == Shell::Snapshot);
        }
        Self {
            variant,
            allowed: allowed::of(variant.allowed),
            cache,
            sessions: AtomicUsize::new(0),
            shared: AtomicUsize::new(0),
            found: Mutex::default(),
            _directory: directory,
        }
    }

    /// True if scripts must run sequentially.
    pub(crate) fn is_ordered(&self) -> bool {
        self.variant.shell == Shell::OneSession
    }

    /// Number of scripts that ran in a session after another one.
    pub(crate) fn shared(&self) -> usize {
        self.shared.load(Ordering::Relaxed)
    }

    /// Runs a script in a directory and observes it.
    pub(crate) async fn play(&self, case: &Case, dir: &Path) -> Observed {
        let spec = spec(&case.script)
            .cwd(dir.to_path_buf())
            .streams(self.variant.streams)
            .report_stages(self.variant.report_stages && case.pipeline_last)
            .timeout(2 * SOON);
        match self.variant.shell {
            Shell::Cold => self.call(&spec).await,
            Shell::Warm | Shell::Snapshot => {
                let waits = support::soon(|| self.cache.warm_shells() > 0).await;
                assert!(waits, "no shell waits");
                self.call(&spec).await
            }
            Shell::NewSession => {
                let session = self.next_session();
                let seen = self.call(&in_session(spec, &session)).await;
                self.cache.reset_named_shell(&session);
                seen
            }
            Shell::OneSession => self.in_one_session(spec).await,
            Shell::Job => as_job(&spec).await,
        }
    }

    fn next_session(&self) -> SessionName {
        SessionName(self.sessions.fetch_add(1, Ordering::Relaxed).to_string())
    }

    async fn call(&self, spec: &RunSpec) -> Observed {
        let mut collect = Collect::default();
        let outcome = self.cache.run(spec, &mut collect, &Cancel::new()).await;
        match outcome {
            Ok(outcome) => Observed::of_call(&outcome, &collect.out, &collect.err, &spec.cwd),
            Err(error) => Observed::new(End::Other(error.to_string()), b"", b"", &spec.cwd),
        }
    }

    /// The next script uses the same shell if this one left its state unchanged.
    async fn in_one_session(&self, spec: RunSpec) -> Observed {
        let session = SessionName(self.sessions.load(Ordering::Relaxed).to_string());
        let probe = in_session(support::spec(STATE), &session);
        let state = async || run_in(&self.cache, &probe).await.out;
        let mut found = self.found.lock().await;
        let before = match found.take() {
            Some(before) => {
                self.shared.fetch_add(1, Ordering::Relaxed);
                before
            }
            None => state().await,
        };
        let seen = self.call(&in_session(spec, &session)).await;
        if state().await == before {
            *found = Some(before);
        } else {
            self.cache.reset_named_shell(&session);
            self.next_session();
        }
        seen
    }
}

/// Runs the script as the only job of its registry, so that jobs do not wait for each other.
async fn as_job(spec: &RunSpec) -> Observed {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(SystemClock::new());
    let jobs = Arc::new(Jobs::new(JobsOptions::new(directory.path(), clock)));
    let cache = cache_with(|it| it.jobs = Some(jobs.clone()));
    let started = cache.start_job(spec, JobStdin::Null, &Cancel::new()).await;
    let id = started.unwrap().id;
    let waited = jobs.wait(&id, Some(SOON), &Cancel::new()).await;
    let WaitOutcome::Over(Job {
        state: JobState::Ended(JobEnd { ending, length, .. }),
        output: Some(output),
        ..
    }) = waited.unwrap()
    else {
        return Observed::new(End::Other("did not end".to_owned()), b"", b"", &spec.cwd);
    };
    let mut printed = fs::read(output).unwrap();
    // The rest of the output is the line about the script's end.
    printed.truncate(usize::try_from(length).unwrap());
    let end = match ending {
        ScriptEnding::Exited { code } => End::Exited(code),
        ScriptEnding::Signaled { number, .. } => End::Signaled(number),
        other => End::Other(format!("{other:?}")),
    };
    Observed::new(end, &printed, b"", &spec.cwd)
}

/// Prints the shell state that a script may change. The pid distinguishes shells.
const STATE: &str = r#"
for __name in $(builtin compgen -v); do case $__name in
    BASH_*|COMP_WORDBREAKS|DIRSTACK|EPOCH*|GROUPS|HISTCMD|LINENO|PIPESTATUS|RANDOM|SRANDOM|SECONDS|OLDPWD|PWD|_|__ab|__name) ;;
    *) builtin declare -p $__name;;
esac; done; unset __name
builtin declare -f; builtin alias; builtin shopt -p; builtin set +o; builtin trap; builtin umask; builtin ulimit -a
builtin hash -r; builtin jobs; builtin echo "$0 $$ $#" /proc/$$/fd/*; builtin dirs -v; builtin complete; builtin enable -a"#;

fn in_session(spec: RunSpec, name: &SessionName) -> RunSpec {
    spec.session(name.clone()).enter_cwd(true)
}
