//! A script that is a single program: the shell executes the program itself, as `bash -c` does. The
//! shell stays if it has more to do.

use crate::support::{FinishedRun, command, environment, run, spec};
use agent_bash_core::Environment;
use std::os::unix::process::CommandExt;
use std::sync::Arc;

/// Runs a script in a call with the variables `more`, and in bash itself.
async fn both(script: &str, more: &[(&str, &str)]) -> (FinishedRun, String) {
    let mut variables = environment();
    variables.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
    let call = spec(script).cwd("/").env(Environment {
        base: Arc::new(variables),
        ..Environment::default()
    });
    let mut bash = command("/bin/bash");
    bash.arg0("bash")
        .envs(more.iter().copied())
        .current_dir("/");
    let bash = bash.args(["--norc", "--noprofile", "-c", script]).output();
    let bash = bash.map(|output| [output.stdout, output.stderr].concat());
    let bash = bash.unwrap_or_default();
    let ran = run(&call).await;
    (ran, String::from_utf8_lossy(&bash).into_owned())
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Checked by the environment of the program. A shell that stays counts itself in `SHLVL`, which is
/// the control.
#[tokio::test(flavor = "multi_thread")]
async fn single_program_replaces_its_shell() {
    for script in ["env", "/usr/bin/env", " env \n", "env A='b c' D=\"e\""] {
        let (ran, bash) = both(script, &[]).await;
        assert_eq!(lines(&ran.out), lines(&bash), "{script}: {}", ran.err);
    }
    let (ran, bash) = both("env $NOTHING", &[]).await;
    assert_ne!(lines(&ran.out), lines(&bash));
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_expanded_in_the_order_of_the_shell() {
    for (script, more) in [
        (
            "date",
            &[("BASH_FUNC_date%%", "() { echo mine $SHLVL; }")][..],
        ),
        (
            "/bin/true",
            &[("BASH_FUNC_/bin/true%%", "() { echo mine $SHLVL; }")],
        ),
        ("nosuch_program a", &[]),
        ("/nosuch/program", &[]),
        ("/etc", &[]),
        ("/etc/passwd", &[]),
        ("printenv _", &[]),
        ("env", &[("PATH", "/nosuch")]),
    ] {
        let (ran, bash) = both(script, more).await;
        let ours = [ran.out, ran.err].concat();
        assert_eq!(ours, bash, "{script}");
    }
}

/// A script prints its name as `$0`; `exec` would make a relative name absolute.
#[tokio::test(flavor = "multi_thread")]
async fn script_has_the_name_by_which_it_was_started() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in [("named", "#!/bin/sh\necho $0\n"), ("bare", "echo $0\n")] {
        let script = directory.path().join(name);
        std::fs::write(&script, text).unwrap();
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, runs).unwrap();
    }
    let here = directory.path().to_str().unwrap();
    let near = here.trim_start_matches('/');
    let (path, near) = (
        format!("{here}:/usr/bin:/bin"),
        format!("{near}:/usr/bin:/bin"),
    );
    for name in ["named", "bare"] {
        for (script, path) in [
            (format!(".{here}/{name}"), "/usr/bin:/bin"),
            (format!("{here}/{name}"), "/usr/bin:/bin"),
            (name.to_owned(), path.as_str()),
            (name.to_owned(), near.as_str()),
        ] {
            let (ran, bash) = both(&script, &[("PATH", path)]).await;
            assert_eq!(ran.out, bash, "{script}, {path}: {}", ran.err);
            assert!(bash.trim_end().ends_with(name), "{bash}");
        }
    }
}
