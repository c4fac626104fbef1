//! The host's context, which a host passes to a `BashTool` once, before the first call. Lower
//! layers never read the environment or the working directory of the process themselves.

use agent_bash_policy::ProtectedProcess;
use agent_bash_process::{Ancestor, ancestors};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The host's context: plain values, captured once by the program that embeds this library.
#[derive(Debug, Clone)]
pub struct HostContext {
    /// The conversation's working directory; absolute.
    pub cwd: PathBuf,
    /// The user's home directory, for `~` and for the rules that protect it.
    pub home: Option<PathBuf>,
    /// The host's environment, unchanged. `agent-bash-process` decides which variables a command
    /// gets.
    pub env: Arc<BTreeMap<OsString, OsString>>,
    /// The names of the model's other tools; `None` if the host does not know them.
    pub tools: Option<Vec<String>>,
    /// This process and its ancestors, nearest first: for example the agent and the user's shell.
    pub processes: Arc<[Ancestor]>,
}

impl HostContext {
    /// Returns the context of the current process, with `cwd` as the working directory. Reads the
    /// environment and the process's ancestors once: later changes have no effect.
    pub fn capture(cwd: PathBuf) -> Self {
        let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        Self {
            cwd,
            home: Self::home_in(&env),
            env: Arc::new(env),
            tools: None,
            processes: ancestors().into(),
        }
    }

    /// Returns the home directory that these variables name. Ignores a relative path: it would
    /// depend on the working directory, so a project could contain the user's settings.
    pub fn home_in(env: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
        let home = env.get(&OsString::from("HOME")).map(PathBuf::from);
        home.filter(|home| home.is_absolute())
    }

    /// Returns the state directory: `$AGENT_BASH_STATE_DIR`, else `$XDG_STATE_HOME/agent-bash`,
    /// else `~/.local/state/agent-bash`. `None` without these variables and a home directory.
    /// Ignores relative paths, as the XDG base directory specification requires.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let absolute = |name: &str| {
            let value = self.env.get(&OsString::from(name))?;
            let path = PathBuf::from(value);
            path.is_absolute().then_some(path)
        };
        absolute("AGENT_BASH_STATE_DIR")
            .or_else(|| absolute("XDG_STATE_HOME").map(|dir| dir.join("agent-bash")))
            .or_else(|| Some(self.home.as_ref()?.join(".local/state/agent-bash")))
    }

    /// Returns the processes that no command may end by name.
    pub fn protected(&self) -> Arc<[ProtectedProcess]> {
        let processes = self.processes.iter();
        let protected = processes.map(|process| ProtectedProcess {
            name: process.name.clone(),
            command_line: process.command_line.clone(),
        });
        protected.collect()
    }

    /// Returns the path of the user's settings: `agent-bash/config.toml` in `$XDG_CONFIG_HOME`,
    /// else in `~/.config`.
    pub fn user_settings(&self) -> Option<PathBuf> {
        let named = self.env.get(&OsString::from("XDG_CONFIG_HOME"));
        let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
        let directory = named.or_else(|| Some(self.home.as_ref()?.join(".config")))?;
        Some(directory.join("agent-bash").join("config.toml"))
    }

    /// Returns the directory for temporary files: `$TMPDIR` if it is an absolute path, else `/tmp`.
    pub fn temp_dir(&self) -> PathBuf {
        let named = self.env.get(&OsString::from("TMPDIR")).map(PathBuf::from);
        let named = named.filter(|path| path.is_absolute());
        named.unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// Returns a context with this working directory, and without a home, an environment, tools and
    /// processes.
    pub fn bare(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            home: None,
            env: Arc::default(),
            tools: None,
            processes: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_home_does_not_count() {
        let home = |value: &str| HostContext::home_in(&[("HOME".into(), value.into())].into());
        assert_eq!(home("/h"), Some("/h".into()));
        assert_eq!((home("."), home("h"), home("")), (None, None, None));
    }

    #[test]
    fn state_dir_takes_the_first_absolute_variable_then_the_home() {
        for (vars, home, want) in [
            (
                &[("AGENT_BASH_STATE_DIR", "/s"), ("XDG_STATE_HOME", "/x")][..],
                Some("/h"),
                Some("/s"),
            ),
            (
                &[
                    ("AGENT_BASH_STATE_DIR", "relative"),
                    ("XDG_STATE_HOME", "/x"),
                ],
                Some("/h"),
                Some("/x/agent-bash"),
            ),
            (&[], Some("/h"), Some("/h/.local/state/agent-bash")),
            (&[], None, None),
        ] {
            let host = HostContext {
                home: home.map(PathBuf::from),
                env: Arc::new(vars.iter().map(|(k, v)| (k.into(), v.into())).collect()),
                ..HostContext::bare("/")
            };
            assert_eq!(host.state_dir(), want.map(PathBuf::from));
        }
    }
}
