//! Runs the binary in a temporary home directory.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and starts the program it tests"
)]

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// An empty home; the program's state, settings and temporary files are below it.
pub(crate) struct Home(TempDir);

/// The exit code and output of a run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file into the home; creates its directories.
    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, content).expect("a file");
    }

    /// Creates a program of that name. Returns a `PATH` that contains it.
    pub(crate) fn path_with_program(&self, name: &str) -> String {
        self.write(&format!("bin/{name}"), "#!/bin/sh\n");
        let directory = self.path().join("bin");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.join(name), mode).expect("a program");
        format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display())
    }

    /// Returns any program in the environment of this home, not started yet.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("TMPDIR", self.path())
            .env("AGENT_BASH_STATE_DIR", self.path().join("state"))
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Returns `agent-bash` with these arguments, in this home, not started yet.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_agent-bash"));
        command.args(words);
        command
    }

    /// Runs the program with these arguments.
    pub(crate) fn run(&self, words: &[&str]) -> Run {
        Run::of(&mut self.command(words))
    }

    /// Runs the program with these arguments in a directory of the home.
    pub(crate) fn run_in(&self, directory: &str, words: &[&str]) -> Run {
        Run::of(self.command(words).current_dir(self.path().join(directory)))
    }

    /// Runs the program with these arguments and environment variables.
    pub(crate) fn run_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Run {
        Run::of(self.command(words).envs(variables.iter().copied()))
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::from(command.output().expect("the program starts"))
    }

    /// Runs a command with this text as its standard input.
    pub(crate) fn with_stdin(command: &mut Command, text: &str) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // A program that does not read its stdin may already have exited.
        let _ = stdin.write_all(text.as_bytes());
        drop(stdin);
        Self::from(child.wait_with_output().expect("it ends"))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}
