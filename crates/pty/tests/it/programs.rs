//! Real programs on real terminals: the environment they find, their screen, and their output for
//! readers.

use crate::support::{attend, bash_of_version, is_installed, run, spec};
use agent_bash_core::ScriptEnding;
use agent_bash_pty::{Key, PtySize, WaitingFor};

#[tokio::test(flavor = "multi_thread")]
async fn script_finds_a_terminal() {
    for (script, wanted) in [
        ("echo hi", "hi\r\n"),
        ("stty size", "40 120\r\n"),
        ("tput cols; tput lines", "120\r\n40\r\n"),
        ("[[ -t 0 && -t 1 && -t 2 ]] && echo all", "all\r\n"),
        ("echo error >&2", "error\r\n"),
        ("echo tty >/dev/tty", "tty\r\n"),
        ("pwd; echo ${COLUMNS-none}", "/tmp\r\nnone\r\n"),
        ("ps -o stat= -p $$ | grep -o + ", "+\r\n"),
        ("ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 "),
        ("compgen -v __ab; echo \"<$-> $0 $#\"", "<hBc> bash 0\r\n"),
        ("printf '%s' \"$BASH_EXECUTION_STRING\" | wc -c", "44\r\n"),
    ] {
        let ran = run(&spec(script)).await.unwrap();
        assert_eq!(ran.out, wanted, "{script}");
        assert_eq!(
            ran.outcome.ending,
            ScriptEnding::Exited { code: 0 },
            "{script}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_are_the_shells_own() {
    for (script, wanted) in [
        ("exit 3", ScriptEnding::Exited { code: 3 }),
        ("false", ScriptEnding::Exited { code: 1 }),
        ("nonsense-command", ScriptEnding::Exited { code: 127 }),
        (
            "kill -KILL $$",
            ScriptEnding::Signaled {
                signal: "SIGKILL".into(),
                number: 9,
            },
        ),
    ] {
        assert_eq!(
            run(&spec(script)).await.unwrap().outcome.ending,
            wanted,
            "{script}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_shells_work_too() {
    let mut spec = spec("stty size; echo $0; pwd");
    spec.shell.path = "/bin/sh".into();
    spec.shell.is_bash = false;
    assert_eq!(run(&spec).await.unwrap().out, "40 120\r\nsh\r\n/tmp\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_start_says_why() {
    let mut nowhere = spec("echo ran");
    nowhere.cwd = "/nonexistent/here".into();
    let error = run(&nowhere).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/nonexistent/here` could not be entered"
    );
    let mut shell = spec("echo ran");
    shell.shell.path = "/nonexistent/bash".into();
    let error = run(&shell).await.unwrap_err().to_string();
    assert!(
        error.starts_with("PTY error: ") && error.contains("/nonexistent/bash"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn new_size_reaches_program_and_screen() {
    let attended = attend(&spec(
        "trap 'stty size' WINCH; echo ready; while read -r line; do [[ $line == end ]] && break; done",
    ))
    .await;
    attended.shows("ready").await;
    attended.session.resize(PtySize::clamped(77, 11));
    attended.enters("x");
    attended.shows("11 77").await;
    let screen = attended.session.screen();
    assert_eq!((screen.cols, screen.rows), (77, 11));
    attended.enters("end");
    assert_eq!(
        attended.outcome().await.ending,
        ScriptEnding::Exited { code: 0 }
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn less_pages_and_leaves_no_screen_behind() {
    if !is_installed("less") {
        return;
    }
    let attended = attend(&spec("echo before; seq 1 500 | less; echo after")).await;
    attended.shows("39\n:").await;
    assert!(attended.session.screen().modes.alternate_screen);
    attended.types(" ");
    attended.shows("\n78\n:").await;
    attended.types("q");
    assert_eq!(
        attended.outcome().await.ending,
        ScriptEnding::Exited { code: 0 }
    );
    let out = attended.collect.text();
    let lines: Vec<&str> = out.lines().collect();
    let [before, program, after] = &lines[..] else {
        panic!("{out:?}");
    };
    assert!(*before == "before" && after.ends_with("after"), "{out:?}");
    assert!(
        program.starts_with("[full-screen program, ") && program.ends_with(" s]"),
        "{out:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn vim_edits_a_file() {
    if !is_installed("vim") {
        return;
    }
    let file = format!("/tmp/agent-bash-pty-{}.txt", std::process::id());
    let attended = attend(&spec(&format!("vim -u NONE {file}; cat {file}; rm {file}"))).await;
    attended
        .until("vim has the screen", |attended, status| {
            status.waiting == Some(WaitingFor::FullScreen)
                && attended.session.text().join("\n").contains("[New")
        })
        .await;
    attended.types("i");
    attended.enters("two words");
    attended.types("and more");
    attended.presses(Key::Escape);
    attended.shows("two words\nand more").await;
    // No shell could continue a stopped editor, so the supervisor continues it at once.
    attended.control('z');
    attended.enters(":wq");
    assert_eq!(
        attended.outcome().await.ending,
        ScriptEnding::Exited { code: 0 }
    );
    let out = attended.collect.text();
    assert!(out.ends_with("two words\r\nand more\r\n"), "{out:?}");
}

/// A program that suspends itself stops its group, and itself last: in this test so late that the
/// group has already been continued.
#[tokio::test(flavor = "multi_thread")]
async fn process_stopped_after_its_group_was_continued_is_continued() {
    let late = "(kill -TSTP $$; sleep 0.02; kill -TSTP $BASHPID; echo went on); echo after";
    let ran = run(&spec(late)).await.unwrap();
    assert_eq!(ran.outcome.ending, ScriptEnding::Exited { code: 0 });
    assert_eq!(ran.out, "went on\r\nafter\r\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn top_shows_processes() {
    if !is_installed("top") {
        return;
    }
    let ran = run(&spec("top -n1")).await.unwrap();
    assert!(ran.out.contains("PID"), "{}", ran.out);
    assert_eq!(ran.outcome.ending, ScriptEnding::Exited { code: 0 });
}

#[tokio::test(flavor = "multi_thread")]
async fn python_answers_and_ends_on_control_d() {
    if !is_installed("python3") {
        return;
    }
    let attended = attend(&spec("python3 -q")).await;
    attended.shows(">>>").await;
    attended.enters("print(6 * 7)");
    attended.shows("\n42\n>>>").await;
    attended.control('d');
    assert_eq!(
        attended.outcome().await.ending,
        ScriptEnding::Exited { code: 0 }
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn control_c_interrupts_a_flood() {
    let attended = attend(&spec("trap 'echo caught; exit 9' INT; yes")).await;
    attended.shows("y\ny").await;
    attended.control('c');
    assert_eq!(
        attended.outcome().await.ending,
        ScriptEnding::Exited { code: 9 }
    );
}

/// Sends a query, and prints the reply with its control characters visible.
fn ask(question: &str, last: char) -> String {
    format!(
        "stty raw -echo; printf '{question}'; answer=; \
         while IFS= read -rsN1 -t 60 c; do answer+=$c; [[ $c == '{last}' ]] && break; done; \
         stty sane; printf '%q' \"$answer\""
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_are_answered() {
    for (question, wanted) in [
        ("\\033[c", "$'\\E[?62;22c'"),
        ("\\033[>c", "$'\\E[>0;0;0c'"),
        ("\\033[5n", "$'\\E[0n'"),
        ("\\033[3;7H\\033[6n", "$'\\E[3;7R'"),
        ("\\033[18t", "$'\\E[8;40;120t'"),
        ("\\033[?u", "$'\\E[?0u'"),
        ("\\033[>5u\\033[?u", "$'\\E[?5u'"),
        ("\\033]10;?\\007", "$'\\E]10;rgb:d0d0/d0d0/d0d0\\E\\\\'"),
        ("\\033]11;?\\033\\\\", "$'\\E]11;rgb:0000/0000/0000\\E\\\\'"),
        (
            "\\033[>q",
            concat!(
                "$'\\EP>|agent-bash(",
                env!("CARGO_PKG_VERSION"),
                ")\\E\\\\'"
            ),
        ),
        ("\\033[?2004h\\033[?2004$p", "$'\\E[?2004;1$y'"),
    ] {
        let last = wanted.trim_end_matches('\'').chars().last().unwrap();
        let out = run(&spec(&ask(question, last))).await.unwrap().out;
        assert!(out.ends_with(wanted), "{question}: {out:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn program_that_queries_without_reading_does_not_stop_the_session() {
    let script =
        "stty raw -echo; for i in {1..20000}; do printf '\\033[6n'; done; stty sane; echo done";
    let ran = run(&spec(script)).await.unwrap();
    assert!(
        ran.out.contains("done"),
        "{:?}",
        &ran.out[ran.out.len().saturating_sub(100)..]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn program_that_never_reads_blocks_no_other() {
    let attended = attend(&spec("stty raw -echo; echo ready; sleep 1000")).await;
    attended.shows("ready").await;
    for _ in 0..200 {
        attended.session.send_bytes(&[b'x'; 4096]).unwrap();
    }
    assert!(attended.session.send_bytes(&vec![b'x'; 1 << 20]).is_err());
    attended.session.kill();
    assert_eq!(attended.outcome().await.ending, ScriptEnding::Cancelled);
    assert!(attended.session.status().ended.unwrap().killed);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_old_bash_is_named() {
    for version in ["3.2.57(1)-release", "4.3.48(1)-release"] {
        let directory = tempfile::tempdir().unwrap();
        let mut spec = spec("echo hi");
        spec.shell.path = bash_of_version(directory.path(), version);
        let path = spec.shell.path.display();
        let wanted = format!(
            "bash 4.4 or later is needed, and `{path}` is {version}; name another as the shell"
        );
        assert_eq!(run(&spec).await.unwrap_err().to_string(), wanted);
    }
}

/// The special handling of old versions works with any version.
#[tokio::test(flavor = "multi_thread")]
async fn old_bash_runs_scripts() {
    let directory = tempfile::tempdir().unwrap();
    for version in ["4.4.20(1)-release", "5.0.18(1)-release"] {
        let shell = bash_of_version(directory.path(), version);
        for number in 10..=12 {
            let file = directory.path().join("file");
            let file = file.display();
            let mut spec = spec(&format!(
                "exec {number}>{file}; echo hi >&{number}; cat {file}; compgen -v __ab; ls /proc/self/fd | tr '\\n' ' '"
            ));
            spec.shell.path.clone_from(&shell);
            let ran = run(&spec).await.unwrap();
            assert_eq!(ran.out, format!("hi\r\n0 1 {number} 2 3 "), "{version}");
        }
    }
}
