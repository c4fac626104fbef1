//! Real bash is the oracle: a script that runs here and by `bash -c` prints the same, ends the same and writes the same
//! files. What may differ is data (`data/allowed_differences.jsonl`), limited to the classes that the contract allows;
//! any other difference fails, and so does an allowed one that has vanished.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

mod support;

#[path = "bash_equality/allowed.rs"]
mod allowed;
#[path = "bash_equality/observed.rs"]
mod observed;

use agent_bash_core::{Cancel, RunSpec, Streams};
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use allowed::Allowed;
use observed::Observed;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;
use support::{Collect, command, options, spec};
use tokio::sync::Semaphore;

/// A way of running a script that must not be told from `bash -c`.
struct Way {
    name: &'static str,
    streams: Streams,
    /// Where the script's last statement is a pipeline.
    report_stages: bool,
    /// Only shells that were started ahead.
    warm: bool,
    options: fn() -> ShellCacheOptions,
}

/// As many shells wait as calls run at once.
fn warm() -> ShellCacheOptions {
    ShellCacheOptions {
        warm_shells: PARALLEL,
        ..options()
    }
}

const WAYS: &[Way] = &[
    Way {
        name: "cold",
        streams: Streams::Split,
        report_stages: false,
        warm: false,
        options,
    },
    Way {
        name: "cold, one pipe, stages reported",
        streams: Streams::Merged,
        report_stages: true,
        warm: false,
        options,
    },
    Way {
        name: "warm",
        streams: Streams::Split,
        report_stages: false,
        warm: true,
        options: warm,
    },
    Way {
        name: "warm, one pipe, stages reported",
        streams: Streams::Merged,
        report_stages: true,
        warm: true,
        options: warm,
    },
];

/// Scripts of the corpus that bash itself does not run the same twice: one prints how long it took, one may see the
/// pipe of its own pipeline while bash still holds it. Others say the same of times and of descriptors.
const VARYING: [&str; 2] = ["time true 2>/dev/null", r"ls /proc/$$/fd | tr '\n' ' '"];

/// Calls at once.
const PARALLEL: usize = 6;

#[derive(Debug, Clone, Deserialize)]
struct Case {
    name: String,
    script: String,
    /// It is known to be read without an error, and its last statement to be a pipeline: its stages may be asked for.
    #[serde(default)]
    pipeline_last: bool,
}

