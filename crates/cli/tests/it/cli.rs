//! The binary as scripts use it: stdout, stderr and exit codes. What calls return under each
//! profile is tested by the conformance kit.

use crate::support::{Home, Run};

struct Case {
    words: &'static [&'static str],
    stdin: &'static str,
    code: i32,
    /// The exact stdout.
    stdout: &'static str,
    /// A part of stderr; if empty, stderr must be empty.
    stderr: &'static str,
}

/// A call that prints only to stdout.
const fn prints(words: &'static [&'static str], code: i32, stdout: &'static str) -> Case {
    Case {
        words,
        stdin: "",
        code,
        stdout,
        stderr: "",
    }
}

/// A call that prints only to stderr.
const fn fails(words: &'static [&'static str], code: i32, stderr: &'static str) -> Case {
    Case {
        stderr,
        ..prints(words, code, "")
    }
}

const CASES: &[Case] = &[
    prints(&["run", "echo hi"], 0, "hi\n"),
    prints(
        &["run", "echo hi; exit 7"],
        7,
        "hi\n\nCommand exited with code 7",
    ),
    prints(
        &["run", "kill -9 $$"],
        137,
        "(no output)\n\nCommand terminated by SIGKILL",
    ),
    prints(
        &["run", "--timeout", "1", "echo a; sleep 20"],
        124,
        "[Command timed out after 1 second]\na\n",
    ),
    prints(
        &["run", "git add -A"],
        125,
        "Blocked: permission denied: blind git add commands (git add -A, git add ., git add --all, git add *) are not allowed, specify files explicitly\n\nOriginal command: git add -A",
    ),
    prints(
        &["run", "--cwd", "/no/such", "true"],
        125,
        "Working directory does not exist: /no/such",
    ),
    prints(
        &["run", ""],
        125,
        "`command` is empty; give the script to run",
    ),
    Case {
        stdin: "echo from stdin",
        ..prints(&["run", "-"], 0, "from stdin\n")
    },
    prints(
        &["run", "--", "printf", "%s|", "a b", "$HOME"],
        0,
        "a b|$HOME|",
    ),
    Case {
        stdin: "not read",
        ..prints(&["run", "cat"], 0, "(no output)")
    },
    Case {
        stdin: "read",
        ..prints(&["run", "--stdin", "cat"], 0, "read")
    },
    prints(&["run", "--env", "A=b c", "echo \"$A\""], 0, "b c\n"),
    Case {
        stdin: r#"{"cmd": "echo hi"}"#,
        ..prints(&["run", "--request"], 0, "hi\n")
    },
    Case {
        stdin: r#"{"command": "ls", "timout": 1}"#,
        ..prints(
            &["run", "--request"],
            125,
            "unknown field `timout` (did you mean `timeout`?); the fields are command, mode, timeout, wait, cwd, head, tail, show, show_kb, session, pty, env, stdin, description",
        )
    },
    Case {
        stdin: "{",
        ..fails(&["run", "--request"], 2, "the request on stdin is not JSON")
    },
    Case {
        stderr: "[exited with code 4]\n",
        ..prints(&["run", "--stream", "echo out; exit 4"], 4, "out\n")
    },
    prints(
        &["run", "--stream", "git add -A"],
        125,
        "Blocked: permission denied: blind git add commands (git add -A, git add ., git add --all, git add *) are not allowed, specify files explicitly\n\nOriginal command: git add -A",
    ),
    prints(
        &["run", "--safe-mode", "touch x"],
        125,
        "Blocked: Error: Command not allowed in safe mode\n`touch` is not on the list of what may run: git, grep, rg, find, ls, cat, head, tail, wc, swift test, xcodebuild test, npm test, pytest, cd, pwd, test, true, false, type, which, command -v, stat, file, du, df, tree, basename, dirname, realpath, readlink, sort, uniq, cut, tr, nl, tac, paste, column, sed, awk, jq, diff, cmp, comm, md5sum, sha256sum, date, whoami, node --version, python3 --version\n\nOriginal command: touch x",
    ),
    fails(&["run"], 2, "required"),
    fails(&["run", "--profile", "nope", "ls"], 2, "standard"),
    prints(&["check", "ls"], 0, "allowed\n"),
    prints(
        &["check", "--json", "ls"],
        0,
        "{\"verdict\":\"allow\",\"check\":null,\"rule\":null,\"group\":null,\"message\":null,\"instead\":null,\"span\":null,\"suggested_tool\":null}\n",
    ),
    fails(&["check", "--groups", "nope", "ls"], 2, "core"),
    prints(
        &["check", "--only", "safemode", "make"],
        1,
        "refused by not_listed: Error: Command not allowed in safe mode\n  make\n  ^^^^\ninstead: ",
    ),
    fails(
        &["artifact", "show", "7"],
        1,
        "Artifact 7 not found. Available: none",
    ),
    fails(
        &["artifact", "show", "x"],
        1,
        "artifact:// ID must be numeric, got: x",
    ),
];

#[test]
fn commands_have_the_documented_stdout_stderr_and_exit_code() {
    let home = Home::new();
    for case in CASES {
        let run = Run::with_stdin(&mut home.command(case.words), case.stdin);
        let all = format!("{:?}: {}{}", case.words, run.stdout, run.stderr);
        assert_eq!(run.code, Some(case.code), "{all}");
        if case.stdout.ends_with("instead: ") {
            assert!(run.stdout.starts_with(case.stdout), "{all}");
        } else {
            assert_eq!(run.stdout, case.stdout, "{:?}", case.words);
        }
        assert_eq!(run.stderr.is_empty(), case.stderr.is_empty(), "{all}");
        assert!(run.stderr.contains(case.stderr), "{all}");
    }
}

