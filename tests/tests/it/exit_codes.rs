//! Exit code 125 means that nothing was started. A command that ran, but whose result could not be
//! printed, has another code.

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::ensure;
use std::fs::File;
use std::process::Stdio;

/// A rule refuses `kill $PPID`.
const END_SUPERVISOR: &str =
    r#"touch ran; read -r _ _ _ parent _ </proc/$$/stat; kill -9 "$parent"; sleep 5"#;

/// The columns: arguments, true if stdout is full, the exit code, and a part of stderr.
const CASES: &[(&[&str], bool, i32, &str)] = &[
    (
        &["echo hi; touch ran; exit 3"],
        true,
        74,
        "cannot write to stdout",
    ),
    (
        &["--json", "echo hi; touch ran; exit 3"],
        true,
        74,
        "cannot write to stdout",
    ),
    (
        &["--stream", "touch ran; echo 1; sleep 0.3; echo 2; exit 5"],
        true,
        74,
        "cannot write to stdout",
    ),
    (&[END_SUPERVISOR], false, 70, ""),
    (&["touch ran; exit 3"], false, 3, ""),
];

#[test]
fn exit_code_distinguishes_started_and_unstarted_calls() -> anyhow::Result<()> {
    for (words, full, code, printed) in CASES {
        let world = World::new()?;
        let mut command = world.command(product::agent_bash()?);
        command.arg("run").args(*words).stdin(Stdio::null());
        let stdout = if *full { "/dev/full" } else { "/dev/null" };
        let stdout = File::options().write(true).open(stdout)?;
        let ended = command.stdout(stdout).output()?;
        let stderr = String::from_utf8_lossy(&ended.stderr);
        ensure!(ended.status.code() == Some(*code), "{words:?}: {ended:?}");
        ensure!(stderr.contains(printed), "{words:?}: {stderr}");
        ensure!(world.cwd().join("ran").exists(), "{words:?}");
    }
    Ok(())
}

#[test]
fn call_that_never_started_exits_with_125_and_starts_no_supervisor() -> anyhow::Result<()> {
    let world = World::new()?;
    for (words, code) in [
        (&["--cwd", "missing", "true"][..], 125),
        (&["git add -A"], 125),
        (&["--safe-mode", "strict", "make"], 125),
        (&[" "], 125),
        // Control: a call that runs has started a supervisor.
        (&["true"], 0),
        (&["--cwd", ".", "true"], 0),
    ] {
        let mut command = world.command(product::agent_bash()?);
        command
            .arg("run")
            .args(words)
            .env("AGENT_BASH_LOG", "debug");
        let ran = product::run(command, None)?;
        ensure!(ran.code == code, "{words:?}: {ran:?}");
        let started = ran.stderr.contains("a supervisor was started");
        ensure!(started == (code == 0), "{words:?}: {ran:?}");
    }
    Ok(())
}

/// With this descriptor limit the binary either runs or names the limit. It never panics.
#[test]
fn descriptor_limit_is_named_in_the_error() -> anyhow::Result<()> {
    let world = World::new()?;
    let (mut ran, mut refused) = (0, 0);
    for descriptors in 4..30 {
        for words in ["run 'echo hi'", "jobs list"] {
            let script = format!(
                "ulimit -n {descriptors}; exec '{}' {words}",
                product::agent_bash()?.display()
            );
            let mut command = world.command("/bin/bash");
            // The descriptors that these tests inherited count, too.
            command.args(["-c", &script]).stdin(Stdio::null());
            let ended = command.output()?;
            let [stdout, stderr] =
                [&ended.stdout, &ended.stderr].map(|text| String::from_utf8_lossy(text));
            match ended.status.code() {
                Some(0) => ran += 1,
                Some(125) if stderr.contains("ulimit -n") || stdout.contains("ulimit -n") => {
                    refused += 1;
                }
                _ => anyhow::bail!("{descriptors}: {words}: {ended:?}"),
            }
        }
    }
    ensure!(ran > 4 && refused > 4, "{ran} {refused}");
    Ok(())
}
