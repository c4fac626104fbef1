//! Commands on a terminal in a box: everything is as without one, except what the box forbids. What a box holds against
//! is tested where it is made.

use crate::support::{attend, is_installed, options, run, spec};
use agent_bash_core::sandbox::Tier;
use agent_bash_core::{Ending, Executor, NotStarted};
use agent_bash_process::supervisor::Supervisor;
use agent_bash_pty::{Key, PtyExecutor, PtyOptions, PtySize, WaitingFor};
use agent_bash_test_kit::test_workspace::{TIERS, TestWorkspace};

#[tokio::test(flavor = "multi_thread")]
async fn a_script_finds_its_terminal() {
    let place = TestWorkspace::new();
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
            // Its name leads to it.
            ("echo named >\"$(tty)\"", "named\r\n"),
            (
                "test \"$(readlink /proc/self/fd/0)\" = \"$(tty)\" && echo same",
                "same\r\n",
            ),
            ("stty -F \"$(tty)\" rows 7; stty size", "7 120\r\n"),
        ] {
            let ran = run(&place.in_sandbox(spec(script), tier)).await.unwrap();
            assert_eq!(ran.out, wanted, "{tier:?}: {script}");
            assert_eq!(ran.outcome.ending, Ending::Exited { code: 0 }, "{script}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_confined_and_says_so() {
    let place = TestWorkspace::new();
    for tier in TIERS {
        let name = format!("{tier:?}");
        let unboxed = spec(&place.writes(&name)).cwd(place.workspace.clone());
        let ran = run(&place.in_sandbox(unboxed.clone(), tier)).await.unwrap();
        assert_eq!(place.written(&name), (true, false), "{ran:?}");
        let confined = ran.outcome.sandbox.unwrap();
        assert_eq!(confined.report.tier, tier);
        let ran = run(&unboxed).await.unwrap();
        assert_eq!(place.written(&name), (true, true), "{ran:?}");
        assert_eq!(ran.outcome.sandbox, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_sizes_reach_what_runs() {
    let place = TestWorkspace::new();
    for tier in TIERS {
        let script = "trap 'stty size' WINCH; trap 'echo caught; exit 9' INT; echo ready; while true; do read -r line; done";
        let attended = attend(&place.in_sandbox(spec(script), tier)).await;
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
        assert_eq!(attended.outcome().await.ending, Ending::Exited { code: 9 });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_stopped_and_continued() {
    let place = TestWorkspace::new();
    for tier in TIERS {
        let attended = attend(&place.in_sandbox(spec("PS1='> ' bash --norc -i"), tier)).await;
        attended.shows(">").await;
        // What is typed before the program has the terminal is not a line to it.
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
        assert_eq!(attended.outcome().await.ending, Ending::Exited { code: 3 });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_draw_and_are_waited_for() {
    let place = TestWorkspace::new();
    for tier in TIERS {
        if is_installed("less") {
            let script = "seq 1 500 | less; echo after";
            let attended = attend(&place.in_sandbox(spec(script), tier)).await;
            attended.shows("39\n:").await;
            attended
                .until("less waits for keys", |_, status| {
                    status.waiting == Some(WaitingFor::FullScreen)
                })
                .await;
            attended.types("q");
            assert_eq!(attended.outcome().await.ending, Ending::Exited { code: 0 });
        }
        if is_installed("vim") {
            let script = format!("vim -u NONE {tier:?}; cat {tier:?}");
            let attended = attend(&place.in_sandbox(spec(&script), tier)).await;
            attended.shows("[New").await;
            attended.types("itwo words");
            attended.presses(Key::Escape);
            attended.shows("two words").await;
            attended.control('z');
            attended.enters(":wq");
            assert_eq!(attended.outcome().await.ending, Ending::Exited { code: 0 });
            let out = attended.collect.text();
            assert!(out.ends_with("two words\r\n"), "{out:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_on_the_terminal_is_seen_to_hold_it() {
    let place = TestWorkspace::new();
    for tier in TIERS {
        for (script, holds) in [
            ("sleep 3 & echo early", true),
            ("sleep 3 </dev/null >/dev/null 2>&1 & echo early", false),
            (
                "name=$(tty); sleep 3 </dev/null >\"$name\" 2>/dev/null & echo early",
                true,
            ),
        ] {
            let ran = run(&place.in_sandbox(spec(script), tier)).await.unwrap();
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
async fn other_terminals_are_out_of_reach() {
    let place = TestWorkspace::new();
    let other = attend(&spec("tty; read -r line")).await;
    other.shows("/dev/pts/").await;
    let path = other.session.text().join("");
    let typed = "perl -e '$c = \"x\"; ioctl(STDIN, 0x5412, $c) or print 0 + $!, \"\\n\"'";
    for tier in TIERS {
        let script = format!("echo reached >{path}; {typed}");
        let ran = run(&place.in_sandbox(spec(&script), tier)).await.unwrap();
        let last = ran.out.lines().last();
        assert_eq!(last, Some("1"), "typing is not permitted: {ran:?}");
    }
    assert_eq!(other.session.text(), [path.as_str()]);
    // Without a box it is reached.
    run(&spec(&format!("echo reached >{path}"))).await.unwrap();
    other.shows("reached").await;
    other.presses(Key::Enter);
    other.outcome().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn terminals_within_it_are_its_own() {
    if !is_installed("script") {
        return;
    }
    let place = TestWorkspace::new();
    let script = "script -qc 'tty; echo inner >/dev/tty' typescript; tty";
    let ran = run(&place.in_sandbox(spec(script), Tier::Full))
        .await
        .unwrap();
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[..2], ["/dev/pts/0", "inner"], "{ran:?}");
    assert_ne!(lines[2], lines[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_to_reach_a_network_are_counted() {
    let place = TestWorkspace::new();
    let script = "read -r line; for i in 1 2 3; do echo >/dev/tcp/192.0.2.$i/80; done";
    let attended = attend(&place.in_sandbox(spec(script), Tier::Full)).await;
    attended.presses(Key::Enter);
    let confined = attended.outcome().await.sandbox.unwrap();
    assert_eq!(confined.network_refused, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_enforced_is_known_before() {
    let found = PtyExecutor::new(options()).confines().await.unwrap();
    let place = TestWorkspace::new();
    let ran = run(&place.in_sandbox(spec("true"), found.tier))
        .await
        .unwrap();
    let observed = ran.outcome.sandbox.map(|confined| confined.report);
    assert_eq!(observed, Some(found));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_box_nothing_runs() {
    let place = TestWorkspace::new();
    let boxed = place.in_sandbox(spec("echo ran >ran"), Tier::Base);
    // What is writable cannot be hidden.
    let mut contrary = boxed.clone();
    if let Some(plan) = &boxed.sandbox {
        let mut plan = (**plan).clone();
        plan.hidden = vec![place.workspace.clone()];
        contrary = boxed.clone().sandbox(std::sync::Arc::new(plan));
    }
    let error = run(&contrary).await.unwrap_err();
    assert!(matches!(error, NotStarted::Sandbox { .. }), "{error:?}");
    // Without a supervisor there is none.
    let alone = PtyExecutor::new(PtyOptions {
        supervisor: Supervisor::fallback(),
        ..options()
    });
    assert!(matches!(
        alone.confines().await,
        Err(NotStarted::Sandbox { .. } | NotStarted::SandboxLacks { .. })
    ));
    assert_eq!(place.written("ran"), (false, false));
}
