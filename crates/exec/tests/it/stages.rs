//! The exit status of each stage of a script's last pipeline: bash's `PIPESTATUS`, or nothing.
//! Never a guess, and never visible to the script.

use crate::support::{run, spec};
use agent_bash_core::ScriptEnding;

/// Script, exit code, stages (empty: unknown).
const CASES: &[(&str, i32, &[i32])] = &[
    ("false | true", 0, &[1, 0]),
    ("true | false", 1, &[0, 1]),
    ("sh -c 'exit 3' | cat | cat", 0, &[3, 0, 0]),
    ("(exit 2) | (exit 5)", 5, &[2, 5]),
    ("set -o pipefail; false | true", 1, &[1, 0]),
    ("sh -c 'kill -9 $$' | cat", 0, &[137, 0]),
    ("nosuchcommand_x | cat", 0, &[127, 0]),
    ("yes | head -1", 0, &[141, 0]),
    ("cd /usr; pwd | cat\n\n# the end\n", 0, &[0, 0]),
    ("exec 1>&- ; false | true", 0, &[1, 0]),
    (
        "printf() { echo no; }; eval() { echo no; }; false | true",
        0,
        &[1, 0],
    ),
    ("IFS=0123456789; false | true", 0, &[1, 0]),
    ("set -Cu; false | true", 0, &[1, 0]),
    // Nothing is reported if the tail was not reached, or would have been visible.
    ("set -e; true | false", 1, &[]),
    ("exit 3; false | true", 3, &[]),
    ("trap 'echo bye' EXIT; false | true", 0, &[]),
    ("set -x; false | true", 0, &[]),
    ("exit() { echo no; }; builtin true | true", 0, &[]),
];

#[tokio::test(flavor = "multi_thread")]
async fn stages_are_bashs_own_or_absent() {
    for (script, code, want) in CASES {
        let got = run(&spec(script).report_stages(true)).await;
        let stages: Vec<i32> = got
            .outcome
            .stages
            .iter()
            .flatten()
            .map(|stage| stage.code)
            .collect();
        assert_eq!(
            got.outcome.ending,
            ScriptEnding::Exited { code: *code },
            "{script}: {}",
            got.err
        );
        assert_eq!(stages, *want, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_question_there_is_no_answer() {
    let got = run(&spec("false | true")).await;
    assert_eq!((got.outcome.stages, got.outcome.final_cwd), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn final_directory_is_returned() {
    let script = "cd /usr/lib; false | true";
    let got = run(&spec(script).report_stages(true)).await;
    assert_eq!(got.outcome.final_cwd, Some("/usr/lib".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn script_cannot_detect_the_query() {
    for script in [
        "declare -p | grep -v 'BASHPID\\|SRANDOM\\|RANDOM\\|EPOCH\\|PPID\\|SECONDS'",
        "set | grep -v 'BASHPID\\|RANDOM\\|EPOCH\\|PPID\\|SECONDS'",
        "compgen -v | cat",
        "ls /proc/self/fd | cat",
        "echo \"$_\" | cat",
        "env | sort | grep -v '^_='",
        "declare -F | cat; alias | cat; trap -p | cat",
        "nosuch | cat\nnosuch2 | cat",
    ] {
        let plain = run(&spec(script)).await;
        let session_run = run(&spec(script).report_stages(true)).await;
        assert_eq!(
            (plain.out, plain.err),
            (session_run.out, session_run.err),
            "{script}"
        );
    }
}
