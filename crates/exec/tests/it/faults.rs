//! Misbehaving commands, and calls that cannot start: each gets the right status, and the next call
//! works.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::census::Census;
use crate::support::driven_clock::{DrivenClock, LIMIT};
use crate::support::{Collect, SOON, cache, cache_with, marked, run, run_in, run_with, soon, spec};
use agent_bash_core::{
    Cancel, ConsumerFlow, Environment, Executor, OutputConsumer, RunSpec, ScriptEnding, Shell,
    StreamId, Streams, SurvivorPolicy,
};
use agent_bash_exec::ShellCache;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn exited(code: i32) -> ScriptEnding {
    ScriptEnding::Exited { code }
}

async fn collected(spec: &RunSpec, mut collect: Collect) -> (ScriptEnding, Collect, bool) {
    let outcome = cache()
        .run(spec, &mut collect, &Cancel::new())
        .await
        .unwrap();
    (outcome.ending, collect, outcome.closed_early)
}

/// Script, exit code, stdout, stderr.
const ODD_OUTPUT: &[(&str, i32, &[u8], &[u8])] = &[
    ("echo only >&2", 0, b"", b"only\n"),
    ("exec >&-; touch made; exit 3", 3, b"", b""),
    // EOF on the output is not the end of the command.
    ("exec >&- 2>&-; sleep 0.3; [ -d . ] && exit 4", 4, b"", b""),
    ("exec 0<&- 1>&- 2>&-; exit 5", 5, b"", b""),
    ("printf 'a\\0b\\0'", 0, b"a\0b\0", b""),
    ("printf '\\xff\\xfe\\xc3('", 0, b"\xff\xfe\xc3(", b""),
    ("printf '\\xe2\\x82' >&2; exit 1", 1, b"", b"\xe2\x82"),
    ("echo x 2>/dev/null >/dev/full; echo $?", 0, b"1\n", b""),
    ("rmdir \"$PWD\"; echo gone; exit 6", 6, b"gone\n", b""),
];

#[tokio::test(flavor = "multi_thread")]
async fn odd_output_arrives_as_it_is() {
    for (script, code, out, err) in ODD_OUTPUT {
        let dir = tempfile::tempdir().unwrap();
        // A subdirectory, so that the script may remove it.
        let cwd = dir.path().join("cwd");
        fs::create_dir(&cwd).unwrap();
        let spec = spec(script).cwd(cwd);
        let (ending, collect, _) = collected(&spec, Collect::default()).await;
        assert_eq!(ending, exited(*code), "{script}");
        assert_eq!((&*collect.out, &*collect.err), (*out, *err), "{script}");
    }
}

