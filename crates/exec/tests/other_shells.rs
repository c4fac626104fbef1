//! Shells that are not bash, or that read a profile first, do what they do by their own `-c`, but for one word in messages:
//! a text that is evaluated is called so.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

mod support;

use agent_bash_core::{Cancel, Ending, RunSpec, Shell, Streams};
use std::path::{Path, PathBuf};
use support::{command, run_with, spec};

/// A shell, its arguments before `-c`, and what its messages say where its own `-c` says the other.
struct Other {
    path: &'static str,
    args: &'static [&'static str],
    says: (&'static str, &'static str),
}

const SHELLS: &[Other] = &[
    Other {
        path: "/bin/sh",
        args: &[],
        says: (": eval: ", ": "),
    },
    Other {
        path: "/bin/bash",
        args: &["-l"],
        says: ("bash: eval: line ", "bash: -c: line "),
    },
    // Where it is there.
    Other {
        path: "/bin/zsh",
        args: &[],
        says: ("(eval):", "zsh:"),
    },
];

const SCRIPTS: &[&str] = &[
    "echo hi",
    "exit 3",
    "echo a\nno-such-command\necho $?",
    "echo $0 $# $-",
    "cd /nope\ncd /usr && pwd",
    "echo one; echo two >&2; false",
    "f() { no-such-command; }\nf",
    "cat; read x; echo $?",
    "cat <<E\n$((1+1)) `echo b` \\$x\nE",
    "echo 'it'\\''s' \"a\nb\"",
    "echo a \\\n",
    "# nothing but a comment",
    "",
    "\n\n  echo late\n\n",
    "set -e; false; echo never",
    "trap 'echo bye' EXIT; exit 4",
    "kill -TERM $$",
    "for fd in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; true",
    "echo ${__ab-unset}",
    "echo \"$(printf 'x\\ny')\" | wc -l",
    "if then",
    "exec echo replaced",
];

/// As the shell itself has it: stdout, stderr, exit code or `-` and the signal.
type Seen = (String, String, i32);

async fn ours(shell: &Other, script: &str, streams: Streams) -> Seen {
    let spec = RunSpec {
        shell: Shell {
            path: PathBuf::from(shell.path),
            is_bash: false,
            args: shell.args.iter().map(|arg| (*arg).to_owned()).collect(),
        },
        streams,
        ..spec(script)
    };
    let ran = run_with(&support::cache(), &spec, &Cancel::new()).await;
    let ran = ran.unwrap();
    let end = match ran.outcome.ending {
        Ending::Exited { code } => code,
        Ending::Signaled { number, .. } => -number,
        other => unreachable!("{other:?}"),
    };
    (ran.out, ran.err, end)
}

fn its_own(shell: &Other, script: &str) -> Seen {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    let name = Path::new(shell.path).file_name().unwrap();
    let mut process = command(shell.path);
    process.arg0(name).args(shell.args).args(["-c", script]);
    let output = process.current_dir("/tmp").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let signal = output.status.signal().map_or(0, |number| -number);
    let end = output.status.code().unwrap_or(signal);
    (text(&output.stdout), text(&output.stderr), end)
}

#[tokio::test(flavor = "multi_thread")]
async fn they_do_as_by_their_own_c() {
    close_fds::set_fds_cloexec(3, &[]);
    for shell in SHELLS.iter().filter(|shell| Path::new(shell.path).exists()) {
        for script in SCRIPTS {
            let (out, err, end) = ours(shell, script, Streams::Split).await;
            let (says, own) = shell.says;
            let seen = (out, err.replace(says, own), end);
            assert_eq!(seen, its_own(shell, script), "{} {script:?}", shell.path);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_merged_and_scripts_may_be_long() {
    for shell in SHELLS.iter().filter(|shell| Path::new(shell.path).exists()) {
        let merged = ours(shell, "echo 1; echo 2 >&2; echo 3", Streams::Merged).await;
        assert_eq!(merged.0, "1\n2\n3\n", "{}", shell.path);
        let long = format!("x='{}'; echo ${{#x}}", "y\n".repeat(500_000));
        let seen = ours(shell, &long, Streams::Split).await;
        assert_eq!(
            seen,
            ("1000000\n".to_owned(), String::new(), 0),
            "{}",
            shell.path
        );
    }
}
