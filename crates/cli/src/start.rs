//! What this process was started with: read once, here, and passed down.

use crate::Usage;
use crate::args::{ProfileArg, SafeLevelArg};
use agent_bash::HostContext;
use agent_bash::process::supervisor::Token;
use agent_bash::settings::{self, Loaded, SettingsError};
use anyhow::Context;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The state of the process that the commands need.
#[derive(Debug)]
pub(crate) struct Start {
    /// Directory, environment, home.
    pub(crate) host: HostContext,
    /// Proof that this program may be started again as a supervisor.
    pub(crate) token: Token,
}

impl Start {
    /// Reads it.
    ///
    /// # Errors
    /// There is no current directory, and nothing says where it was.
    pub(crate) fn of_this_process(token: Token) -> anyhow::Result<Self> {
        let mut host = HostContext::capture(PathBuf::from("/"));
        let named = host
            .env
            .get(&OsString::from("PWD"))
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        host.cwd = current_dir(named)?;
        Ok(Self { host, token })
    }

    /// The settings of this user, here, with the options of a command.
    ///
    /// # Errors
    /// A file or variable that says what is no setting; [`Usage`].
    pub(crate) fn settings(
        &self,
        profile: Option<ProfileArg>,
        safe_mode: Option<SafeLevelArg>,
    ) -> anyhow::Result<Loaded> {
        let usage = |error: SettingsError| Usage(error.to_string());
        let mut loaded = settings::load(&self.host).map_err(usage)?;
        if let Some(profile) = profile {
            loaded
                .set("profile", profile.name(), "--profile")
                .map_err(usage)?;
        }
        if let Some(level) = safe_mode {
            loaded
                .set("safe_mode.level", level.name(), "--safe-mode")
                .map_err(usage)?;
        }
        Ok(loaded)
    }

    /// `dir` seen from here; absolute. Whether it exists is for the pipeline to say.
    pub(crate) fn cwd(&self, dir: Option<&Path>) -> PathBuf {
        match dir {
            Some(dir) => self.host.cwd.join(dir),
            None => self.host.cwd.clone(),
        }
    }
}

/// The directory by the name that the user's shell gives it (links and all) where that is the same directory. If it
/// was removed, its name still says best where we are: the pipeline then reports it as missing.
fn current_dir(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the process's own directory is read"
    )]
    let actual = std::env::current_dir();
    match (actual, named) {
        (Ok(actual), Some(named)) if is_same(&actual, &named) => Ok(named),
        (Ok(actual), _) => Ok(actual),
        (Err(_), Some(named)) => Ok(named),
        (Err(error), None) => {
            Err(error).context("cannot tell the current directory; change to one that exists")
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
