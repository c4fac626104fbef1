//! Runs `cargo test`, and repeats the few tests that failed.
//!
//! The suite runs thousands of tests against real processes, on machines with other work. A test
//! that fails once and then passes alone is a fault of the test, or a rare one of the product. It
//! is named at the end as flaky, and does not hide the result of all others.

use crate::say;
use anyhow::{Context as _, Result};
use rustix::process::{Pid, WaitOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// With more failures than this, nothing is repeated: the cause is not a rare race.
const MAX_REPEATED: usize = 3;

/// Time limit for the rest of the output after the end of `cargo`. A process that a test left
/// behind may hold the pipes.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(5);

/// The text before the path of the directory of a case of the conformance kit that failed.
const KEPT_WORLD: &str = "its world was kept: ";

/// The tests that failed in one run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Failures {
    /// Their names, as `--exact` takes them.
    names: Vec<String>,
    /// The options that select their targets, for example `--test it`.
    targets: Vec<String>,
    /// True if a program ended without its list, for example by a signal.
    has_unknown: bool,
}

/// Runs the tests as init would. Returns true if all tests passed, at the latest when they were
/// repeated.
pub(crate) fn run(mut tests: Command) -> Result<bool> {
    let (passed, output) = run_as_init(&mut tests)?;
    if passed {
        return Ok(true);
    }
    let failures = failures(&output);
    if failures.has_unknown || !(1..=MAX_REPEATED).contains(&failures.names.len()) {
        return Ok(false);
    }
    say(&format!("\n   repeated: {}", failures.names.join(", ")));
    // The repeated test makes a new one, and the census counts what is left.
    for world in output.lines().filter_map(|it| it.split_once(KEPT_WORLD)) {
        std::fs::remove_dir_all(world.1).with_context(|| format!("cannot remove {}", world.1))?;
    }
    for name in &failures.names {
        if !run_as_init(&mut one_test(&tests, &failures.targets, name))?.0 {
            return Ok(false);
        }
    }
    say(&format!(
        "   flaky, passed when repeated: {}",
        failures.names.join(", ")
    ));
    Ok(true)
}

/// Returns the command `tests` for one of its tests. It names the same packages, so that cargo
/// compiles nothing anew.
#[expect(
    clippy::disallowed_methods,
    reason = "a copy of a command that starts the suite; std has no other way to copy one"
)]
fn one_test(tests: &Command, targets: &[String], name: &str) -> Command {
    let mut command = Command::new(tests.get_program());
    command.args(tests.get_args().take_while(|it| *it != "--"));
    command.args(targets);
    command.args(["--", "--include-ignored", "--exact", name]);
    for (name, value) in tests.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(directory) = tests.get_current_dir() {
        command.current_dir(directory);
    }
    command
}

/// Reads the failures from the output of `cargo test`: the lists of libtest below `failures:`, and
/// the targets in cargo's own errors.
fn failures(output: &str) -> Failures {
    let mut found = Failures::default();
    let mut is_list = false;
    let mut programs = 0;
    let mut lists = 0;
    for line in output.lines() {
        if let Some((_, options)) = line.split_once("to rerun pass `") {
            programs += 1;
            let options = options.trim_end_matches('`').split(' ');
            // `-p NAME` comes first.
            let target: Vec<_> = options.skip(2).map(str::to_owned).collect();
            if !target.is_empty() && !found.targets.ends_with(&target) {
                found.targets.extend(target);
            }
        }
        lists += usize::from(line.starts_with("test result: FAILED"));
        is_list = line == "failures:" || (is_list && line.starts_with("    "));
        if is_list && line != "failures:" {
            found.names.push(line.trim_start().to_owned());
        }
    }
    found.has_unknown = programs != lists;
    found
}

/// Runs `command` and reaps all children that are reparented to this process, as init does. Without
/// this, a test that checks whether a process has exited would find a zombie. Returns true if the
/// command succeeded, and its output, which is also shown.
fn run_as_init(command: &mut Command) -> Result<(bool, String)> {
    // The loop below collects the command's exit status, as it does for every other child.
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let stdout = child.stdout.take().context("stdout is a pipe")?;
    let stderr = child.stderr.take().context("stderr is a pipe")?;
    let outputs = [
        shown(stdout, std::io::stdout()),
        shown(stderr, std::io::stderr()),
    ];
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if Some(ended) == pid => {
                let output = outputs.map(|it| all_of(&it)).concat();
                return Ok((status.exit_status() == Some(0), output));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("waiting for the tests"),
        }
    }
}

/// Copies a stream to this process's own, and hands on the pieces.
fn shown(
    mut stream: impl Read + Send + 'static,
    mut own: impl Write + Send + 'static,
) -> Receiver<Vec<u8>> {
    let (sender, pieces) = channel();
    thread::spawn(move || {
        let mut piece = [0; 8192];
        while let Ok(size @ 1..) = stream.read(&mut piece) {
            let written = own.write_all(&piece[..size]).and_then(|()| own.flush());
            if written.is_err() || sender.send(piece[..size].to_vec()).is_err() {
                break;
            }
        }
    });
    pieces
}

/// Returns what was read until the end of the stream or of the time limit.
fn all_of(pieces: &Receiver<Vec<u8>>) -> String {
    let mut bytes = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(OUTPUT_TIMEOUT) {
        bytes.extend(piece);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_targets_are_read_from_the_output() {
        let list = "\nfailures:\n    room::first\n    src/lib.rs - Type (line 3)\n\ntest result: FAILED.\n";
        let output = "...\nroom::first --- FAILED\n\nfailures:\n\n---- room::first stdout ----\n    indented\n";
        let program = "error: test failed, to rerun pass `-p package --test it`\n";
        let found = failures(&[output, list, program].concat());
        assert_eq!(found.names, ["room::first", "src/lib.rs - Type (line 3)"]);
        assert_eq!(found.targets, ["--test", "it"]);
        assert!(!found.has_unknown);
        let crashed = "error: test failed, to rerun pass `-p package --lib`\n";
        let found = failures(&[output, list, program, crashed].concat());
        assert!(found.has_unknown);
        assert_eq!(failures("test result: ok"), Failures::default());
    }
}
