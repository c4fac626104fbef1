//! The definitions of a persistent shell, in other shells.

use crate::support::{self, FinishedRun, run_in, run_with, spec};
use agent_bash_core::{Cancel, RunSpec, ScriptEnding, SessionName};
use agent_bash_exec::ShellCache;
use std::path::Path;
use std::sync::Arc;

fn name() -> SessionName {
    SessionName("a".into())
}

fn within(script: &str) -> RunSpec {
    spec(script).session(name())
}

async fn say(cache: &ShellCache, script: &str) -> FinishedRun {
    run_in(cache, &within(script)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn new_shell_gets_definitions_and_the_session_is_unchanged() {
    let cache = support::cache();
    assert_eq!(cache.definitions_of(&name()).await, None, "there is none");
    // Definitions that would show, or end the shell, in a careless question.
    let own = "shopt -s expand_aliases nullglob extglob
        f() { case $1 in @(a|b)) printf '%s\\n' \"it's $1\";; esac; }
        echo() { builtin echo replaced; }
        alias g='f b' ls='f a'
        plain=kept; sleep 300 & set -eu; trap 'printf trapped' ERR";
    let ran = say(&cache, own).await;
    assert_eq!(ran.outcome.survivors.len(), 1, "{ran:?}");
    let definitions = cache.definitions_of(&name()).await.map(Arc::new).unwrap();
    let script = "g | cat\nprintf '%s ' ${plain-none} /ab/none*; echo as ever; false; echo not";
    let outside = spec(script).definitions(Some(definitions));
    let ran = run_in(&cache, &outside).await;
    assert_eq!(ran.out, "it's b\nnone as ever\n", "{ran:?}");
    let after = say(&cache, "trap - ERR; printf '%s ' $plain; jobs -p | wc -l").await;
    assert!(after.out.ends_with("kept 1\n"), "{after:?}");
    assert!(after.outcome.notices.is_empty(), "{after:?}");
    say(&cache, "kill %1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn last_status_of_a_session_is_stored() {
    let cache = support::cache();
    say(&cache, "f() { :; }; (exit 5)").await;
    for _ in 0..2 {
        assert!(cache.definitions_of(&name()).await.is_some());
    }
    let ran = say(&cache, "echo $?").await;
    assert_eq!(ran.out, "5\n");
    assert!(ran.outcome.notices.is_empty(), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn busy_shell_is_not_queried_and_too_long_answer_is_dropped() {
    let cache = Arc::new(support::cache());
    say(&cache, "f() { :; }").await;
    let cancel = Cancel::new();
    let (busy, within_it) = (Arc::clone(&cache), cancel.clone());
    let running =
        tokio::spawn(async move { run_with(&busy, &within("sleep 300"), &within_it).await });
    while !cache.named_shells()[0].busy {
        tokio::task::yield_now().await;
    }
    assert_eq!(cache.definitions_of(&name()).await, None);
    cancel.cancel();
    let ran = running.await.unwrap().unwrap();
    assert!(
        matches!(ran.outcome.ending, ScriptEnding::Cancelled),
        "{ran:?}"
    );
    say(
        &cache,
        "alias long=\"$(printf '%02200000d')\" longer=\"$(printf '%02200000d')\"",
    )
    .await;
    assert_eq!(cache.definitions_of(&name()).await, None, "too much");
    let ran = say(&cache, "alias | wc -c").await;
    assert!(
        ran.out.trim().parse::<u32>().unwrap() > 4_400_000,
        "{ran:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn shell_that_ended_is_reported_by_its_next_call() {
    let cache = support::cache();
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    let until = format!("until [[ -e {} ]]; do sleep .01; done", go.display());
    let script = format!("echo $$; ({until}; kill -9 $$) & f() {{ :; }}");
    let ran = say(&cache, &script).await;
    let shell = Path::new("/proc").join(ran.out.trim());
    assert!(shell.exists(), "{ran:?}");
    std::fs::write(go, "").unwrap();
    assert!(support::soon(|| !shell.exists()).await);
    assert_eq!(cache.definitions_of(&name()).await, None);
    let ran = say(&cache, "echo there").await;
    assert_eq!(ran.out, "there\n");
    assert_eq!(ran.outcome.notices.len(), 1, "{ran:?}");
}
