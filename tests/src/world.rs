//! A world of a test's own: home, temporary and state directory, and an environment that holds nothing else.
//!
//! Nothing of the machine's user reaches a test through it (no rc file, no git configuration, no locale), and nothing
//! a test does reaches the user. Everything started in a world carries its mark, by which its census finds it.

use crate::census::{Census, Leftovers};
use crate::poll;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The variable that carries a world's mark.
pub const MARK: &str = "AGENT_BASH_TEST_RUN";

/// A place for one test.
#[derive(Debug)]
pub struct World {
    directory: TempDir,
    root: PathBuf,
    census: Census,
}

impl World {
    /// A new, empty world below the system's temporary directory.
    ///
    /// # Errors
    /// It could not be made.
    pub fn new() -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("agent-bash-test-")
            .tempdir()
            .context("no temporary directory")?;
        // As `pwd -P` would say it: tests compare it with what commands print.
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
        world.census.watch_place(&world.root);
        world.census.watch_files(&world.temp());
        Ok(world)
    }

    /// Makes `program` callable by its file name.
    ///
    /// # Errors
    /// The link could not be made.
    pub fn with_program(self, program: &Path) -> Result<Self> {
        let name = program.file_name().context("a program has a file name")?;
        std::os::unix::fs::symlink(program, self.programs().join(name))
            .with_context(|| format!("linking {}", program.display()))?;
        Ok(self)
    }

    /// Makes a script callable by this name, in place of what was.
    ///
    /// # Errors
    /// It could not be written.
    pub fn script(&self, name: &str, text: &str) -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.programs().join(name);
        let new = path.with_extension("new");
        std::fs::write(&new, format!("#!/bin/sh\n{text}"))?;
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755))?;
        Ok(std::fs::rename(new, path)?)
    }

    /// What the user's home would be.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Where commands run; empty at first.
    pub fn cwd(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The product's state directory; made by the product when it needs it.
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// `TMPDIR`. The census finds what is left in it.
    pub fn temp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    fn programs(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The text that is in the environment of everything started here and nowhere else.
    pub fn mark(&self) -> String {
        format!("{MARK}={}", self.root.display())
    }

    /// The whole environment of what is started here.
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

    /// A command of this world: its environment, its working directory, nothing to read.
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

    /// What is left at the first look that finds no process, at the latest after `patience`. One look for both: a host
    /// whose shells are let go may just be starting one, which comes to light and ends a moment later.
    pub fn settle(&self, patience: Duration) -> Leftovers {
        poll::until(patience, || {
            let left = self.left(Duration::ZERO);
            left.processes.is_empty().then_some(left)
        })
        .unwrap_or_else(|| self.left(Duration::ZERO))
    }

    /// What is left of it, once nothing more goes away by itself within `patience`.
    pub fn left(&self, patience: Duration) -> Leftovers {
        self.census.end(patience)
    }

    /// Ends what is left. Answers how many processes that were.
    pub fn sweep(&self) -> usize {
        self.census.kill_leftovers()
    }

    /// Ends the world: what was left of it, which then is gone.
    pub fn end(self, patience: Duration) -> Leftovers {
        let left = self.left(patience);
        // Removing what somebody still writes to would only hide them.
        self.sweep();
        left
    }

    /// Ends the world.
    ///
    /// # Panics
    /// Something was left of it after `patience`.
    pub fn assert_nothing_left(self, patience: Duration) {
        let left = self.end(patience);
        assert!(left.is_empty(), "left behind:\n{left}");
    }

    /// Keeps the directories after the end, for looking at a failure. Answers where they are.
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
