//! Snapshots of the user's shell: which parts of a configuration reach a call, and that no
//! configuration can do harm.
//!
//! The configurations are data (`data/rc/*.bashrc`); the expected results are in
//! `snapshot/cases.rs`.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

mod cases;
mod confined;
mod home;
mod projects;

use crate::support::{self, FinishedRun, run_in, run_with, soon};
use agent_bash_core::{Cancel, Environment, NoticeKind, RunSpec, SessionName};
use agent_bash_exec::{ShellCache, SnapshotOptions};
use cases::{CASES, Case, LIKE_BARE};
use home::Home;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Concurrent configurations.
const PARALLEL: usize = 3;

async fn run(cache: &ShellCache, spec: &RunSpec) -> FinishedRun {
    run_in(cache, spec).await
}

/// Returns the reported reason why a call had no snapshot.
fn skipped(ran: &FinishedRun) -> Option<&str> {
    ran.outcome
        .notices
        .iter()
        .find_map(|notice| match &notice.kind {
            NoticeKind::SnapshotSkipped { reason } => Some(reason.as_str()),
            _ => None,
        })
}

/// A call's output and how it ended.
fn output_and_ending(ran: &FinishedRun) -> (String, String, String) {
    let ending = format!("{:?}", ran.outcome.ending);
    (ran.out.clone(), ran.err.clone(), ending)
}

/// Prints functions and aliases. Works with every option, and without `PATH`.
const PROBE: &str = r#"
builtin printf 'f %s\n' $(builtin compgen -A function)
builtin printf 'a %s\n' "${!BASH_ALIASES[@]}""#;

async fn definitions(cache: &ShellCache, home: &Home) -> String {
    // The configuration's options are undone: they apply to the probe, too.
    let undo = "builtin set +eufxvCk -B +o posix; builtin shopt -u failglob nullglob xpg_echo extdebug; IFS=$' \\t\\n'";
    let ran = run(cache, &home.spec(&format!("{undo} 2>/dev/null{PROBE}"))).await;
    sorted(ran.out.lines().filter(|line| line.len() > 2))
}

fn sorted<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Runs all checks of one configuration. Returns what is wrong.
async fn check(case: &Case) -> Vec<String> {
    let home = Home::with(case.rc);
    let cache = home.cache(2);
    let mut faults = Vec::new();
    let mut fault = |what: &str, got: &dyn std::fmt::Debug, want: &dyn std::fmt::Debug| {
        faults.push(format!(
            "{}: {what}\n   got {got:?}\n  want {want:?}",
            case.rc
        ));
    };

    let hi = home.spec("echo hi");
    let first = if let Some(process) = case.hangs_in {
        let (first, ()) = tokio::join!(run(&cache, &hi), async {
            home.census.wait_for(process).await;
            home.clock.pass();
        });
        first
    } else {
        run(&cache, &hi).await
    };
    if !first.out.starts_with("hi\n") {
        fault("the first call", &output_and_ending(&first), &"hi");
    }
    match (skipped(&first), case.skipped) {
        (None, None) => {}
        (Some(got), Some(want)) if got.contains(want) => {}
        (got, want) => fault("why it was skipped", &got, &want),
    }

    let want: Vec<String> = case
        .functions
        .split_whitespace()
        .map(|name| format!("f {name}"))
        .chain(
            case.aliases
                .split_whitespace()
                .map(|name| format!("a {name}")),
        )
        .collect();
    let want = sorted(want.iter().map(String::as_str));
    for way in ["warm", "cold"] {
        let cold = home.cache(0);
        if way == "warm" {
            assert!(soon(|| cache.warm_shells() == 2).await, "no shell waits");
        }
        let cache = if way == "warm" { &cache } else { &cold };
        let got = definitions(cache, &home).await;
        if case.functions != MANY && got != want {
            fault(&format!("{way}: definitions"), &got, &want);
        }
        for (script, out) in case.scripts {
            let ran = run(cache, &home.spec(script)).await;
            if ran.out != *out {
                fault(&format!("{way}: {script}"), &output_and_ending(&ran), out);
            }
        }
        // The record is the same; with options, traces of the loading are visible in both.
        if case.options || way == "cold" {
            continue;
        }
        let bare = Home::bare_cache();
        for script in LIKE_BARE {
            let with = output_and_ending(&run(cache, &home.spec(script)).await);
            let without = output_and_ending(&run(&bare, &home.spec(script)).await);
            if with != without {
                fault(&format!("{way}: {script}"), &with, &without);
            }
        }
    }
    drop(cache);
    faults.extend(home.left_behind(case.rc, case.daemons).await);
    faults
}

