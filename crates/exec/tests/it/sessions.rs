//! Persistent shells: what persists, what is undone, what survives their end.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{self, FinishedRun, run_in, run_with, soon, spec};
use agent_bash_core::{Cancel, RunSpec, ScriptEnding, SessionName, Streams};
use agent_bash_exec::ShellCache;
use std::sync::Arc;
use std::time::Duration;

fn named(name: &str, script: &str) -> RunSpec {
    spec(script).session(SessionName(name.into()))
}

async fn say(cache: &ShellCache, script: &str) -> FinishedRun {
    run_in(cache, &named("a", script)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_functions_directory_and_options_persist() {
    let cache = support::cache();
    for (script, out, want) in [
        (
            "x=5; f() { echo f$1; }; cd /usr; export E=1; set -f; echo $PWD",
            "/usr\n",
            0,
        ),
        (
            "echo $x $PWD *; f 2; env | grep ^E=",
            "5 /usr *\nf2\nE=1\n",
            0,
        ),
        ("false", "", 1),
        ("(exit 7)", "", 7),
        ("exec >/dev/null; echo lost", "", 0),
        ("echo found; exec 3>&1", "found\n", 0),
        ("x=$((x + 1)); echo $x; break; continue", "6\n", 0),
        ("cat; read y; echo $?", "1\n", 0),
        ("echo $LINENO\necho $LINENO", "1\n2\n", 0),
        ("shopt -s expand_aliases; alias hi='echo hello'", "", 0),
        ("hi", "hello\n", 0),
        (
            "printf() { echo no; }; builtin_test=1; eval() { :; }",
            "",
            0,
        ),
        ("echo \"it's 'quoted'\" \"$x\"", "it's 'quoted' 6\n", 0),
        ("unset -f printf eval; PATH=; echo still", "still\n", 0),
        // A function with this name only exists during its call; otherwise our wrapper would fail.
        ("builtin() { :; }; unset() { :; }; false", "", 1),
        ("builtin echo by its name; x=", "by its name\n", 0),
        ("IFS=, ; set -u; readonly r=1", "", 0),
        ("echo here", "here\n", 0),
    ] {
        let ran = say(&cache, script).await;
        assert_eq!(
            (ran.out.as_str(), ran.exit_code(), ran.reset_reason()),
            (out, want, None),
            "{script}: {}",
            ran.err
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn status_of_the_last_command_is_available_to_the_next_call() {
    let cache = support::cache();
    let directory = tempfile::tempdir().unwrap();
    say(&cache, &format!("cd {}", directory.path().display())).await;
    for (script, status) in [
        ("true", 0),
        ("(exit 7)", 7),
        ("! : ", 1),
        ("kill -9 $BASHPID & wait $!", 137),
        ("trap 'echo >>trapped' ERR; false", 1),
    ] {
        say(&cache, script).await;
        let ran = say(&cache, "echo $?").await;
        let printed = (ran.out.clone(), ran.reset_reason());
        assert_eq!(
            printed,
            (format!("{status}\n"), None),
            "{script}: {}",
            ran.err
        );
    }
    let trapped = std::fs::read_to_string(directory.path().join("trapped")).unwrap();
    assert_eq!(trapped, "\n", "what failed has failed once");
}

/// A script that makes bash show its actions or its state shows only the script's own.
#[tokio::test(flavor = "multi_thread")]
async fn script_sees_no_variable_or_descriptor_of_the_record() {
    let cache = support::cache();
    let names = "declare -p; declare -F; alias; set; compgen -v";
    for script in [
        names.to_owned(),
        format!("{{ {names}; }} 2>&1 | cat"),
        format!("set -a; {names}"),
        format!("f() {{ local x; {names}; }}; f; env"),
    ] {
        for stages in [false, true] {
            let spec = named("names", &script).report_stages(stages);
            let ran = run_in(&cache, &spec).await;
            // Bash shows the text that it runs, and so the commands that follow the script.
            let is_variable = |line: &&str| !line.contains("BASH_EXECUTION_STRING=");
            let mut lines = ran.out.lines().filter(is_variable);
            assert!(
                !lines.any(|line| line.contains("__ab")),
                "{script}: {}",
                ran.out
            );
            assert!(ran.out.contains("BASH_EXECUTION_STRING"), "{}", ran.err);
            let exported = "declare -x BASH_EXECUTION_STRING";
            assert!(!ran.out.contains(exported), "{script}");
        }
    }
    for (script, out, err) in [
        (
            "trap 'echo err $BASH_COMMAND' ERR; false",
            "err false\n",
            "",
        ),
        ("false", "err false\n", ""),
        ("trap 'echo run $BASH_COMMAND' DEBUG", "", ""),
        ("trap - DEBUG ERR; true", "run trap - DEBUG ERR\n", ""),
        ("set -x", "", ""),
        ("echo a", "a\n", "+++ echo a\n"),
        ("false | true", "", "+++ false\n+++ true\n"),
        ("x=$(echo a)", "", "++++ echo a\n+++ x=a\n"),
        ("set +x; set -v", "", "+++ set +x\n"),
        ("false | true", "", "false | true\n"),
        ("echo a\nset +v", "a\n", "echo a\nset +v\n"),
        ("echo b | cat", "b\n", ""),
    ] {
        let spec = named("a", script).report_stages(true);
        let ran = run_in(&cache, &spec).await;
        let mut lines: Vec<_> = ran.err.lines().collect();
        // The order between both sides of a pipeline is arbitrary.
        lines.sort_unstable();
        let mut wanted: Vec<_> = err.lines().collect();
        wanted.sort_unstable();
        assert_eq!((&*ran.out, lines), (out, wanted), "{script}");
    }
}

/// A new shell's first script begins on its first line, whatever was restored before it.
#[tokio::test(flavor = "multi_thread")]
async fn line_numbers_are_those_of_the_script_after_a_reset() {
    let cache = support::cache();
    say(&cache, "export LINES_='one\ntwo\n' MORE=1").await;
    let ran = say(&cache, "exit 3").await;
    assert!(ran.reset_reason().is_some());
    let ran = say(&cache, "echo $LINENO \"$LINES_\"\nnosuch").await;
    assert_eq!(
        (&*ran.out, &*ran.err),
        (
            "1 one\ntwo\n\n",
            "bash: line 2: nosuch: command not found\n"
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pipeline_stages_are_reported_without_traces() {
    let cache = support::cache();
    let spec = |script: &str| named("a", script).report_stages(true);
    for (script, told, status) in [
        ("(exit 3) | (exit 0) | (exit 5)", Some(vec![3, 0, 5]), 5),
        ("set -o pipefail; (exit 3) | true", Some(vec![3, 0]), 3),
        ("set +o pipefail; false | true", Some(vec![1, 0]), 0),
        ("(exit 4)", None, 4),
        ("false | true; trap 'echo bye' USR1", None, 0),
        ("false | syntax (", None, 2),
    ] {
        let ran = run_in(&cache, &spec(script)).await;
        let stages = ran.outcome.stages.as_ref();
        let codes = stages.map(|stages| stages.iter().map(|stage| stage.code).collect());
        assert_eq!(
            (codes, ran.exit_code()),
            (told, status),
            "{script}: {}",
            ran.err
        );
        let ran = say(&cache, "echo $? ${#__ab[@]}").await;
        assert_eq!(ran.out, format!("{status} 0\n"), "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn syntax_error_is_on_stderr_and_does_not_end_the_shell() {
    let cache = support::cache();
    let ran = say(&cache, "x=1; nosuch").await;
    assert_eq!(
        (ran.err.as_str(), ran.exit_code()),
        ("bash: line 1: nosuch: command not found\n", 127)
    );
    let ran = say(&cache, "echo a; echo )").await;
    assert!(
        ran.err.starts_with("bash: eval: line 1: syntax error"),
        "{}",
        ran.err
    );
    let merged = named("a", "echo 1; echo 2 >&2; echo $x").streams(Streams::Merged);
    assert_eq!(run_in(&cache, &merged).await.out, "1\n2\n1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn session_names_have_separate_shells() {
    let cache = support::cache();
    say(&cache, "x=1").await;
    let other = run_in(&cache, &named("b", "echo [${x-}]")).await;
    assert_eq!(other.out, "[]\n");
    assert_eq!(run_in(&cache, &spec("echo [${x-}]")).await.out, "[]\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn call_runs_in_the_sessions_directory_unless_it_names_one() {
    let cache = support::cache();
    assert_eq!(say(&cache, "pwd").await.out, "/tmp\n");
    say(&cache, "cd /usr").await;
    assert_eq!(say(&cache, "pwd").await.out, "/usr\n");
    let entering = named("a", "pwd").enter_cwd(true).cwd("/");
    assert_eq!(run_in(&cache, &entering).await.out, "/\n");
    let ran = say(&cache, "pwd").await;
    assert_eq!(
        (ran.out.as_str(), ran.outcome.final_cwd),
        ("/\n", Some("/".into()))
    );
    let missing = named("a", "echo ran").enter_cwd(true).cwd("/nope");
    let error = run_with(&cache, &missing, &Cancel::new())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "`/nope` could not be entered");
    assert_eq!(say(&cache, "pwd").await.out, "/\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_of_a_call_do_not_persist() {
    let cache = support::cache();
    say(&cache, "A=mine; export B=old").await;
    let mut call = named("a", "echo $A $B; env | grep -c ^A=");
    call.env.changes = [("A", "it's"), ("B", "new")]
        .map(|(n, v)| (n.into(), Some(v.into())))
        .into();
    assert_eq!(run_in(&cache, &call).await.out, "it's new\n1\n");
    assert_eq!(say(&cache, "echo $A $B").await.out, "mine old\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_shell_is_replaced_with_its_directory_and_exports() {
    for (script, ending, why) in [
        (
            "exit 3",
            ScriptEnding::Exited { code: 3 },
            "exited with code 3",
        ),
        (
            "exec true",
            ScriptEnding::Exited { code: 0 },
            "exited with code 0",
        ),
        (
            "kill -9 $$",
            ScriptEnding::Signaled {
                signal: "SIGKILL".into(),
                number: 9,
            },
            "SIGKILL",
        ),
        (
            "set -e; false; echo no",
            ScriptEnding::Exited { code: 1 },
            "exited with code 1",
        ),
    ] {
        let cache = support::cache();
        say(&cache, "cd /usr; export E='a b\nc'; x=1; f() { :; }").await;
        // The changes of this call are lost with its shell, and the notice says so.
        let ran = say(&cache, &format!("cd /usr/lib; export E=2; {script}")).await;
        assert_eq!(ran.outcome.ending, ending, "{script}: {}", ran.err);
        let kept = "directory and exported variables are as before this call";
        assert!(
            ran.reset_reason()
                .is_some_and(|reason| reason.contains(why) && reason.contains(kept)),
            "{script}: {:?}",
            ran.reset_reason()
        );
        let ran = say(&cache, "echo $PWD \"$E\" [${x-}]; type f 2>/dev/null").await;
        assert_eq!(
            (ran.out.as_str(), ran.reset_reason()),
            ("/usr a b\nc []\n", None),
            "{script}: {}",
            ran.err
        );
    }
}

/// Output of the script's traps or traces between two calls is not mistaken for the shell's
/// reports.
#[tokio::test(flavor = "multi_thread")]
async fn output_of_the_shell_between_calls_is_discarded() {
    for script in [
        "trap 'echo export INJECTED=1' DEBUG",
        "BASH_XTRACEFD=1; PS4='export INJECTED=1 '; set -x",
    ] {
        let cache = support::cache();
        say(&cache, "export E=1").await;
        assert_eq!(say(&cache, script).await.exit_code(), 0, "{script}");
        say(&cache, "exit 3").await;
        let ran = say(&cache, "echo $E [${INJECTED-}]").await;
        assert_eq!(ran.out, "1 []\n", "{script}");
    }
}

/// More than the 64 KiB of a pipe, written while no process reads.
#[tokio::test(flavor = "multi_thread")]
async fn exports_of_any_length_persist() {
    let cache = support::cache();
    say(&cache, "printf -v BIG '%100000s' x; export BIG; cd /usr").await;
    say(&cache, "exit 3").await;
    assert_eq!(say(&cache, "echo ${#BIG} $PWD").await.out, "100000 /usr\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn shell_that_does_not_take_a_script_is_replaced_and_never_runs_the_script() {
    for timeout in [None, Some(Duration::from_secs(3))] {
        let cache = support::cache();
        let directory = tempfile::tempdir().unwrap();
        let shell = say(&cache, "cd /usr; echo $$").await.out;
        let shell = rustix::process::Pid::from_raw(shell.trim().parse().unwrap()).unwrap();
        rustix::process::kill_process(shell, rustix::process::Signal::STOP).unwrap();
        let log = directory.path().join("log");
        let call = named("a", &format!("echo $$ >>{}; pwd", log.display())).timeout(timeout);
        let cancel = Cancel::new();
        let ran = run_with(&cache, &call, &cancel);
        let ran = tokio::time::timeout(Duration::from_secs(60), ran).await;
        let ran = ran.expect("the call is given up").unwrap();
        assert_eq!(
            (ran.out.as_str(), ran.exit_code()),
            ("/usr\n", 0),
            "{timeout:?}"
        );
        assert!(ran.reset_reason().is_some(), "{timeout:?}: {ran:?}");
        let ran = std::fs::read_to_string(&log).unwrap();
        assert_eq!(ran.lines().count(), 1, "{timeout:?}: {ran}");
        assert_ne!(ran.trim(), shell.as_raw_nonzero().to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn time_limit_ends_the_command_and_the_rest_of_the_script() {
    let cache = support::cache();
    let dir = tempfile::tempdir().unwrap();
    let pushed = dir.path().join("pushed");
    say(&cache, "cd /usr").await;
    let script = format!("echo begun; sleep 60; touch '{}'", pushed.display());
    let call = named("a", &script).timeout(Duration::from_secs(2));
    let ran = run_in(&cache, &call).await;
    assert_eq!(
        ran.outcome.ending,
        ScriptEnding::TimedOut {
            after: Duration::from_secs(2)
        }
    );
    assert_eq!(ran.out, "begun\n");
    assert!(
        ran.reset_reason()
            .is_some_and(|reason| reason.contains("time limit"))
    );
    assert!(!pushed.exists(), "the shell went on to its next command");
    assert_eq!(say(&cache, "pwd").await.out, "/usr\n");
    // Control: the same script without the limit does create the file.
    let whole = script.replace("sleep 60", "sleep 0.1");
    say(&cache, &whole).await;
    assert!(pushed.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_session_queue_and_can_be_cancelled() {
    const SHORT: Duration = Duration::from_secs(2);
    let cache = Arc::new(support::cache());
    let directory = tempfile::tempdir().unwrap();
    let [begun, gate] = ["begun", "gate"].map(|name| directory.path().join(name));
    let script = format!(
        "x=1; echo in; : >{}; until [[ -e {} ]]; do sleep .01; done; x=2",
        begun.display(),
        gate.display()
    );
    let slow = tokio::spawn({
        let cache = Arc::clone(&cache);
        async move { say(&cache, &script).await }
    });
    assert!(soon(|| begun.exists()).await);
    let cancel = Cancel::new();
    let waiter = tokio::spawn({
        let (cache, cancel) = (Arc::clone(&cache), cancel.clone());
        async move {
            run_with(&cache, &named("a", "echo never"), &cancel)
                .await
                .unwrap()
        }
    });
    // Waiting does not count: this limit is shorter than the wait.
    let short = named("a", "echo $x").timeout(SHORT);
    let next = tokio::spawn({
        let cache = Arc::clone(&cache);
        async move { run_in(&cache, &short).await }
    });
    cancel.cancel();
    let left = waiter.await.unwrap();
    assert_eq!(
        (left.outcome.ending, left.out.as_str()),
        (ScriptEnding::Cancelled, "")
    );
    assert!(
        !slow.is_finished(),
        "the waiter left before the command ended"
    );
    tokio::time::sleep(SHORT + Duration::from_millis(100)).await;
    std::fs::write(&gate, "").unwrap();
    assert_eq!(next.await.unwrap().out, "2\n");
    assert_eq!(slow.await.unwrap().out, "in\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn background_processes_are_named_and_end_with_the_session() {
    let cache = support::cache();
    let script = "sleep 300 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; echo $!";
    let ran = say(&cache, script).await;
    let pid: u32 = ran.out.trim().parse().unwrap();
    let survivor = &ran.outcome.survivors[0];
    assert_eq!(
        (
            survivor.pid,
            survivor.command.as_str(),
            survivor.holds_output
        ),
        (pid, "sleep 300", true)
    );
    assert_eq!(
        say(&cache, "echo next; jobs | wc -l").await.out,
        "next\n1\n"
    );
    drop(cache);
    let process = format!("/proc/{pid}");
    let is_over = soon(|| !std::path::Path::new(&process).exists()).await;
    assert!(is_over, "{pid} outlived its session");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_scripts_and_long_outputs_pass() {
    let cache = support::cache();
    let script = format!("x='{}'; echo ${{#x}}; seq 200000", "y".repeat(300_000));
    let ran = say(&cache, &script).await;
    assert!(ran.out.starts_with("300000\n1\n2\n") && ran.out.ends_with("\n200000\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn late_output_stays_with_its_own_call() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate");
    let done = directory.path().join("done");
    let cache = support::cache();
    let late = format!(
        "{{ until [[ -e {0} ]]; do sleep .01; done; echo late; : >{1}; }} & echo early",
        gate.display(),
        done.display()
    );
    assert_eq!(say(&cache, &late).await.out, "early\n");
    let wait = format!(
        ": >{0}; until [[ -e {1} ]]; do sleep .01; done; echo mine",
        gate.display(),
        done.display()
    );
    assert_eq!(say(&cache, &wait).await.out, "mine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn fifo_is_reused_and_a_removed_one_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    let cache = support::cache_with(|it| it.directory = root.path().to_owned());
    let path = say(&cache, "readlink /proc/$$/fd/1").await.out;
    assert_eq!(say(&cache, "readlink /proc/$$/fd/1").await.out, path);
    std::fs::remove_file(path.trim()).unwrap();
    // Otherwise it would now be a regular file without a reader.
    assert_eq!(say(&cache, "readlink /proc/$$/fd/1").await.out, path);
    // So would anything else that a script has put there.
    for put in ["ln -sf out", "ln -sf /dev/null", "rm", "mkdir"] {
        let script = format!(
            "rm {path} ${{p%out}}err; {put} {path}; {put} ${{p%out}}err",
            path = path.trim()
        );
        say(&cache, &format!("p={}; {script}", path.trim())).await;
        let ran = say(&cache, "echo out; echo err >&2").await;
        assert_eq!((&*ran.out, &*ran.err), ("out\n", "err\n"), "{put}");
        let merged = named("a", "echo out; echo err >&2").streams(Streams::Merged);
        let ran = run_in(&cache, &merged).await;
        assert_eq!(ran.out, "out\nerr\n", "{put}");
    }
}

/// CPU time of this thread in nanoseconds.
fn computed() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// A FIFO whose last writer has closed it stays readable at EOF, so a naive reader would spin.
#[tokio::test]
async fn waiting_for_a_command_uses_no_cpu_time() {
    let cache = support::cache();
    say(&cache, "echo first").await;
    let before = computed();
    assert_eq!(say(&cache, "sleep 1; echo second").await.out, "second\n");
    let duration = Duration::from_nanos(computed() - before);
    assert!(duration < Duration::from_millis(300), "{duration:?}");
}
