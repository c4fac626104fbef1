//! Only a session's shell reports how a script ended; reports forged by commands do not count.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{FinishedRun, cache_with, options, run_in, spec};
use agent_bash_core::{ScriptEnding, SessionName};
use agent_bash_exec::ShellCache;
use std::time::Duration;

/// Defines `forge`, which writes its second argument to every descriptor and file that could carry
/// a report. `$D` is the session's directory.
const FORGE: &str = r#"
    D=$(dirname "$(readlink /proc/$$/fd/1)")
    forge() {
        for fd in /proc/$1/fd/*; do
            fd=${fd##*/}
            [[ $fd -gt 2 ]] || continue
            printf "$2" >&$fd || [[ -p /proc/$1/fd/$fd ]] || printf "$2" >/proc/$1/fd/$fd
        done 2>/dev/null
        for name in status exports report; do
            [[ ! -p $D/$name ]] || printf "$2" >$D/$name
        done
    }
"#;

async fn say(cache: &ShellCache, script: &str, limit: Duration) -> FinishedRun {
    let name = SessionName("a".into());
    let spec = spec(script).session(name).timeout(Some(limit));
    run_in(cache, &spec).await
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_report_does_not_end_a_call() {
    let limit = Duration::from_secs(60);
    let forms = [
        r"/\\0.\\0000\\0",
        r"dn/\\0.\\0000\\0",
        r"n/\\0.\\0000\\0",
        r"\\0\\0/\\0000\\0\\0",
        r" 1000000000 \\0\\0/\\0000\\0 1000000000 \\0",
    ];
    for form in forms {
        for by in [
            format!("forge $$ '{form}'"),
            format!("(forge $BASHPID '{form}')"),
            format!("export -f forge; export D; bash -c 'forge $PPID \"$0\"' '{form}'"),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let cache = cache_with(|it| it.directory = directory.path().to_owned());
            let script = format!("{FORGE}\n{by}; sleep .2; echo out; (exit 7)");
            let ran = say(&cache, &script, limit).await;
            assert_eq!(ran.exit_code(), 7, "{by}: {ran:?}");
            assert!(ran.out.ends_with("out\n"), "{by}: {ran:?}");
            let next = say(&cache, "echo next; (exit 3)", limit).await;
            assert_eq!(next.exit_code(), 3, "{by}: {next:?}");
        }
    }
}

/// No command of a call can read the call's nonce.
#[tokio::test(flavor = "multi_thread")]
async fn command_cannot_see_the_nonce() {
    let cache = ShellCache::new(options());
    // The program that follows the script contains this text; the nonce precedes it.
    let script = r#"
        word='__ab'_n
        { declare -p; declare -f; alias; trap; history; cat /proc/$$/environ /proc/$$/cmdline
          for fd in /proc/$$/fd/*; do [[ -f $fd ]] && cat "$fd"; done
        } 2>/dev/null | tr '\0' '\n' | grep -v word= | grep -c "${word}=.* 1000000000"
    "#;
    let ran = say(&cache, script, Duration::from_secs(60)).await;
    assert_eq!(ran.out, "0\n", "{ran:?}");
}

/// A flood from the shell or its forks neither fills the host's memory nor delays time limit and
/// output.
#[tokio::test(flavor = "multi_thread")]
async fn flood_of_reports_is_bounded() {
    const SOCKETS: &str = r"
        for fd in /proc/$BASHPID/fd/*; do
            [[ $(readlink $fd) == socket:* && ${fd##*/} -gt 2 ]] && sockets+=(${fd##*/})
        done
        [[ ${#sockets[@]} -ge 2 ]] || exit 9
    ";
    let cache = ShellCache::new(options());
    let before = memory();
    let shell = format!(
        "{SOCKETS} for i in {{1..300}}; do printf '%0100000d' 0 >&${{sockets[0]}}; done; echo out; (exit 7)"
    );
    let fork = format!(
        "{SOCKETS} (while :; do printf '%010000d' 0 >&${{sockets[0]}}; done) & sleep 1; echo out; kill $!; (exit 7)"
    );
    for script in [shell, fork] {
        let ran = say(&cache, &script, Duration::from_secs(60)).await;
        let seen = (ran.out.as_str(), &ran.outcome.ending);
        assert_eq!(
            seen,
            ("out\n", &ScriptEnding::Exited { code: 7 }),
            "{script}"
        );
    }
    let endless = format!("{SOCKETS} while :; do printf '%010000d' 0 >&${{sockets[0]}}; done");
    let ran = say(&cache, &endless, Duration::from_secs(1)).await;
    assert!(
        matches!(ran.outcome.ending, ScriptEnding::TimedOut { .. }),
        "{ran:?}"
    );
    let grown = memory().saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} KB");
}

/// Peak memory of this process, in KB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