/// Script, and what it prints. Each exhausts a resource.
const EXHAUSTION: &[(&str, &str)] = &[
    (
        "ulimit -n 16; for i in {1..50}; do exec {fd}</dev/null || break; done 2>/dev/null; ((i < 20)) && echo full",
        "full\n",
    ),
    (
        "ulimit -n 3; echo still; ls >/dev/null 2>&1 || echo failed",
        "still\nfailed\n",
    ),
    ("ulimit -f 0; echo x > f; echo never", ""),
    (
        "ulimit -v 20000; x=$(head -c 100000000 /dev/zero | tr '\\0' x) 2>/dev/null; echo never",
        "",
    ),
    ("ulimit -t 1; while :; do :; done", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn call_that_exhausts_its_resources_does_not_affect_others() {
    for (script, out) in EXHAUSTION {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec(script).cwd(dir.path().to_path_buf());
        let ran = run(&spec).await;
        assert_eq!(ran.out, *out, "{script}: {}", ran.err);
        assert!(
            matches!(
                ran.outcome.ending,
                ScriptEnding::Exited { .. } | ScriptEnding::Signaled { .. }
            ),
            "{script}: {:?}",
            ran.outcome.ending
        );
    }
}

/// Forks until the system refuses. As another user, because limits do not apply to root; with `sh`,
/// because bash keeps retrying.
#[tokio::test(flavor = "multi_thread")]
async fn call_that_forks_to_the_limit_is_ended_whole() {
    let census = Census::new();
    let user = if rustix::process::geteuid().is_root() {
        "setpriv --reuid=65534 --clear-groups "
    } else {
        ""
    };
    let script = format!(
        "cd /; {user}sh -c 'ulimit -p 20; while :; do sleep 1000 > /dev/null 2>&1 & done' 2>&1 | grep -o 'Cannot fork' | head -1"
    );
    let spec = marked(&script, &census).survivors(SurvivorPolicy::Kill);
    let ran = run(&spec).await;
    assert_eq!(ran.out, "Cannot fork\n", "{}", ran.err);
    assert_eq!(census.commands(), []);
    census.assert_empty_soon("the limit").await;
}

/// A call that cannot start reports the reason, and has started no process.
#[tokio::test(flavor = "multi_thread")]
async fn missing_program_is_not_started() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let file = |name: &str, mode: u32, text: &str| {
        fs::write(path(name), text).unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        path(name)
    };
    let plain = file("plain", 0o600, "#!/bin/bash\nexec /bin/bash \"$@\"\n");
    let quits = file("quits", 0o700, "#!/bin/sh\nexit 0\n");
    let dies = file("dies", 0o700, "#!/bin/sh\nkill -9 $$\n");
    let lost_interpreter = file("lost", 0o700, "#!/nonexistent/interpreter\n");
    let good = Shell::bash("/bin/bash");
    // Directory, shell, and what the reason mentions.
    let cases = [
        (path("missing"), good.clone(), "missing"),
        (plain.clone(), good.clone(), "plain"),
        (
            path("a\nb'\"$(touch made)`touch made`"),
            good.clone(),
            "could not be entered",
        ),
        (path(""), Shell::bash(path("nosuch")), "nosuch"),
        (path(""), Shell::bash(dir.path()), "could not be started"),
        (path(""), Shell::bash(plain), "plain"),
        (path(""), Shell::bash(lost_interpreter), "lost"),
        (path(""), Shell::bash(quits), "the shell"),
        (path(""), Shell::bash(dies), "the shell"),
    ];
    for (cwd, shell, reason) in cases {
        let census = Census::new();
        let spec = marked(&format!("touch {}/made", dir.path().display()), &census)
            .cwd(cwd.clone())
            .shell(shell.clone());
        let context = format!("{} in {}", shell.path.display(), cwd.display());
        let not_started = run_with(&cache(), &spec, &Cancel::new()).await.err();
        let printed = not_started.expect(&context).to_string();
        assert!(printed.contains(reason), "{context}: {printed}");
        assert!(!path("made").exists(), "{context}");
        census.assert_empty_soon(&context).await;
    }
    // Negative control: the script does create the file when it runs.
    let spec = spec("touch made").cwd(path(""));
    run(&spec).await;
    assert!(path("made").exists());
}

fn supervised_by(program: &Path) -> ShellCache {
    cache_with(|it| it.supervisor = agent_bash_process::supervisor::Supervisor::at(program))
}

/// Checks only leftovers; `fallback.rs` shows that the calls run.
#[tokio::test(flavor = "multi_thread")]
async fn programs_that_are_no_supervisors_leave_nothing() {
    let census = Census::new();
    for program in ["/nonexistent/supervisor", "/bin/true", "/bin/false"] {
        let cache = supervised_by(Path::new(program));
        let ran = run_in(&cache, &marked("echo hi", &census)).await;
        assert_eq!(ran.out, "hi\n", "{program}");
        census.assert_empty_soon(program).await;
    }
}

/// Scripts too long for any argument list.
#[tokio::test(flavor = "multi_thread")]
async fn long_scripts_run() {
    let mut lines = String::new();
    for _ in 0..20_000 {
        writeln!(lines, "x=$((x+1)) # .").unwrap();
    }
    let cases = [
        (format!("{lines}echo $x $LINENO"), "20000 20001\n"),
        (
            format!("x='{}'; echo ${{#x}}", "é".repeat(2 << 20)),
            "2097152\n",
        ),
        (format!("{}echo end", "\n".repeat(4 << 20)), "end\n"),
    ];
    for (script, out) in cases {
        assert!(script.len() > 300_000);
        let ran = run(&spec(&script)).await;
        assert_eq!((&*ran.out, &*ran.err), (out, ""));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn script_is_not_in_any_arguments() {
    let ran = run(&spec(
        "for p in $$ $PPID; do tr '\\0' ' ' < /proc/$p/cmdline; done # xyzzy",
    ))
    .await;
    assert!(ran.out.contains("agent-bash-supervisor"), "{}", ran.out);
    assert!(!ran.out.contains("xyzzy"), "{}", ran.out);
}

/// Shells other than bash are started per call, with the same guarantees.
#[tokio::test(flavor = "multi_thread")]
async fn another_shell_runs_scripts_too() {
    let long = format!(
        "{}echo end",
        ": .............................\n".repeat(20_000)
    );
    let cases = [
        ("echo $0 $#; pwd", exited(0), "sh 0\n/tmp\n"),
        ("exit 3", exited(3), ""),
        ("cat; echo \"'\\\"$X\"", exited(0), "'\"set\n"),
        ("trap 'echo bye' EXIT; exit 4", exited(4), "bye\n"),
        (
            "kill -9 $$",
            ScriptEnding::Signaled {
                signal: "SIGKILL".to_owned(),
                number: 9,
            },
            "",
        ),
        ("echo one\necho two", exited(0), "one\ntwo\n"),
        (&long, exited(0), "end\n"),
    ];
    for (script, ending, out) in cases {
        let shell = Shell {
            path: PathBuf::from("/bin/sh"),
            is_bash: false,
            args: Vec::new(),
        };
        let changes = [("X".into(), Some("set".into()))].into();
        let spec = spec(script).shell(shell).env(Environment {
            changes,
            ..spec("").env
        });
        let ran = run(&spec).await;
        let short: String = script.chars().take(40).collect();
        assert_eq!(
            (ran.outcome.ending, &*ran.out),
            (ending, out),
            "{short}: {}",
            ran.err
        );
    }
}

/// Script, streams: each floods one of them.
const FLOODS: &[(&str, Streams)] = &[
    ("yes", Streams::Merged),
    ("yes", Streams::Split),
    ("yes >&2", Streams::Split),
    ("yes | cat", Streams::Merged),
    ("trap '' PIPE; yes", Streams::Merged),
    ("head -c 1000000000 /dev/zero", Streams::Merged),
    ("while :; do echo x; done", Streams::Merged),
];

/// Maximum output of a stream after its consumer asked to stop: 1 MiB, the chunk with which it
/// asked, and the chunk that exceeds the limit.
const AFTER_STOP: usize = (1 << 20) + 2 * 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn stopping_consumer_ends_a_flood() {
    const ENOUGH: usize = 100_000;
    for (script, streams) in FLOODS {
        let spec = spec(script).streams(*streams);
        let collect = Collect {
            stop_after: Some(ENOUGH),
            ..Collect::default()
        };
        let call = tokio::time::timeout(SOON, collected(&spec, collect));
        let (ending, collect, closed_early) = call.await.expect(script);
        assert!(matches!(
            ending,
            ScriptEnding::Exited { .. } | ScriptEnding::Signaled { .. }
        ));
        assert!(closed_early, "{script}");
        let most = collect.out.len().max(collect.err.len());
        assert!(
            (ENOUGH..=ENOUGH + AFTER_STOP).contains(&most),
            "{script}: {most}"
        );
    }
}

/// Negative control: a consumer that does not ask to stop gets all output.
#[tokio::test(flavor = "multi_thread")]
async fn continuing_consumer_receives_all_output() {
    const ALL: usize = 5_000_000;
    let script = format!("yes | head -c {ALL}");
    for streams in [Streams::Merged, Streams::Split] {
        let spec = spec(&script).streams(streams);
        let (ending, collect, closed_early) = collected(&spec, Collect::default()).await;
        assert_eq!((ending, closed_early), (exited(0), false));
        assert_eq!(collect.out, b"y\n".repeat(ALL / 2));
    }
}

/// Blocks its thread for a while on every chunk.
struct Slow(Arc<AtomicUsize>);

impl OutputConsumer for Slow {
    #[expect(clippy::disallowed_methods, reason = "this is the slowness")]
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        std::thread::sleep(Duration::from_millis(50));
        self.0.fetch_add(bytes.len(), Ordering::SeqCst);
        ConsumerFlow::Continue
    }
}

/// Writes 4 KiB blocks for ever and counts them.
const COUNTING_WRITER: &str =
    "x=$(printf '%04095d' 0); n=0; while :; do echo $x; echo $((++n)) > n; done";

const BLOCK: usize = 4096;

/// More than the capacity of pipe and buffer, 64 KiB each, plus the block being written.
const UNREAD: usize = 2 * 64 * 1024 + 4 * BLOCK;

fn written(dir: &Path) -> usize {
    let text = fs::read_to_string(dir.join("n")).unwrap_or_default();
    text.trim().parse().unwrap_or(0) * BLOCK
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_consumer_slows_the_producer_and_no_timer() {
    let census = Census::new();
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(DrivenClock::new());
    let cache = cache_with(|it| it.clock = clock.clone());
    let spec = marked(COUNTING_WRITER, &census)
        .cwd(dir.path().to_path_buf())
        .timeout(LIMIT)
        .streams(Streams::Merged);
    let taken = Arc::new(AtomicUsize::new(0));
    let mut consumer = Slow(taken.clone());
    let call = tokio::spawn(async move { cache.run(&spec, &mut consumer, &Cancel::new()).await });
    // Several times the capacity, so it had to wait repeatedly.
    assert!(soon(|| written(dir.path()) > 4 * UNREAD).await);
    clock.pass();
    let outcome = tokio::time::timeout(SOON, call).await.unwrap().unwrap();
    assert_eq!(
        outcome.unwrap().ending,
        ScriptEnding::TimedOut { after: LIMIT }
    );
    assert_eq!(census.commands(), []);
    assert!(written(dir.path()) <= taken.load(Ordering::SeqCst) + UNREAD);
}

/// Negative control: the same producer is fast with a fast consumer.
#[tokio::test(flavor = "multi_thread")]
async fn fast_consumer_does_not_slow_the_producer() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(COUNTING_WRITER).cwd(dir.path().to_path_buf());
    let cancel = Cancel::new();
    let call = tokio::spawn({
        let cancel = cancel.clone();
        async move { run_with(&cache(), &spec, &cancel).await }
    });
    assert!(soon(|| written(dir.path()) > 40 * UNREAD).await);
    cancel.cancel();
    call.await.unwrap().unwrap();
}

/// 64 concurrent calls, cold and warm: each has its own directory, environment, output and state.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_do_not_interfere() {
    const CALLS: usize = 64;
    for warm_shells in [0, 4] {
        let cache = Arc::new(cache_with(|it| it.warm_shells = warm_shells));
        let dir = tempfile::tempdir().unwrap();
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..CALLS {
            let cwd = dir.path().join(number.to_string());
            fs::create_dir(&cwd).unwrap();
            let cache = cache.clone();
            calls.spawn(async move {
                let script = "echo [$state] $N ${PWD##*/}; state=$N; echo $N > file; \
                              for i in {1..200}; do echo $N; echo $N >&2; done; exit $N";
                let changes = [("N".into(), Some(number.to_string().into()))].into();
                let spec = spec(script).cwd(cwd).env(Environment {
                    changes,
                    ..spec("").env
                });
                let ran = run_in(&cache, &spec).await;
                let lines = format!("{number}\n").repeat(200);
                assert_eq!(ran.outcome.ending, exited(i32::try_from(number).unwrap()));
                assert_eq!(ran.out, format!("[] {number} {number}\n{lines}"));
                assert_eq!(ran.err, lines);
            });
        }
        calls.join_all().await;
        for number in 0..CALLS {
            let file = fs::read_to_string(dir.path().join(number.to_string()).join("file"));
            assert_eq!(file.unwrap(), format!("{number}\n"));
        }
    }
}
