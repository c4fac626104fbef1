//! An isolated world for a test: home, temporary and state directory, and an otherwise empty
//! environment.
//!
//! The world isolates a test from the machine's user, in both directions: it has no rc file, no git
//! configuration, no locale. Every process started in a world carries its mark, by which the census
//! finds it.

use crate::census::{Census, Leftovers};
use crate::poll;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The environment variable with a world's mark.
pub const MARK: &str = "AGENT_BASH_TEST_RUN";

/// The isolated directories of one test.
#[derive(Debug)]
pub struct World {
    directory: TempDir,
    root: PathBuf,
    census: Census,
}

impl World {
    /// Creates an empty world below the system's temporary directory.
    ///
    /// # Errors
    /// The directories could not be created.
    pub fn new() -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("agent-bash-test-")
            .tempdir()
            .context("no temporary directory")?;
        // Canonical, as tests compare it with the output of commands.
        let root = directory.path().canonicalize()?;
        let mut world = Self {
            directory,
            root,
            census: Census::new(),
        };
        for path in [world.home(), world.cwd(), world.temp(), world.programs()] {
            std::fs::create_dir(&path).with_context(|| format!("making {}", path.display()))?;
        }
        world.census.watch_mark(world.mark());
        world.census.watch_directory(&world.root);
        world.census.watch_files(&world.temp());
        Ok(world)
    }

    /// Puts `program` on the PATH under its file name.
    ///
    /// # Errors
    /// The link could not be created.
    pub fn with_program(self, program: &Path) -> Result<Self> {
        let name = program.file_name().context("a program has a file name")?;
        std::os::unix::fs::symlink(program, self.programs().join(name))
            .with_context(|| format!("linking {}", program.display()))?;
        Ok(self)
    }

    /// Puts a script with this name on the PATH, replacing an existing one.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn script(&self, name: &str, text: &str) -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.programs().join(name);
        let new = path.with_extension("new");
        std::fs::write(&new, format!("#!/bin/sh\n{text}"))?;
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755))?;
        Ok(std::fs::rename(new, path)?)
    }

    /// The user's home directory.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The working directory of commands; initially empty.
    pub fn cwd(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The product's state directory; created by the product when needed.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// `TMPDIR`. The census reports files left in it.
    pub fn temp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The path of a program that the test put on the PATH.
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs().join(name)
    }

    fn programs(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// A text that only the processes of this world have in their environment.
    pub fn mark(&self) -> String {
        format!("{MARK}={}", self.root.display())
    }

    /// Returns the complete environment of the world's processes.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.display().to_string();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", text(self.programs()));
        [
            (MARK, text(self.root.clone())),
            ("HOME", text(self.home())),
            ("PATH", path),
            ("TMPDIR", text(self.temp())),
            ("LANG", "C.UTF-8".to_owned()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("USER", "tester".to_owned()),
            ("SHELL", "/bin/bash".to_owned()),
            ("AGENT_BASH_STATE_DIR", text(self.state())),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    /// Returns a command with this world's environment and working directory, with empty stdin.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests start the product as its users do"
    )]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment())
            .current_dir(self.cwd())
            .stdin(Stdio::null());
        command
    }

    /// Returns the leftovers at the first check that finds no process, or at the latest after
    /// `patience`. Processes and files are checked together: a host that is ending its warm shells
    /// may still start one, which ends a moment later.
    pub fn settle(&self, patience: Duration) -> Leftovers {
        self.leftovers_once(patience, |left| left.processes.is_empty())
    }

    /// Returns the leftovers as soon as `is_settled` is true for them, or after `patience`.
    pub fn leftovers_once(
        &self,
        patience: Duration,
        is_settled: impl Fn(&Leftovers) -> bool,
    ) -> Leftovers {
        poll::until(patience, || {
            let left = self.leftovers(Duration::ZERO);
            is_settled(&left).then_some(left)
        })
        .unwrap_or_else(|| self.leftovers(Duration::ZERO))
    }

    /// Returns the leftovers once no more of them disappear within `patience`.
    pub fn leftovers(&self, patience: Duration) -> Leftovers {
        self.census.end(patience)
    }

    /// Kills leftover processes. Returns their number.
    pub fn sweep(&self) -> usize {
        self.census.kill_leftovers()
    }

    /// Ends the world. Returns the leftovers, which are removed.
    pub fn end(self, patience: Duration) -> Leftovers {
        let left = self.leftovers(patience);
        // Removing files that a process still writes to would only hide them.
        self.sweep();
        left
    }

    /// Ends the world.
    ///
    /// # Panics
    /// Panics if a process, file or descriptor is left after `patience`.
    pub fn assert_nothing_left(self, patience: Duration) {
        let left = self.end(patience);
        assert!(left.is_empty(), "left behind:\n{left}");
    }

    /// Keeps the directories, for examining a failure. Returns their path.
    pub fn keep(&mut self) -> &Path {
        self.directory.disable_cleanup(true);
        &self.root
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.sweep();
    }
}
