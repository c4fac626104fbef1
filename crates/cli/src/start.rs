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

/// What the command line says of settings; what is not said is theirs.
#[derive(Debug, Default)]
pub(crate) struct Chosen<'a> {
    /// `--profile`.
    pub(crate) profile: Option<ProfileArg>,
    /// `--safe-mode`.
    pub(crate) safe_mode: Option<SafeLevelArg>,
    /// `--tools`.
    pub(crate) tools: Option<&'a [String]>,
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
    pub(crate) fn settings(&self, chosen: &Chosen<'_>) -> anyhow::Result<Loaded> {
        let usage = |error: SettingsError| Usage(error.to_string());
        let mut loaded = settings::load(&self.host).map_err(usage)?;
        let tools = chosen.tools.map(|tools| tools.join(","));
        for (key, text, option) in [
            ("profile", chosen.profile.map(ProfileArg::name), "--profile"),
            (
                "safe_mode.level",
                chosen.safe_mode.map(SafeLevelArg::name),
                "--safe-mode",
            ),
            ("interceptor.tools", tools.as_deref(), "--tools"),
        ] {
            if let Some(text) = text {
                loaded.set(key, text, option).map_err(usage)?;
            }
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