/// These names are too many to list.
const MANY: &str = "*";

#[tokio::test(flavor = "multi_thread")]
async fn every_configuration_loads_its_valid_part_and_breaks_no_call() {
    let files = std::fs::read_dir(home::CONFIGURATIONS).unwrap();
    for file in files {
        let name = file.unwrap().file_name().into_string().unwrap();
        let rc = name.strip_suffix(".bashrc").unwrap();
        assert!(CASES.iter().any(|case| case.rc == rc), "no case has {name}");
    }
    let room = Arc::new(Semaphore::new(PARALLEL));
    let mut tasks = tokio::task::JoinSet::new();
    for case in CASES {
        let room = Arc::clone(&room);
        tasks.spawn(async move {
            let _room = room.acquire().await.unwrap();
            check(case).await
        });
    }
    let mut faults = tasks.join_all().await.concat();
    faults.sort();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Negative control: without filter, verification or limit, the definitions that are excluded above
/// exist.
#[tokio::test(flavor = "multi_thread")]
async fn omitted_output_would_be_shown_otherwise() {
    // The same file, read by bash itself.
    for (rc, script, there) in [
        ("shadows", "type -t rm builtin", "function\nfunction"),
        ("keywords", "alias if", "alias if="),
        (
            "unreadable",
            "text=$(declare -f unreadable); eval \"$text\" 2>&1",
            "syntax error",
        ),
        ("secrets", "alias db; declare -f deploy", "hunter2"),
    ] {
        let home = Home::with(rc);
        let text = format!(". {:?}\n{script}", home.rc());
        let output = support::command("bash")
            .args(["--norc", "--noprofile", "-c", &text])
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains(there), "{rc}: {out}");
    }
    // The rule for secrets can be switched off.
    let home = Home::with("secrets");
    let options = SnapshotOptions {
        secrets: None,
        ..home.options()
    };
    let cache = home.cache_with(options, 0);
    let got = definitions(&cache, &home).await;
    assert!(got.contains("f deploy") && got.contains("a db"), "{got}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_can_refuse_it() {
    let home = Home::with("plain");
    let cache = home.cache(2);
    run(&cache, &home.spec("true")).await;
    assert!(soon(|| cache.warm_shells() == 2).await);
    for (snapshot, want) in [(true, "hello you\n"), (false, ""), (true, "hello you\n")] {
        let spec = home.spec("greet 2>/dev/null").snapshot(snapshot);
        assert_eq!(run(&cache, &spec).await.out, want, "{snapshot}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_is_private_and_has_only_definitions() {
    let home = Home::with("secrets");
    let cache = home.cache(1);
    let mut spec = home.spec("true");
    let mut base = (*spec.env.base).clone();
    base.insert("A_VALUE".into(), "of the environment".into());
    spec.env = Environment {
        base: Arc::new(base),
        ..spec.env
    };
    run(&cache, &spec).await;
    let files = home.snapshots();
    assert_eq!(files.len(), 1, "{files:?}");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&files[0]), 0o600);
    assert_eq!(mode(files[0].parent().unwrap()), 0o700);
    let text = std::fs::read_to_string(&files[0]).unwrap();
    assert!(text.contains("plain ()"), "{text}");
    for secret in ["hunter2", "ghp_", "wJalr", "Bearer", "of the environment"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    drop(cache);
    assert!(soon(|| home.snapshots().is_empty()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_configuration_is_read_again() {
    let home = Home::with("plain");
    let cache = home.cache(2);
    for (text, want) in [
        ("v() { echo one; }", "one\n"),
        ("v() { echo two; }", "two\n"),
        ("v() { echo three; }; w() { :; }", "three\n"),
    ] {
        home.write_rc(text);
        for _ in 0..3 {
            assert_eq!(run(&cache, &home.spec("v")).await.out, want);
        }
        assert!(soon(|| cache.warm_shells() > 0).await);
    }
    std::fs::remove_file(home.rc()).unwrap();
    let ran = run(&cache, &home.spec("declare -F v || echo none")).await;
    assert_eq!((ran.out.as_str(), skipped(&ran)), ("none\n", None));
    home.write_rc("v() { echo back; }");
    assert_eq!(run(&cache, &home.spec("v")).await.out, "back\n");
}

/// One notice per failure; no retry within a minute, unless the file changes.
#[tokio::test(flavor = "multi_thread")]
async fn failure_is_reported_once_and_retried_after_a_minute() {
    let home = Home::with("kills");
    let cache = home.cache(1);
    let notices = async |calls: usize| {
        let mut count = 0;
        for _ in 0..calls {
            count += usize::from(skipped(&run(&cache, &home.spec("true")).await).is_some());
        }
        count
    };
    assert_eq!(notices(3).await, 1);
    home.clock.advance(50);
    assert_eq!(notices(2).await, 0);
    home.clock.advance(11);
    assert_eq!(notices(3).await, 1);
    home.write_rc("kill -KILL $$ # changed");
    assert_eq!(notices(3).await, 1);
    home.write_rc("fine() { echo fine; }");
    assert_eq!(notices(1).await, 0);
    assert_eq!(run(&cache, &home.spec("fine")).await.out, "fine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_share_one_capture() {
    let home = Home::with("plain");
    home.write_rc("echo captured >> ~/log; v() { echo one; }");
    let cache = Arc::new(home.cache(2));
    let spec = home.spec("v");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (cache, spec) = (Arc::clone(&cache), spec.clone());
        calls.spawn(async move { run(&cache, &spec).await.out });
    }
    let outs = calls.join_all().await;
    assert!(outs.iter().all(|out| out == "one\n"), "{outs:?}");
    let log = std::fs::read_to_string(home.path("log")).unwrap();
    assert_eq!(log, "captured\n");
}

/// An environment that was active when the host was started is not shadowed by what the file puts
/// in front of the path.
#[tokio::test(flavor = "multi_thread")]
async fn active_environment_takes_precedence_over_the_configuration() {
    let home = Home::with("plain");
    home.write_rc("export PATH=/new:/mine:$PATH EDITOR=x TOOL=file CONDA_PREFIX=/c");
    let cache = home.cache(0);
    for (path, variables, want) in [
        (
            "/usr/bin:/bin",
            &[][..],
            "/new:/mine:/usr/bin:/bin file /c\n",
        ),
        (
            "/v/bin:/mine:/usr/bin:/bin",
            &[("VIRTUAL_ENV", "/v"), ("TOOL", "own")],
            "/v/bin:/new:/mine:/usr/bin:/bin own /c\n",
        ),
        (
            "/c/envs/py/bin:/usr/bin:/bin",
            &[("CONDA_PREFIX", "/c/envs/py")],
            "/c/envs/py/bin:/new:/mine:/usr/bin:/bin file /c/envs/py\n",
        ),
    ] {
        let mut spec = home.spec("echo $PATH $TOOL $CONDA_PREFIX");
        let mut base = (*spec.env.base).clone();
        base.insert("PATH".into(), path.into());
        let variables = variables.iter();
        base.extend(variables.map(|(name, value)| (name.into(), value.into())));
        spec.env.base = Arc::new(base);
        assert_eq!(run(&cache, &spec).await.out, want, "{path}");
    }
}

/// The call runs without the snapshot after the maximum wait, and a later call has the snapshot.
#[tokio::test(flavor = "multi_thread")]
async fn slow_capture_finishes_in_the_background() {
    let home = Home::with("locks");
    let cache = home.cache(0);
    let spec = in_session(&home, "echo hi; PATH=/own:$PATH");
    let (first, ()) = tokio::join!(run(&cache, &spec), async {
        home.census.wait_for("sleep").await;
        home.clock.pass();
    });
    assert_eq!(first.out, "hi\n");
    assert!(skipped(&first).is_some_and(|why| why.contains("calls run without the file")));
    assert!(soon(|| !home.path(".lock").exists()).await);
    // A session that began without the snapshot loads it, too.
    let spec = in_session(&home, "locked");
    let mut ran = run(&cache, &spec).await;
    for _ in 0..2000 {
        if ran.out.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            ran = run(&cache, &spec).await;
        }
    }
    assert_eq!(ran.out, "locked\n");
    let loaded = |notice: &agent_bash_core::Notice| notice.kind == NoticeKind::SnapshotLoaded;
    assert!(ran.outcome.notices.iter().any(loaded), "{ran:?}");
}

/// A call's own variables take precedence over those of the configuration.
#[tokio::test(flavor = "multi_thread")]
async fn variables_of_the_call_win() {
    let home = Home::with("variables");
    let warm = home.cache(2);
    run(&warm, &home.spec("true")).await;
    for cache in [&warm, &home.cache(0)] {
        let mut spec = home.spec("echo \"$MY_CMD\"; env | grep -c ^MY_CMD=own");
        spec.env.changes.insert("MY_CMD".into(), Some("own".into()));
        assert_eq!(run(cache, &spec).await.out, "own\n1\n");
    }
}

/// The notice about a command that is not found gives the reason, once.
#[tokio::test(flavor = "multi_thread")]
async fn missing_definition_is_explained_once() {
    let home = Home::with("variables");
    let cache = home.cache(0);
    let explained = async |script: &str| {
        let ran = run(&cache, &home.spec(script)).await;
        let notices = ran.outcome.notices.into_iter();
        let mut names = notices.filter_map(|notice| match notice.kind {
            NoticeKind::DefinitionMissing { name, .. } => Some(name),
            _ => None,
        });
        names.next()
    };
    assert_eq!(explained("no-such-command").await, None);
    assert_eq!(
        explained("true && uses_token").await.as_deref(),
        Some("uses_token")
    );
    assert_eq!(explained("uses_token").await, None);
}

/// A call that is cancelled while the configuration is read ends at once. The reading goes on: it
/// could be in the middle of changing the user's files.
#[tokio::test(flavor = "multi_thread")]
async fn capture_continues_when_its_call_is_cancelled() {
    let home = Home::with("sleeps");
    let cache = home.cache(0);
    let cancel = Cancel::new();
    let spec = home.spec("echo hi");
    let (ran, ()) = tokio::join!(run_with(&cache, &spec, &cancel), async {
        home.census.wait_for("sleep").await;
        cancel.cancel();
    });
    let ran = ran.unwrap();
    assert_eq!(ran.outcome.ending, agent_bash_core::ScriptEnding::Cancelled);
    assert_eq!(ran.out, "");
    assert!(!home.census.all().is_empty());
    home.census.assert_empty_soon("too long").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_caches_have_their_own_and_each_environment_too() {
    let home = Home::with("plain");
    home.write_rc("v() { echo $1; }; [ -n \"$MORE\" ] && w() { :; }");
    let (one, two) = (home.cache(1), home.cache(1));
    for cache in [&one, &two] {
        assert_eq!(run(cache, &home.spec("v 1")).await.out, "1\n");
    }
    assert_eq!(home.snapshots().len(), 2);
    let mut more = home.spec("declare -F w");
    let mut base = (*more.env.base).clone();
    base.insert("MORE".into(), "1".into());
    more.env.base = Arc::new(base);
    assert_eq!(run(&one, &more).await.out, "w\n");
    assert_eq!(run(&one, &home.spec("declare -F w")).await.out, "");
    assert_eq!(home.snapshots().len(), 3);
    drop(one);
    assert!(soon(|| home.snapshots().len() == 1).await);
    assert_eq!(run(&two, &home.spec("v 2")).await.out, "2\n");
}

/// If the directory of snapshots was cleaned, the configuration is captured again.
#[tokio::test(flavor = "multi_thread")]
async fn removed_snapshot_is_made_again() {
    let home = Home::with("plain");
    let cache = home.cache(0);
    assert_eq!(run(&cache, &home.spec("greet")).await.out, "hello you\n");
    std::fs::remove_dir_all(home.directory()).unwrap();
    let ran = run(&cache, &home.spec("greet")).await;
    assert_eq!((ran.out.as_str(), skipped(&ran)), ("hello you\n", None));
}

#[tokio::test(flavor = "multi_thread")]
async fn call_continues_with_a_notice_if_the_snapshot_cannot_be_stored() {
    let home = Home::with("plain");
    std::fs::write(home.path("file"), "").unwrap();
    let options = SnapshotOptions {
        directory: home.path("file"),
        ..home.options()
    };
    let cache = home.cache_with(options, 0);
    let ran = run(&cache, &home.spec("echo hi")).await;
    assert_eq!(ran.out, "hi\n");
    assert!(skipped(&ran).is_some_and(|why| why.contains("cannot write a file in")));
    for (rc, why) in [
        (home.path(""), "not a regular file"),
        (home.path("fifo"), "not a regular file"),
    ] {
        if rc.ends_with("fifo") {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &rc, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        }
        let options = SnapshotOptions {
            rc,
            ..home.options()
        };
        let ran = run(&home.cache_with(options, 0), &home.spec("echo hi")).await;
        assert_eq!(ran.out, "hi\n");
        assert!(
            skipped(&ran).is_some_and(|text| text.contains(why)),
            "{ran:?}"
        );
    }
}

/// The call's own variables take precedence over those of the configuration.
#[tokio::test(flavor = "multi_thread")]
async fn path_set_by_the_call_takes_precedence() {
    let home = Home::with("plain");
    let warm = home.cache(2);
    run(&warm, &home.spec("true")).await;
    for cache in [&warm, &home.cache(0)] {
        for path in [Some("/own"), None] {
            let mut spec = home.spec("echo \"${PATH-unset}\"");
            spec.env.changes.insert("PATH".into(), path.map(Into::into));
            let out = run(cache, &spec).await.out;
            assert!(!out.contains("/opt/mine"), "{out}");
            assert!(path.is_none_or(|path| out.trim_end() == path), "{out}");
        }
        let ran = run(
            cache,
            &home.spec("echo \"$PATH\"; env | grep -c ^PATH=/opt/mine:"),
        )
        .await;
        assert_eq!(ran.out, "/opt/mine:/usr/local/bin:/usr/bin:/bin\n1\n");
    }
}

fn in_session(home: &Home, script: &str) -> RunSpec {
    home.spec(script).session(SessionName("a".into()))
}

/// A session's shell loads the snapshot at its start, and keeps it when the configuration changes.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_load_it_once() {
    let home = Home::with("plain");
    let cache = home.cache(0);
    let say = async |script: &str| run(&cache, &in_session(&home, script)).await.out;
    assert_eq!(
        say("greet me; echo $PATH").await,
        "hello me\n/opt/mine:/usr/local/bin:/usr/bin:/bin\n"
    );
    assert_eq!(
        say("hi; shopt -q globstar && echo on; x=5").await,
        "hello there\non\n"
    );
    assert_eq!(
        say("compgen -v | grep ^__ab_; PATH=/usr/bin; shopt -u globstar").await,
        ""
    );
    home.write_rc("greet() { echo changed; }");
    assert_eq!(
        say("greet me; echo $x $PATH").await,
        "hello me\n5 /usr/bin\n"
    );
    assert_eq!(say("shopt -q globstar || echo off; exit").await, "off\n");
    assert_eq!(
        say("greet me; echo [$x] $PATH").await,
        "changed\n[] /usr/bin\n"
    );
    let bare = in_session(&home, "greet me 2>/dev/null || echo bare").snapshot(false);
    assert_eq!(run(&cache, &bare).await.out, "bare\n");
    drop(cache);
    assert_eq!(home.left_behind("sessions", 0).await, Vec::<String>::new());
}

/// Configurations that could break the wrapper around a session's scripts do not.
#[tokio::test(flavor = "multi_thread")]
async fn odd_configurations_do_not_break_sessions() {
    for (rc, script, want) in [
        ("shadows", "lsr; echo hi", "/\nhi\n"),
        ("keywords", "if true; then kept; fi", "kept\n"),
        ("odd_aliases", "cd /usr; cd /etc\n-; pwd", "/usr\n/usr\n"),
        ("strict", "before; after", "before\nafter\n"),
        ("globs", "gl; echo {a,b}", "globs\n{a,b}\n"),
        ("traps", "trapped; trap", "trapped\n"),
        ("odd_path", "odd", "odd\n"),
        ("tracing", "traced", "traced\n"),
        ("hangs", "echo hi", "hi\n"),
    ] {
        let home = Home::with(rc);
        if rc == "hangs" {
            home.clock.pass();
        }
        let cache = home.cache(0);
        let mut ran = Vec::new();
        for script in [script, "echo again", script] {
            ran.push(run(&cache, &in_session(&home, script)).await);
        }
        let outs: Vec<&str> = ran.iter().map(|ran| ran.out.as_str()).collect();
        if rc == "hangs" {
            assert!(skipped(&ran[0]).is_some(), "{ran:?}");
            assert!(skipped(&ran[1]).is_none(), "{ran:?}");
        }
        assert_eq!(outs, [want, "again\n", want], "{rc}: {ran:?}");
    }
}
