//! Runs the binary in a temporary home directory.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and starts the program it tests"
)]

use std::path::Path;
use std::process::{Command, Stdio};
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
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }

    /// Returns the program with these arguments, in this home, not started yet.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-bash"));
        command
            .args(words)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("TMPDIR", self.path())
            .env("AGENT_BASH_STATE_DIR", self.path().join("state"))
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program with these arguments.
    pub(crate) fn run(&self, words: &[&str]) -> Run {
        self.run_with(words, &[])
    }

    /// Runs the program with these arguments and environment variables.
    pub(crate) fn run_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Run {
        let mut command = self.command(words);
        let output = command
            .envs(variables.iter().copied())
            .output()
            .expect("the binary starts");
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}
