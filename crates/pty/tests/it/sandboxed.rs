//! Commands on a terminal in a sandbox behave as without one, except for accesses that the sandbox
//! denies. The sandbox itself is tested in its own crate.

use crate::support::{attend, is_installed, options, run, spec};
use agent_bash_core::sandbox::Tier;
use agent_bash_core::{Executor, NotStarted, ScriptEnding};
use agent_bash_process::supervisor::Supervisor;
use agent_bash_pty::{Key, PtyExecutor, PtyOptions, PtySize, WaitingFor};
use agent_bash_test_kit::test_workspace::{TIERS, TestWorkspace};
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn script_finds_its_terminal() {
    let workspace = TestWorkspace::new();
    for tier in TIERS {
        for (script, wanted) in [
            ("stty size", "40 120\r\n"),
            ("[[ -t 0 && -t 1 && -t 2 ]] && echo all", "all\r\n"),
            ("echo error >&2", "error\r\n"),
            ("echo tty >/dev/tty", "tty\r\n"),
            ("echo by name >/dev/stderr", "by name\r\n"),
            (
                "stty -echo </dev/tty; stty -a | grep -o -- '-echo '",
                "-echo \r\n",
            ),
            ("ps -o stat= -p $$ | grep -o + ", "+\r\n"),
            ("ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 "),
            // The terminal's name refers to it.
            ("echo named >\"$(tty)\"", "named\r\n"),
            (
                "test \"$(readlink /proc/self/fd/0)\" = \"$(tty)\" && echo same",
                "same\r\n",
            ),
            ("stty -F \"$(tty)\" rows 7; stty size", "7 120\r\n"),
        ] {
            let ran = run(&workspace.in_sandbox(spec(script), tier))
                .await
                .unwrap();
            assert_eq!(ran.out, wanted, "{tier:?}: {script}");
            assert_eq!(
                ran.outcome.ending,
                ScriptEnding::Exited { code: 0 },
                "{script}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn call_is_sandboxed_and_reports_so() {
    let workspace = TestWorkspace::new();
    for tier in TIERS {
        let name = format!("{tier:?}");
        let unsandboxed = spec(&workspace.writes(&name)).cwd(workspace.workspace.clone());
        let ran = run(&workspace.in_sandbox(unsandboxed.clone(), tier))
            .await
            .unwrap();
        assert_eq!(workspace.written(&name), (true, false), "{ran:?}");
        let confined = ran.outcome.sandbox.unwrap();
        assert_eq!(confined.report.tier, tier);
        let ran = run(&unsandboxed).await.unwrap();
        assert_eq!(workspace.written(&name), (true, true), "{ran:?}");
        assert_eq!(ran.outcome.sandbox, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_sizes_reach_the_program() {
    let workspace = TestWorkspace::new();
    for tier in TIERS {
        let script = "trap 'stty size' WINCH; trap 'echo caught; exit 9' INT; echo ready; while true; do read -r line; done";
        let attended = attend(&workspace.in_sandbox(spec(script), tier)).await;
        attended.shows("ready").await;
        attended.session.resize(PtySize::clamped(77, 11));
        attended.enters("x");
        attended.shows("11 77").await;
        attended
            .until("it waits for a line", |_, status| {
                status.waiting == Some(WaitingFor::Line)
            })
            .await;
        attended.control('c');
        assert_eq!(
            attended.outcome().await.ending,
            ScriptEnding::Exited { code: 9 }
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_stopped_and_continued() {
    let workspace = TestWorkspace::new();
    for tier in TIERS {
        let attended = attend(&workspace.in_sandbox(spec("PS1='> ' bash --norc -i"), tier)).await;
        attended.shows(">").await;
        // Input typed before the program has the terminal is not a line to it.
        attended.enters("echo 'it' 'runs'; cat");
        attended.shows("\nit runs").await;
        attended.enters("echoed");
        attended.shows("echoed\nechoed").await;
        attended.control('z');
        attended.shows("Stopped").await;
        attended.enters("fg");
        attended.shows("fg\ncat").await;
        attended.enters("again");
        attended.shows("again\nagain").await;
        attended.control('c');
        attended.shows("^C\n>").await;
        attended.enters("exit 3");
        assert_eq!(
            attended.outcome().await.ending,
            ScriptEnding::Exited { code: 3 }
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_draw_and_waiting_is_detected() {
    let workspace = TestWorkspace::new();
    for tier in TIERS {
        if is_installed("less") {
            let script = "seq 1 500 | less; echo after";
            let attended = attend(&workspace.in_sandbox(spec(script), tier)).await;
            attended.shows("39\n:").await;
            attended
                .until("less waits for keys", |_, status| {
                    status.waiting == Some(WaitingFor::FullScreen)
                })
                .await;
            attended.types("q");
            assert_eq!(
                attended.outcome().await.ending,
                ScriptEnding::Exited { code: 0 }
            );
        }
        if is_installed("vim") {
            let script = format!("vim -u NONE {tier:?}; cat {tier:?}");
            let attended = attend(&workspace.in_sandbox(spec(&script), tier)).await;
            attended.shows("[New").await;
            attended.types("itwo words");
            attended.presses(Key::Escape);
            attended.shows("two words").await;
            attended.control('z');
            attended.enters(":wq");
            assert_eq!(
                attended.outcome().await.ending,
                ScriptEnding::Exited { code: 0 }
            );
            let out = attended.collect.text();
            assert!(out.ends_with("two words\r\n"), "{out:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn survivor_is_known_to_hold_the_terminal() {
    for tier in TIERS {
        for (redirections, holds) in [
            ("", true),
            ("</dev/null >/dev/null 2>&1", false),
            ("</dev/null >\"$name\" 2>/dev/null", true),
        ] {
            // The process ends with the file, at the latest when the workspace is dropped.
            let workspace = TestWorkspace::new();
            fs::write(workspace.workspace.join("stay"), "").unwrap();
            let script = format!(
                "name=$(tty); (: >ready; while [[ -e stay ]]; do :; done) {redirections} & \
                 until [[ -e ready ]]; do :; done; echo early"
            );
            let ran = run(&workspace.in_sandbox(spec(&script), tier))
                .await
                .unwrap();
            let left: Vec<bool> = ran
                .outcome
                .survivors
                .iter()
                .map(|survivor| survivor.holds_output)
                .collect();
            assert_eq!(left, [holds], "{tier:?}: {script}: {ran:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_terminals_are_not_accessible() {
    let workspace = TestWorkspace::new();
    let other = attend(&spec("tty; read -r line")).await;
    other.shows("/dev/pts/").await;
    let path = other.session.text().join("");
    let typed = "perl -e '$c = \"x\"; ioctl(STDIN, 0x5412, $c) or print 0 + $!, \"\\n\"'";
    for tier in TIERS {
        let script = format!("echo reached >{path}; {typed}");
        let ran = run(&workspace.in_sandbox(spec(&script), tier))
            .await
            .unwrap();
        let last = ran.out.lines().last();
        assert_eq!(last, Some("1"), "typing is not permitted: {ran:?}");
    }
    assert_eq!(other.session.text(), [path.as_str()]);
    // Without a sandbox, the terminal is accessible.
    run(&spec(&format!("echo reached >{path}"))).await.unwrap();
    other.shows("reached").await;
    other.presses(Key::Enter);
    other.outcome().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn terminals_opened_within_the_sandbox_are_its_own() {
    if !is_installed("script") {
        return;
    }
    let workspace = TestWorkspace::new();
    let script = "script -qc 'tty; echo inner >/dev/tty' typescript; tty";
    let ran = run(&workspace.in_sandbox(spec(script), Tier::Full))
        .await
        .unwrap();
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[..2], ["/dev/pts/0", "inner"], "{ran:?}");
    assert_ne!(lines[2], lines[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_network_connections_are_counted() {
    let workspace = TestWorkspace::new();
    let script = "read -r line; for i in 1 2 3; do echo >/dev/tcp/192.0.2.$i/80; done";
    let attended = attend(&workspace.in_sandbox(spec(script), Tier::Full)).await;
    attended.presses(Key::Enter);
    let confined = attended.outcome().await.sandbox.unwrap();
    assert_eq!(confined.network_refused, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn enforced_restrictions_are_known_before_the_start() {
    let found = PtyExecutor::new(options()).sandbox_report().await.unwrap();
    let workspace = TestWorkspace::new();
    let ran = run(&workspace.in_sandbox(spec("true"), found.tier))
        .await
        .unwrap();
    let observed = ran.outcome.sandbox.map(|confined| confined.report);
    assert_eq!(observed, Some(found));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_if_the_sandbox_fails() {
    let workspace = TestWorkspace::new();
    let sandboxed = workspace.in_sandbox(spec("echo ran >ran"), Tier::Base);
    // A writable directory cannot be hidden.
    let mut contrary = sandboxed.clone();
    if let Some(plan) = &sandboxed.sandbox {
        let mut plan = (**plan).clone();
        plan.hidden = vec![workspace.workspace.clone()].into();
        contrary = sandboxed.clone().sandbox(std::sync::Arc::new(plan));
    }
    let error = run(&contrary).await.unwrap_err();
    assert!(matches!(error, NotStarted::Sandbox { .. }), "{error:?}");
    // Without a supervisor there is no sandbox.
    let alone = PtyExecutor::new(PtyOptions {
        supervisor: Supervisor::fallback(),
        ..options()
    });
    assert!(matches!(
        alone.sandbox_report().await,
        Err(NotStarted::Sandbox { .. } | NotStarted::SandboxLacks { .. })
    ));
    assert_eq!(workspace.written("ran"), (false, false));
}
