//! Shells that are not bash, or that read a profile first, behave as under their own `-c`, except
//! for one word in messages, which say that a text was evaluated.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{self, command, run_with, spec};
use agent_bash_core::{Cancel, RunSpec, ScriptEnding, SessionName, Shell, Streams};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A shell, its arguments before `-c`, and how its messages differ.
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
    // If it is installed.
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

/// An observation: stdout, stderr, and the exit code or the negative signal number.
type Observed = (String, String, i32);

async fn ours(shell: &Other, script: &str, streams: Streams) -> Observed {
    let spec = spec(script)
        .shell(Shell {
            path: PathBuf::from(shell.path),
            is_bash: false,
            args: shell.args.iter().map(|arg| (*arg).to_owned()).collect(),
        })
        .streams(streams);
    let ran = support::run(&spec).await;
    let end = match ran.outcome.ending {
        ScriptEnding::Exited { code } => code,
        ScriptEnding::Signaled { number, .. } => -number,
        other => unreachable!("{other:?}"),
    };
    (ran.out, ran.err, end)
}

fn its_own(shell: &Other, script: &str) -> Observed {
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
async fn other_shells_run_scripts_as_with_their_own_c_option() {
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

/// A shell with this name and text, in a directory of its own.
fn stand_in(directory: &Path, name: &str, text: &str) -> Shell {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    Shell {
        is_bash: name == "bash",
        path,
        args: Vec::new(),
    }
}

/// Real bash that claims to have this version.
fn bash_of_version(directory: &Path, version: &str) -> Shell {
    let text = format!(
        "#!/bin/bash\nargs=(\"$@\")\nargs[-1]=\"BASH_VERSION='{version}'; ${{args[-1]}}\"\nexec -a bash /bin/bash \"${{args[@]}}\"\n"
    );
    stand_in(directory, "bash", &text)
}

/// The old bash is refused in a call of its own, and in a session.
fn ways(shell: &Shell, script: &str) -> [RunSpec; 2] {
    let own = spec(script).shell(shell.clone());
    let in_session = own.clone().session(SessionName("a".into()));
    [own, in_session]
}

#[tokio::test(flavor = "multi_thread")]
async fn unsupported_bash_is_named() {
    for version in ["3.2.57(1)-release", "4.3.48(1)-release"] {
        let directory = tempfile::tempdir().unwrap();
        let shell = bash_of_version(directory.path(), version);
        let cache = support::cache();
        for spec in [ways(&shell, "echo hi"), ways(&shell, "echo ho")].as_flattened() {
            let refused = run_with(&cache, spec, &Cancel::new()).await.unwrap_err();
            let path = shell.path.display();
            assert_eq!(
                refused.to_string(),
                format!(
                    "bash 4.4 or later is needed, and `{path}` is {version}; name another as the shell"
                )
            );
        }
    }
}

/// The special handling of old versions works with any version.
#[tokio::test(flavor = "multi_thread")]
async fn old_bash_runs_scripts() {
    for version in ["4.4.20(1)-release", "5.0.18(1)-release"] {
        let directory = tempfile::tempdir().unwrap();
        let shell = bash_of_version(directory.path(), version);
        for number in 10..=12 {
            let script = format!("exec {number}>f; echo hi >&{number}; cat f; cat; exec 3<&1");
            let [own, in_session] = ways(&shell, &script);
            for (mut spec, is_own) in [(own, true), (in_session, false)] {
                spec.cwd = directory.path().to_owned();
                spec.enter_cwd = true;
                let ran = support::run(&spec).await;
                // In a session those descriptors are bash's own.
                let wanted = if is_own { "hi\n" } else { "" };
                assert_eq!(ran.out, wanted, "{version} {number}");
            }
        }
    }
}

/// A script that was not run must not be reported as exited with 125.
#[tokio::test(flavor = "multi_thread")]
async fn call_without_a_process_is_not_started() {
    let directory = tempfile::tempdir().unwrap();
    let shells = [
        stand_in(directory.path(), "sh", "#!/bin/sh\nread -r x\nexit 125\n"),
        stand_in(directory.path(), "bash", "#!/bin/sh\nread -r x\nexit 125\n"),
    ];
    for shell in shells {
        let [spec, _] = ways(&shell, "echo hi");
        let refused = run_with(&support::cache(), &spec, &Cancel::new()).await;
        let reason = refused.unwrap_err().to_string();
        assert!(
            reason.contains("the shell ended before it read the script"),
            "{reason}"
        );
    }
    for path in ["/bin/sh", "/bin/bash"] {
        let spec = spec("echo hi")
            .shell(Shell {
                path: path.into(),
                is_bash: false,
                args: Vec::new(),
            })
            .cwd("/nowhere");
        let refused = run_with(&support::cache(), &spec, &Cancel::new()).await;
        let reason = refused.unwrap_err().to_string();
        assert_eq!(reason, "`/nowhere` could not be entered", "{path}");
    }
}
