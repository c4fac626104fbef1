//! Real bash is the oracle: a script run here prints the same, ends the same and writes the same
//! files as under `bash -c`, whichever way it is run: in a call (cold, warm, or with a snapshot),
//! in a session, as a background job. Allowed differences are data (`data/allowed_*.jsonl`: one
//! list for the shells of calls and jobs, and another for each way with more differences), limited
//! to the classes in the contract. Any other difference fails, and so does an allowed one that has
//! vanished.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

mod allowed;
pub(crate) mod observed;
mod ways;

use crate::support::command;
use agent_bash_core::Streams;
use allowed::Allowed;
use observed::Observed;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Semaphore;
use ways::{PARALLEL, Player, RUN_VARIANTS};

/// Scripts of the corpus whose output varies under bash itself: one prints how long it took, one
/// may see the pipe of its own pipeline while bash still holds it. Other scripts cover times and
/// descriptors.
const VARYING: [&str; 2] = ["time true 2>/dev/null", r"ls /proc/$$/fd | tr '\n' ' '"];

#[derive(Debug, Clone, Deserialize)]
struct Case {
    name: String,
    script: String,
    /// True for a script without syntax errors that ends with a pipeline, so that its stages may be
    /// requested.
    #[serde(default)]
    pipeline_last: bool,
}

/// The corpus of the contract, whose scripts are their own names, and the hard cases.
fn cases() -> Vec<Case> {
    let corpus = include_str!("../data/bash_scripts.jsonl")
        .lines()
        .map(|line| {
            let script: String = serde_json::from_str(line).unwrap();
            Case {
                name: script.clone(),
                script,
                pipeline_last: false,
            }
        });
    let hard = include_str!("../data/hard_scripts.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    corpus.chain(hard).collect()
}

/// Runs a script in bash itself, in its own process session like the shells of calls, without a
/// terminal. No signals are ignored, however these tests were started.
fn reference(script: &str, streams: Streams, dir: &Path) -> Observed {
    let mut bash = command("env");
    bash.args(["--default-signal", "setsid"])
        .args(["bash", "--norc", "--noprofile", "-c", "--", script])
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

/// Returns the difference of a script in one way of running it, if any.
fn judge(
    variant: &str,
    case: &Case,
    ours: &Observed,
    bash: &Observed,
    allowed: Option<&Allowed>,
) -> Option<String> {
    let name = &case.name;
    match allowed {
        _ if ours == bash && allowed.is_none() => None,
        None => Some(format!(
            "{variant}: {name:?} differs\n  ours {ours}\n  bash {bash}"
        )),
        Some(_) if ours == bash => Some(format!(
            "{variant}: {name:?} is listed as different, and is not any more"
        )),
        Some(allowed) => (!allowed.explains(ours, bash)).then(|| {
            format!(
                "{variant}: {name:?} differs otherwise than by {:?}\n  ours {ours}\n  bash {bash}",
                allowed.class
            )
        }),
    }
}

/// Runs a script in bash, in a fresh directory.
async fn bash(case: &Case, streams: Streams) -> Observed {
    let script = case.script.clone();
    let bash = tokio::task::spawn_blocking(move || {
        let dir = tempfile::tempdir().unwrap();
        reference(&script, streams, dir.path())
    });
    bash.await.unwrap()
}

/// Runs a script in one way, in a fresh directory. Returns the difference from bash, if it is not
/// allowed.
async fn check(player: &Player, case: &Case, bash: &Observed) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let ours = player.play(case, dir.path()).await;
    let allowed = player.allowed.get(&case.name);
    judge(player.variant.name, case, &ours, bash, allowed)
}

/// Runs a script in bash and in all ways.
async fn compare(players: &[Player], case: &Case) -> Vec<String> {
    let mut faults = Vec::new();
    for streams in [Streams::Split, Streams::Merged] {
        let bash = bash(case, streams).await;
        for player in players {
            if player.variant.streams == streams && !player.is_ordered() {
                faults.extend(check(player, case, &bash).await);
            }
        }
    }
    faults
}

/// Runs all scripts sequentially in the ways in which one script may affect another.
async fn compare_in_order(players: &[Player], cases: &[Case]) -> Vec<String> {
    let mut faults = Vec::new();
    for player in players.iter().filter(|player| player.is_ordered()) {
        for case in cases {
            let bash = bash(case, player.variant.streams).await;
            faults.extend(check(player, case, &bash).await);
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_as_bash_runs_them() {
    // Without this, bash would inherit this process's descriptors, unlike the shells of calls.
    close_fds::set_fds_cloexec(3, &[]);
    let mut cases = cases();
    let mut players = Vec::new();
    for variant in RUN_VARIANTS {
        players.push(Player::new(variant).await);
    }
    let listed = players.iter().flat_map(|player| player.allowed.keys());
    for name in listed.map(String::as_str).chain(VARYING) {
        let known = cases.iter().any(|case| case.name == name);
        assert!(known, "there is no script {name:?}");
    }
    cases.retain(|case| !VARYING.contains(&case.name.as_str()));
    let players: Arc<[Player]> = players.into();
    let cases: Arc<[Case]> = cases.into();
    let mut tasks = tokio::task::JoinSet::new();
    {
        let (players, cases) = (players.clone(), cases.clone());
        tasks.spawn(async move { compare_in_order(&players, &cases).await });
    }
    let room = Arc::new(Semaphore::new(PARALLEL));
    for index in 0..cases.len() {
        let (room, players, cases) = (room.clone(), players.clone(), cases.clone());
        tasks.spawn(async move {
            let _room = room.acquire().await.unwrap();
            compare(&players, &cases[index]).await
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
    // Otherwise no script ran in a shell after another one, and their influence was not tested.
    let shared: usize = players.iter().map(Player::shared).sum();
    assert!(shared > cases.len() / 2, "{shared} of {}", cases.len());
}

/// Negative control: an unlisted difference, a listed one that has vanished, and a listed one that
/// goes beyond its class.
#[test]
fn differences_are_found() {
    let seen = |err: &str, code| Observed {
        end: observed::End::Exited(code),
        out: String::new(),
        err: err.to_owned(),
        files: [].into(),
    };
    let table = allowed::of(&[ways::OWN_SHELL]);
    let case = |name: &str| Case {
        name: name.to_owned(),
        script: String::new(),
        pipeline_last: false,
    };
    let faulty = |name: &str, ours: &Observed, bash: &Observed| {
        judge("some variant", &case(name), ours, bash, table.get(name)).is_some()
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

    let table =
        allowed::of(&[r#"{"script": "s", "class": "session_mute", "ours": {"err": "mine"}}"#]);
    let faulty = |ours: &Observed, bash: &Observed| {
        judge("some variant", &case("s"), ours, bash, table.get("s")).is_some()
    };
    assert!(!faulty(&seen("mine", 0), &seen("bash's", 0)));
    assert!(faulty(&seen("another", 0), &seen("bash's", 0)));
    assert!(faulty(&seen("mine", 1), &seen("bash's", 0)));
}
