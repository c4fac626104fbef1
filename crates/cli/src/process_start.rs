//! Directory and environment of this process at its start: read once, and passed to all commands.

use crate::args::{ChosenSettings, word};
use crate::usage::UsageError;
use agent_bash::HostContext;
use agent_bash::process::supervisor::Token;
use agent_bash::settings::{self, LoadedSettings, SettingsError};
use anyhow::Context;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The working directory, the environment, and the permission to start a supervisor.
#[derive(Debug)]
pub(crate) struct StartContext {
    /// Directory, environment, home.
    pub(crate) host: HostContext,
    /// Proof that this program may re-execute itself as a supervisor.
    pub(crate) token: Token,
}

impl StartContext {
    /// Captures the state of this process.
    ///
    /// # Errors
    /// The current directory cannot be determined. [`UsageError`]: the state directory is named by
    /// a relative path.
    pub(crate) fn of_this_process(token: Token) -> anyhow::Result<Self> {
        let mut host = HostContext::capture(PathBuf::from("/"));
        let named = host
            .env
            .get(&OsString::from("PWD"))
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        host.cwd = current_dir(named)?;
        check_state_dir(&host)?;
        Ok(Self { host, token })
    }

    /// Returns the user's settings for this directory, overridden by a command's options.
    ///
    /// # Errors
    /// A file or variable with an invalid setting; [`UsageError`].
    pub(crate) fn settings(&self, chosen: &ChosenSettings<'_>) -> anyhow::Result<LoadedSettings> {
        let usage = |error: SettingsError| UsageError(error.to_string());
        let mut loaded = settings::load(&self.host).map_err(usage)?;
        let tools = chosen.tools.map(|tools| tools.join(","));
        for (key, text, option) in [
            ("profile", chosen.profile.as_ref().map(word), "--profile"),
            (
                "safe_mode.level",
                chosen.safe_mode.as_ref().map(word),
                "--safe-mode",
            ),
            (
                "sandbox.level",
                chosen.sandbox.as_ref().map(word),
                "--sandbox",
            ),
            (
                "sandbox.network",
                chosen.network.map(str::to_owned),
                "--network",
            ),
            ("interceptor.tools", tools, "--tools"),
        ] {
            if let Some(text) = text {
                loaded.set(key, &text, option).map_err(usage)?;
            }
        }
        Ok(loaded)
    }

    /// Returns `dir` resolved against our directory. The pipeline checks whether it exists.
    pub(crate) fn cwd(&self, dir: Option<&Path>) -> PathBuf {
        dir.map_or_else(|| self.host.cwd.clone(), |dir| self.host.cwd.join(dir))
    }
}

/// Refuses a relative state directory: a later command in another directory would not find the
/// data.
fn check_state_dir(host: &HostContext) -> Result<(), UsageError> {
    const STATE_VARIABLE: &str = "AGENT_BASH_STATE_DIR";
    let named = host
        .env
        .get(&OsString::from(STATE_VARIABLE))
        .map(PathBuf::from);
    match named {
        Some(path) if path.is_relative() && !path.as_os_str().is_empty() => {
            Err(UsageError(format!(
                "{STATE_VARIABLE} is `{}`: write an absolute path, such as {}",
                path.display(),
                host.cwd.join(&path).display()
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the current directory by the name that the user's shell has for it (`PWD`, with symbolic
/// links), if both are the same directory. If the directory was removed, returns `PWD` all the
/// same: the pipeline then reports it as missing.
fn current_dir(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the process's own directory is read"
    )]
    let actual = std::env::current_dir();
    match (actual, named) {
        (Ok(actual), Some(named)) if is_same_directory(&actual, &named) => Ok(named),
        (Ok(actual), _) => Ok(actual),
        (Err(_), Some(named)) => Ok(named),
        (Err(error), None) => {
            Err(error).context("cannot tell the current directory; change to one that exists")
        }
    }
}

fn is_same_directory(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
