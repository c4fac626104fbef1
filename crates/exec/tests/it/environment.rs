//! The environment of a command: exactly the variables it was given, three descriptors, default
//! signal dispositions, whatever the host has.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{self, cache_with, command, environment, run_in, soon, spec};
use agent_bash_core::{Cancel, Environment};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// A variable and its new value; `None` unsets.
type Change = (&'static str, Option<&'static [u8]>);

/// Changes by one call. Bash itself determines the expected result. Two names are missing because
/// the record uses them: `SECONDS` starts at 0, and `__ab` is unset.
const CHANGES: &[&[Change]] = &[
    &[],
    &[("PLAIN", Some(b"value")), ("EMPTY", Some(b""))],
    &[("HOME", None), ("LANG", None), ("NOT_THERE", None)],
    &[("QUOTES", Some(b"it's \"q\" $(touch made) `x` \\ $HOME !"))],
    &[("LINES", Some(b"a\nb\n\n")), ("TABS", Some(b"\t\x01\x7f"))],
    &[("ODD", Some(b"\xff\xfe")), ("HALF", Some(b"\xe2\x82"))],
    &[
        ("not-an-identifier", Some(b"1")),
        ("a.b", Some(b"2")),
        ("1x", Some(b"3")),
    ],
    &[("ünï", Some(b"1"))],
    &[("BASH_FUNC_f%%", Some(b"() { echo from f; }"))],
    &[("PATH", Some(b"/usr/bin:/bin:/nonexistent"))],
    &[("HOME", Some(b"/tmp")), ("SHELL", Some(b"/bin/zsh"))],
    &[("LC_ALL", Some(b"C"))],
    &[("TZ", Some(b"Asia/Tokyo")), ("TERM", Some(b"vt100"))],
    &[("SHLVL", Some(b"5"))],
    &[("OLDPWD", Some(b"/usr"))],
    &[("OLDPWD", Some(b"/nonexistent"))],
    &[("PWD", Some(b"/nonexistent"))],
    &[("IFS", Some(b"x"))],
    &[("PS4", Some(b"> ")), ("PS1", Some(b"$ "))],
    &[("PROMPT_COMMAND", Some(b"echo prompted"))],
    &[("POSIXLY_CORRECT", Some(b"1"))],
    &[("SHELLOPTS", Some(b"noglob"))],
    &[("BASHOPTS", Some(b"nullglob"))],
    &[
        ("UID", Some(b"7")),
        ("PPID", Some(b"1")),
        ("EUID", Some(b"8")),
    ],
    &[("RANDOM", Some(b"5")), ("HISTSIZE", Some(b"100"))],
    &[("GLOBIGNORE", Some(b"*")), ("FUNCNEST", Some(b"3"))],
    &[("OPTIND", Some(b"3")), ("BASH_COMPAT", Some(b"4.2"))],
    &[
        ("COLUMNS", Some(b"33")),
        ("BASH_EXECUTION_STRING", Some(b"x")),
    ],
];

/// Prints the environment of a child, and what the shell has made of it.
const SHOW: &str = "touch here; env -0 | sort -z; echo; echo \"$-|$IFS|$SHLVL|$UID|$OPTIND|$HOME|$_\"; echo *; \
                    shopt -p nullglob; ls /nonexistent; type f 2>/dev/null; [[ é == ? ]]; echo $?; set -x; :";

fn base() -> BTreeMap<OsString, OsString> {
    let mut base = environment();
    base.insert("BASE".into(), OsStr::from_bytes(b"\xff base").to_owned());
    base
}

fn reference(env: &Environment, dir: &std::path::Path) -> Vec<u8> {
    let output = command("setsid")
        .env_clear()
        .envs(env.merged())
        .args(["/bin/bash", "--norc", "--noprofile", "-c", SHOW])
        .current_dir(dir)
        .output()
        .unwrap();
    [output.stdout, output.stderr].concat()
}

/// Removes allowed differences: the directory, and the additional `+` of xtrace.
fn normalised(bytes: &[u8], dir: &std::path::Path) -> String {
    bytes
        .escape_ascii()
        .to_string()
        .replace(&dir.display().to_string(), "DIR")
        .replace("\\x00", "\n")
        .replace("++ :", "+ :")
        .replace(">> :", "> :")
}

