//! The directory of a session after its shell was replaced: the same, or the call fails.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{FinishedRun, cache, run_in, run_with, spec};
use agent_bash_core::{Cancel, NotStarted, ScriptEnding, SessionName};
use agent_bash_exec::ShellCache;
use std::fs;
use std::path::{Path, PathBuf};

async fn try_say(cache: &ShellCache, script: &str, cwd: &Path) -> Result<FinishedRun, NotStarted> {
    let spec = spec(script)
        .session(SessionName("a".into()))
        .cwd(cwd.to_owned());
    run_with(cache, &spec, &Cancel::new()).await
}

async fn say(cache: &ShellCache, script: &str, cwd: &Path) -> FinishedRun {
    try_say(cache, script, cwd).await.unwrap()
}

/// The commands before the end of the shell, and the directory of the next call, below the
/// directory of the calls.
const KEPT: &[(&str, &str)] = &[
    (":", "base"),
    ("unset PWD", "base"),
    ("PWD=/etc", "base"),
    ("PWD=relative", "base"),
    ("unset PWD; PWD=/etc", "base"),
    ("export PWD=/etc", "base"),
    ("cd ..", ""),
    ("mkdir -p real && ln -sfn real link && cd link", "base/link"),
    ("mkdir -p a && cd a && mv ../a ../moved", "base/moved"),
    // Removed and created again.
    (
        "mkdir -p again && cd again && rmdir ../again && mkdir ../again",
        "base/again",
    ),
    ("mkdir -p 'new\nline' && cd new*", "base/new\nline"),
    (
        "mkdir -p 'x (deleted)' x && cd 'x (deleted)'",
        "base/x (deleted)",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn new_shell_starts_in_the_sessions_directory() {
    for (before, workspace) in KEPT {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let base = top.join("base");
        fs::create_dir(&base).unwrap();
        let cache = cache();
        say(&cache, before, &base).await;
        assert!(
            say(&cache, "exit 3", &base).await.reset_reason().is_some(),
            "{before}"
        );
        let next = say(&cache, "\\builtin pwd", &base).await;
        // An empty last component leaves a trailing slash.
        let wanted: PathBuf = top.join(workspace).components().collect();
        assert_eq!(next.out, format!("{}\n", wanted.display()), "{before}");
        let real = fs::canonicalize(wanted).unwrap();
        assert_eq!(next.outcome.final_cwd, Some(real), "{before}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn call_is_refused_if_the_sessions_directory_is_gone() {
    for lose in [
        "mkdir gone && cd gone && rmdir ../gone",
        "mkdir gone && cd gone && PWD=/etc && rmdir ../gone",
        "mkdir gone && cd gone && unset PWD && rmdir ../gone",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        let cache = cache();
        say(&cache, &format!("export KEPT=1; {lose}"), &base).await;
        // While the shell lives, it stays in the removed directory.
        assert_eq!(say(&cache, "echo here", &base).await.out, "here\n");
        say(&cache, "exit 3", &base).await;
        let refused = try_say(&cache, "echo ran >ran", &base).await.unwrap_err();
        assert!(
            matches!(refused, NotStarted::SessionDisplaced { .. }),
            "{refused:?}"
        );
        assert!(!base.join("ran").exists(), "{lose}");
        // The caller was informed, and the session now has its new directory.
        let next = say(&cache, "echo $KEPT; \\builtin pwd", &base).await;
        assert_eq!(next.out, format!("1\n{}\n", base.display()), "{lose}");
    }
}

/// A call that names its directory does not need the removed directory of the session.
#[tokio::test(flavor = "multi_thread")]
async fn call_with_a_directory_runs_there() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let cache = cache();
    let lose = "export KEPT=1; mkdir gone && cd gone && rmdir ../gone";
    say(&cache, lose, &base).await;
    say(&cache, "exit 3", &base).await;
    let spec = spec("echo $KEPT; pwd")
        .session(SessionName("a".into()))
        .cwd(base.clone())
        .enter_cwd(true);
    let ran = run_in(&cache, &spec).await;
    assert_eq!(ran.out, format!("1\n{}\n", base.display()));
}

/// A shell that could not enter its first directory has no directory yet: the next call does not
/// run in `/` either.
#[tokio::test(flavor = "multi_thread")]
async fn new_session_shell_does_not_start_at_the_root() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let cache = cache();
    for _ in 0..2 {
        let refused = try_say(&cache, "pwd", &base.join("missing")).await;
        assert!(refused.is_err(), "{refused:?}");
    }
    let ran = say(&cache, "pwd", &base).await;
    assert_eq!(ran.out, format!("{}\n", base.display()));
}

#[tokio::test(flavor = "multi_thread")]
async fn result_has_the_directory_in_which_the_script_began() {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let cache = cache();
    let first = say(&cache, "cd /usr", &base).await.outcome;
    assert_eq!(
        (first.initial_cwd, first.final_cwd),
        (None, Some("/usr".into()))
    );
    let second = say(&cache, "cd /usr/lib; exit 3", &base).await.outcome;
    assert_eq!(second.ending, ScriptEnding::Exited { code: 3 });
    assert_eq!(second.initial_cwd, Some("/usr".into()));
    // Neither the shell nor the directory of the calls needs to exist for that.
    fs::remove_dir(&base).unwrap();
    for _ in 0..2 {
        let next = say(&cache, "pwd", &base).await;
        assert_eq!(next.out, "/usr\n");
        assert_eq!(next.outcome.initial_cwd, Some("/usr".into()));
    }
}