#[test]
fn stored_output_is_readable_by_the_name_in_the_text() {
    let home = Home::new();
    let run = |words: &[&str]| home.run(words);
    let long = run(&["run", "seq 20000"]);
    assert!(
        long.stdout.ends_with("Full: artifact://0]"),
        "{}",
        long.stdout
    );
    let page = run(&["artifact", "show", "artifact://0", "--offset", "19999"]);
    assert_eq!(page.stdout, "19999\n20000\n");
    assert_eq!(page.stderr, "[Showing lines 19999-20000 of 20000.]\n");
    let found = run(&["artifact", "grep", "^1999.$", "0"]);
    assert_eq!(found.stdout.lines().next(), Some("19990:19990"));
    assert_eq!(run(&["artifact", "grep", "nope", "0"]).code, Some(1));

    let paged = run(&["run", "--profile", "paged", "seq 20000"]);
    let saved = paged
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("Full output saved to: "));
    let path = saved.expect("the path is in the text");
    assert_eq!(
        run(&["artifact", "show", path, "--tail", "1"]).stdout,
        "20000\n"
    );
    let list = run(&["artifact", "list"]).stdout;
    assert!(
        list.contains("artifact://0  ") && list.contains("artifact://1  "),
        "{list}"
    );
}

#[test]
fn env_lists_names_of_secrets_without_values() {
    let variables = [("MY_TOKEN", "hush-hush"), ("KEPT", "1")];
    let text = Home::new().run_with(&["env"], &variables).stdout;
    assert!(text.lines().any(|line| line == "KEPT=1"), "{text}");
    assert!(text.ends_with("secrets: MY_TOKEN\n"), "{text}");
    assert!(!text.contains("hush-hush"));
}

#[test]
fn doctor_finds_no_problem_except_an_unusable_state_directory() {
    let home = Home::new();
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(!run.stdout.contains("PROBLEM"));
    home.write("file", "");
    let unusable = home.path().join("file").display().to_string();
    let variables = ["AGENT_BASH_STATE_DIR", "TMPDIR", "HOME"].map(|name| (name, &*unusable));
    let broken = home.run_with(&["doctor"], &variables);
    assert_eq!(
        broken.code,
        Some(1),
        "a file is no state directory: {}",
        broken.stdout
    );
    // The lines have the reasons alone, and the advice.
    assert!(
        run.stdout.contains("was recorded and undone"),
        "the control"
    );
    let broken = home.run_with(&["doctor"], &variables[..1]).stdout;
    for part in [
        "no undo: making `",
        "XDG_STATE_HOME can name another directory",
    ] {
        assert!(broken.contains(part), "{part}: {broken}");
    }
}

#[test]
fn project_settings_only_tighten() {
    let home = Home::new();
    let run = |words: &[&str], file: &str| {
        home.write("project/.agent-bash.toml", file);
        let run = home.run_in("project", words);
        (run.code, run.stdout + &run.stderr)
    };
    let strict = "[safe_mode]\nlevel = \"read_only\"";
    let (code, text) = run(&["run", "touch x"], strict);
    assert_eq!(code, Some(125), "{text}");
    let (code, text) = run(&["settings"], strict);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("safe_mode.level = \"read_only\"  # /"),
        "{text}"
    );
    let (code, text) = run(&["run", "true"], "[shell]\nprefix = \"evil;\"");
    assert_eq!(code, Some(2));
    assert!(text.contains("may only tighten"), "{text}");
    let (code, text) = run(&["run", "touch x"], "");
    assert_eq!(code, Some(0), "the control: {text}");
}

#[test]
fn background_job_survives_the_program_and_can_be_read_awaited_and_ended() {
    let home = Home::new();
    let run = |words: &[&str]| home.run(words);
    let start = |script: &str| run(&["run", "--mode", "background", script]);
    let go = home.path().join("go");
    let until = format!("until [ -e {} ]; do sleep 0.02; done", go.display());
    let started = start(&format!("echo one; {until}; echo two"));
    assert_eq!(
        started.code,
        Some(0),
        "{}{}",
        started.stdout,
        started.stderr
    );
    let text = &started.stdout;
    assert!(
        text.starts_with("Started in the background as job 1 (pid "),
        "{text}"
    );
    std::fs::write(go, "").expect("a file");
    assert_eq!(
        run(&["jobs", "wait", "1", "--timeout", "20s"]).stdout,
        "exited with code 0\n"
    );
    assert_eq!(run(&["jobs", "output", "1"]).stdout, "one\ntwo\n");
    assert_eq!(run(&["jobs", "output", "1", "--tail", "1"]).stdout, "two\n");

    start("echo up; sleep 300");
    assert_eq!(
        run(&["jobs", "wait", "2", "--timeout", "0"]).code,
        Some(124)
    );
    assert_eq!(
        run(&["jobs", "kill", "2"]).stdout,
        "ended by SIGTERM, on request\n"
    );
    let list = run(&["jobs", "list"]).stdout;
    assert!(
        list.contains("ended by SIGTERM, on request  echo up"),
        "{list}"
    );
    assert_eq!(run(&["jobs", "show", "9"]).code, Some(1));

    let failed = start("echo no; exit 3");
    assert_eq!(failed.code, Some(3), "{}", failed.stdout);
}