#[tokio::test(flavor = "multi_thread")]
async fn child_inherits_exactly_the_given_state() {
    close_fds::set_fds_cloexec(3, &[]);
    let mut faults = Vec::new();
    for warm_shells in [0, 1] {
        let cache = cache_with(|it| it.warm_shells = warm_shells);
        for changes in CHANGES {
            let changes = changes.iter().map(|(name, value)| {
                let value = value.map(|bytes| OsStr::from_bytes(bytes).to_owned());
                (OsString::from(name), value)
            });
            let env = Environment {
                base: Arc::new(base()),
                changes: changes.collect(),
            };
            let (mine, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let spec = spec(SHOW).cwd(mine.path().to_path_buf()).env(env.clone());
            if warm_shells > 0 && cache.warm_shells() == 0 {
                // The first call brings the pool.
                let plain = spec.clone().env(Environment {
                    changes: BTreeMap::new(),
                    ..env.clone()
                });
                run_in(&cache, &plain).await;
                assert!(soon(|| cache.warm_shells() > 0).await);
            }
            let mut collect = support::Collect::default();
            agent_bash_core::Executor::run(&cache, &spec, &mut collect, &Cancel::new())
                .await
                .unwrap();
            let ours = normalised(&[collect.out, collect.err].concat(), mine.path());
            let bash = normalised(&reference(&env, theirs.path()), theirs.path());
            if ours != bash {
                faults.push(format!(
                    "{warm_shells} warm, {:?}\n--- ours\n{ours}\n--- bash\n{bash}",
                    env.changes
                ));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} differ\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Starts a program with signals ignored and descriptors open: `bash -c … bash PROGRAM ARGUMENT`.
const FAULTY_PARENT: &str =
    "trap '' INT HUP QUIT TERM USR1 PIPE; exec 7</dev/null 8>/dev/null 99</etc/passwd; exec \"$@\"";

/// Prints descriptors (3 is that of the directory being read), and ignored signals except 32 and
/// 33, which glibc reserves.
const INHERITED: &str = "echo /proc/$$/fd/*; grep SigIgn /proc/self/status | { read _ mask; \
                         echo $((0x$mask & ~0x180000000)); }";

fn inherited_through(program: &[&str]) -> String {
    let output = command("setsid")
        .args(["bash", "-c", FAULTY_PARENT, "bash"])
        .args(program)
        .arg(INHERITED)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let pid_free = text.split_ascii_whitespace().map(|word| {
        let descriptor = word.starts_with("/proc/");
        let last = word.rsplit('/').next().unwrap();
        if descriptor { last } else { word }
    });
    pid_free.collect::<Vec<_>>().join(" ")
}

#[test]
fn faults_of_a_host_are_not_inherited() {
    let host = env!("CARGO_BIN_EXE_exec-test-host");
    assert_eq!(inherited_through(&[host]), "0 1 2 3 0");
    // Negative control: bash in the host's place passes them on.
    let bash = inherited_through(&["bash", "-c"]);
    assert!(bash.starts_with("0 1 2 3 7 8 99 "), "{bash}");
    let mask: u64 = bash.rsplit(' ').next().unwrap().parse().unwrap();
    for signal in [1, 2, 3, 10, 13, 15] {
        assert_ne!(mask & (1 << (signal - 1)), 0, "{signal} in {mask:x}");
    }
}

/// A bash that reads the user's profile is still bash: the hand-over of its script must be
/// invisible.
#[tokio::test(flavor = "multi_thread")]
async fn login_bash_equals_bash() {
    let home = tempfile::tempdir().unwrap();
    let profile = "echo profile; greeting=hello; greet() { echo \"$greeting $1\"; }";
    std::fs::write(home.path().join(".bash_profile"), profile).unwrap();
    for script in [
        "greet you; shopt -q login_shell && echo login",
        "cd /nope; echo $?",
        "no_such_command; echo $LINENO $# $-",
        "ls /proc/$$/fd; echo \"$BASH_EXECUTION_STRING\"",
        "cat; read x || echo nothing to read",
        "exit 7",
    ] {
        let mut spec = spec(script);
        spec.shell.is_bash = false;
        spec.shell.args = vec!["-l".to_owned()];
        spec.env.changes = [("HOME".into(), Some(home.path().into()))].into();
        let ran = support::run(&spec).await;
        let bash = command("/bin/bash")
            .args(["-lc", script])
            .env("HOME", home.path())
            .current_dir("/tmp")
            .output()
            .unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&bash.stdout),
            String::from_utf8_lossy(&bash.stderr),
        );
        assert_eq!(
            (&*ran.out, &*ran.err),
            (&*out, &*err.replace("/bin/bash:", "bash:")),
            "{script}"
        );
        let code = bash.status.code().unwrap();
        assert_eq!(
            ran.outcome.ending,
            agent_bash_core::ScriptEnding::Exited { code },
            "{script}"
        );
    }
}
