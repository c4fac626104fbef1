//! Sessions with a shell that can no longer report, because of a script.

use crate::support::{FinishedRun, cache_with, options, run_in, spec};
use agent_bash_core::{ScriptEnding, SessionName};
use agent_bash_exec::ShellCache;

/// Runs a script in a session without a time limit.
async fn say(cache: &ShellCache, script: &str) -> FinishedRun {
    let spec = spec(script).session(SessionName("a".into())).timeout(None);
    run_in(cache, &spec).await
}

/// A shell that a script has broken is detected when the script ends.
#[tokio::test(flavor = "multi_thread")]
async fn shell_that_cannot_report_is_replaced() {
    for script in ["set -n", "set -r", "enable -n printf"] {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache_with(|it| it.directory = directory.path().to_owned());
        let export = format!("cd /usr; export DIRECTORY={}", directory.path().display());
        say(&cache, &export).await;
        let last = say(&cache, script).await;
        let is_lost = matches!(last.outcome.ending, ScriptEnding::Lost { .. });
        assert!(
            is_lost && last.reset_reason().is_some(),
            "{script}: {last:?}"
        );
        let next = say(&cache, "echo $PWD $DIRECTORY").await;
        let kept = format!("/usr {}\n", directory.path().display());
        assert_eq!(
            (next.out.as_str(), next.reset_reason().is_some()),
            (&*kept, false),
            "{script}"
        );
    }
}

/// Without its directory, a shell reports once more and takes no further script.
#[tokio::test(flavor = "multi_thread")]
async fn shell_is_replaced_after_its_directory_was_removed() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache_with(|it| it.directory = directory.path().to_owned());
    let path = directory.path().display();
    let script = format!("cd /usr; rm -r {path}/agent-bash-session-*; (exit 3)");
    let last = say(&cache, &script).await;
    assert_eq!(last.exit_code(), 3);
    assert!(last.reset_reason().is_none());
    let next = say(&cache, "pwd").await;
    assert!(
        next.out == "/usr\n" && next.reset_reason().is_some(),
        "{next:?}"
    );
}

/// If an alias replaces a word of the host's commands, the script still runs.
#[tokio::test(flavor = "multi_thread")]
async fn shell_that_cannot_read_a_script_is_replaced() {
    let cache = ShellCache::new(options());
    say(&cache, "shopt -s expand_aliases; alias if=x {=y case=z").await;
    let ran = say(&cache, "echo out").await;
    assert!(
        ran.out == "out\n" && ran.reset_reason().is_none(),
        "{ran:?}"
    );
    let spec = spec("pwd")
        .session(SessionName("a".into()))
        .cwd("/usr")
        .enter_cwd(true);
    let ran = run_in(&cache, &spec).await;
    assert!(
        ran.out == "/usr\n" && ran.reset_reason().is_some(),
        "{ran:?}"
    );
}

/// A shell without the array that its loop needs is replaced, too.
#[tokio::test(flavor = "multi_thread")]
async fn shell_without_dirstack_is_replaced() {
    let cache = ShellCache::new(options());
    let ran = say(&cache, "cd /usr; unset DIRSTACK; (exit 3)").await;
    assert_eq!(ran.exit_code(), 3);
    let ran = say(&cache, "pwd").await;
    assert!(
        ran.out == "/usr\n" && ran.reset_reason().is_some(),
        "{ran:?}"
    );
}

/// The negative control: a shell that is only slow is not replaced.
#[tokio::test(flavor = "multi_thread")]
async fn slow_shell_is_not_replaced() {
    let cache = ShellCache::new(options());
    let ran = say(&cache, "x=5; sleep 1.5; (exit 3)").await;
    assert_eq!(ran.exit_code(), 3);
    assert!(ran.reset_reason().is_none());
    for _ in 0..3 {
        let ran = say(&cache, r#"set -u; echo $x "${__ab[@]}""#).await;
        assert_eq!(ran.out, "5\n");
    }
}