/// The corpus that the contract comes with, whose scripts are their own names, and the hard ones.
fn cases() -> Vec<Case> {
    let corpus = include_str!("data/bash_scripts.jsonl").lines().map(|line| {
        let script: String = serde_json::from_str(line).unwrap();
        Case {
            name: script.clone(),
            script,
            pipeline_last: false,
        }
    });
    let hard = include_str!("data/hard_scripts.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    corpus.chain(hard).collect()
}

/// By bash itself, in a session of its own as ours are, without a terminal.
fn reference(script: &str, streams: Streams, dir: &Path) -> Observed {
    let mut bash = command("setsid");
    bash.args(["bash", "--norc", "--noprofile", "-c", "--", script])
        .current_dir(dir);
    let (status, out, err) = match streams {
        Streams::Split => {
            let output = bash.output().unwrap();
            (output.status, output.stdout, output.stderr)
        }
        Streams::Merged => {
            let (mut read, write) = std::io::pipe().unwrap();
            bash.stdout(write.try_clone().unwrap()).stderr(write);
            let mut child = bash.spawn().unwrap();
            drop(bash);
            let mut out = Vec::new();
            std::io::Read::read_to_end(&mut read, &mut out).unwrap();
            (child.wait().unwrap(), out, Vec::new())
        }
    };
    Observed::of_process(status, &out, &err, dir)
}

async fn ours(cache: &ShellCache, way: &Way, case: &Case, dir: &Path) -> Observed {
    if way.warm {
        assert!(support::soon(|| cache.warm() > 0).await, "no shell waits");
    }
    let spec = RunSpec {
        cwd: dir.to_path_buf(),
        streams: way.streams,
        report_stages: way.report_stages && case.pipeline_last,
        ..spec(&case.script)
    };
    let mut collect = Collect::default();
    let outcome = agent_bash_core::Executor::run(cache, &spec, &mut collect, &Cancel::new())
        .await
        .unwrap();
    Observed::of_call(&outcome, &collect.out, &collect.err, dir)
}

/// What is wrong with one script in one way, if anything.
fn judge(
    way: &Way,
    case: &Case,
    ours: &Observed,
    bash: &Observed,
    allowed: Option<&Allowed>,
) -> Option<String> {
    let name = &case.name;
    let way = way.name;
    match allowed {
        _ if ours == bash && allowed.is_none() => None,
        None => Some(format!(
            "{way}: {name:?} differs\n  ours {ours}\n  bash {bash}"
        )),
        Some(_) if ours == bash => Some(format!(
            "{way}: {name:?} is listed as different, and is not any more"
        )),
        Some(allowed) => (!allowed.explains(ours, bash)).then(|| {
            format!(
                "{way}: {name:?} differs otherwise than by {:?}\n  ours {ours}\n  bash {bash}",
                allowed.class
            )
        }),
    }
}

/// Runs one script by bash and in all ways, each in a fresh directory.
async fn compare(
    caches: &[(&'static Way, ShellCache)],
    case: &Case,
    allowed: Option<&Allowed>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for streams in [Streams::Split, Streams::Merged] {
        let text = case.script.clone();
        let bash = tokio::task::spawn_blocking(move || {
            let dir = tempfile::tempdir().unwrap();
            reference(&text, streams, dir.path())
        });
        let bash = bash.await.unwrap();
        for (way, cache) in caches.iter().filter(|(way, _)| way.streams == streams) {
            let dir = tempfile::tempdir().unwrap();
            let ours = ours(cache, way, case, dir.path()).await;
            faults.extend(judge(way, case, &ours, &bash, allowed));
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_as_bash_runs_them() {
    // What this process was started with would reach bash, and not ours.
    close_fds::set_fds_cloexec(3, &[]);
    let mut cases = cases();
    let allowed = Arc::new(allowed::table());
    for name in allowed.keys().map(String::as_str).chain(VARYING) {
        let known = cases.iter().any(|case| case.name == name);
        assert!(known, "there is no script {name:?}");
    }
    cases.retain(|case| !VARYING.contains(&case.name.as_str()));
    let caches = WAYS
        .iter()
        .map(|way| (way, ShellCache::new((way.options)())));
    let caches: Arc<[_]> = caches.collect();
    for (_, cache) in caches.iter().filter(|(way, _)| way.warm) {
        // The first call of a kind brings the pool.
        support::run_with(cache, &spec("true"), &Cancel::new())
            .await
            .unwrap();
    }
    let room = Arc::new(Semaphore::new(PARALLEL));
    let mut tasks = tokio::task::JoinSet::new();
    for case in cases {
        let (room, caches, allowed) = (room.clone(), caches.clone(), allowed.clone());
        tasks.spawn(async move {
            let _room = room.acquire().await.unwrap();
            compare(&caches, &case, allowed.get(&case.name)).await
        });
    }
    let mut faults = tasks.join_all().await.concat();
    faults.sort();
    assert!(
        faults.is_empty(),
        "{} differences\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// The comparison is worth nothing if it cannot fail: an unlisted difference, a listed one that is none any more, and a
/// listed one that is not only of its kind.
#[test]
fn differences_are_found() {
    let seen = |err: &str, code| Observed {
        end: observed::End::Exited(code),
        out: String::new(),
        err: err.to_owned(),
        files: [].into(),
    };
    let table = allowed::table();
    let case = |name: &str| Case {
        name: name.to_owned(),
        script: String::new(),
        pipeline_last: false,
    };
    let faulty = |name: &str, ours: &Observed, bash: &Observed| {
        judge(&WAYS[0], &case(name), ours, bash, table.get(name)).is_some()
    };
    let ours = seen("bash: eval: line 1: syntax error\n", 2);
    let bash = seen("bash: -c: line 1: syntax error\n", 2);
    assert!(!faulty("true", &bash, &bash));
    assert!(faulty("true", &ours, &bash));
    assert!(!faulty("echo )", &ours, &bash));
    assert!(faulty("echo )", &bash, &bash));
    assert!(faulty("echo )", &seen(&ours.err, 1), &bash));
    let line_2 = "bash: eval: line 2: syntax error\n";
    assert!(faulty("echo )", &seen(line_2, 2), &bash));
}
