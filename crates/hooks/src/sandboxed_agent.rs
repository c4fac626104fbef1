//! The files and hosts that an agent needs if the agent itself runs in a sandbox.

use crate::agent::named_directory;
use agent_bash::core::sandbox::Network;
use agent_bash::settings::Settings;
use agent_bash::{HostContext, SandboxSettings};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// An agent that can run in a sandbox.
#[derive(Debug)]
pub struct SandboxedAgent {
    /// The files that the agent writes at each use: its login, its settings, its conversations.
    pub(crate) state: &'static [AgentState],
    /// Entries of `sandbox.network` for the agent's models and login.
    pub(crate) hosts: &'static [&'static str],
    /// The environment variable with the directory of the agent's temporary files. `None` if the
    /// agent uses `TMPDIR`.
    pub(crate) temp_variable: Option<&'static str>,
}

/// A directory or a file of an agent.
#[derive(Debug)]
pub(crate) struct AgentState {
    /// The environment variable with a directory that replaces the user's home. Empty if the agent
    /// has no such variable.
    pub(crate) variable: &'static str,
    /// The path below the variable's directory; may be empty. `None` if the agent does not use this
    /// path while the variable is set.
    pub(crate) below_variable: Option<&'static str>,
    /// The path below the user's home.
    pub(crate) below_home: &'static str,
    /// The text of a new file; `None` for a directory.
    pub(crate) file: Option<&'static str>,
    /// Files in the directory that are programs or name programs to run, and that the agent need
    /// not write.
    pub(crate) protected: &'static [&'static str],
}

impl AgentState {
    /// A directory below the user's home, or named by a variable.
    pub(crate) const fn directory(variable: &'static str, below_home: &'static str) -> Self {
        Self {
            variable,
            below_variable: Some(""),
            below_home,
            file: None,
            protected: &[],
        }
    }

    /// Returns the path on this host; `None` if the agent does not use it.
    fn path(&self, host: &HostContext) -> Option<PathBuf> {
        match named_directory(self.variable, host) {
            Some(directory) => match self.below_variable? {
                "" => Some(directory),
                below => Some(directory.join(below)),
            },
            None => Some(host.home.as_ref()?.join(self.below_home)),
        }
    }

    /// Creates the directory or file if it does not exist, readable by the user only: a sandbox
    /// cannot make a missing path writable.
    fn create(&self, path: &Path) -> io::Result<()> {
        let Some(text) = self.file else {
            return DirBuilder::new().recursive(true).mode(0o700).create(path);
        };
        let mut options = OpenOptions::new();
        match options.write(true).create_new(true).mode(0o600).open(path) {
            Ok(mut file) => file.write_all(text.as_bytes()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl SandboxedAgent {
    /// Adds the paths of the agent's files to the settings. Does not resolve links in the paths, so
    /// that the sandbox can refuse a link that a call could replace. Creates the files that do not
    /// exist. Temporary files are in the directory `tmp` of the first state directory.
    ///
    /// # Errors
    /// The path that cannot be created, and why.
    pub fn add_files(&self, settings: &mut Settings, host: &HostContext) -> io::Result<()> {
        let sandbox = &mut settings.sandbox;
        let mut temp_variable = self.temp_variable;
        for state in self.state {
            let Some(path) = state.path(host) else {
                continue;
            };
            state.create(&path).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })?;
            if let Some(variable) = temp_variable.take() {
                let directory = path.join("tmp").to_string_lossy().into_owned();
                settings.set.insert(variable.to_owned(), directory);
            }
            let protected = state.protected.iter().map(|name| path.join(name));
            sandbox.protected.extend(protected);
            sandbox.readable.push(path.clone());
            sandbox.writable.push(path);
        }
        Ok(())
    }

    /// Adds the agent's hosts to the settings, unless the network is `on`.
    pub fn add_hosts(&self, sandbox: &mut SandboxSettings) {
        if sandbox.network != Network::On {
            sandbox.network = Network::Hosts;
            let hosts = self.hosts.iter().map(|host| (*host).to_owned());
            sandbox.hosts.extend(hosts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::sandboxed_agent;
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    fn host(home: &Path, env: &[(&str, &Path)]) -> HostContext {
        let env: BTreeMap<OsString, OsString> = env
            .iter()
            .map(|(name, path)| (name.into(), path.into()))
            .collect();
        let mut host = HostContext::capture(home.to_owned());
        host.home = Some(home.to_owned());
        host.env = Arc::new(env);
        host
    }

    #[test]
    fn files_of_an_agent_are_created_writable_and_readable() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let mut settings = Settings::default();
        let claude = sandboxed_agent("claude").unwrap();
        claude.add_files(&mut settings, &host(&home, &[])).unwrap();
        claude.add_hosts(&mut settings.sandbox);
        let sandbox = settings.sandbox;
        let files = [home.join(".claude"), home.join(".claude.json")];
        assert_eq!(sandbox.writable, files);
        assert_eq!(sandbox.readable, files);
        for name in ["settings.json", "hooks"] {
            let path = home.join(".claude").join(name);
            assert!(sandbox.protected.contains(&path), "{name}");
        }
        assert_eq!(fs::read_to_string(&files[1]).unwrap(), "{}\n");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(files.map(|path| mode(&path)), [0o700, 0o600]);
        assert_eq!(sandbox.network, Network::Hosts);
        assert!(sandbox.hosts.iter().any(|host| host == "api.anthropic.com"));
    }

    #[test]
    fn files_that_run_programs_are_protected() {
        for (agent, names) in [
            ("codex", &[".codex/hooks.json", ".codex/.env"][..]),
            ("copilot", &[".copilot/lsp-config.json"]),
            ("gemini", &[".gemini/.env"]),
            (
                "opencode",
                &[".config/opencode/config.json", ".config/opencode/tool"],
            ),
        ] {
            let home = tempfile::tempdir().unwrap();
            let home = home.path().canonicalize().unwrap();
            let mut settings = Settings::default();
            let agent = sandboxed_agent(agent).unwrap();
            agent.add_files(&mut settings, &host(&home, &[])).unwrap();
            for name in names {
                let path = home.join(name);
                assert!(settings.sandbox.protected.contains(&path), "{name}");
            }
        }
    }

    #[test]
    fn variable_moves_the_files_and_existing_files_keep_their_text() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir(home.join("moved")).unwrap();
        fs::write(home.join("moved/.claude.json"), "{\"a\":1}").unwrap();
        let mut settings = Settings::default();
        settings.sandbox.network = Network::On;
        let moved = home.join("moved");
        let host = host(&home, &[("CLAUDE_CONFIG_DIR", &moved)]);
        let claude = sandboxed_agent("claude").unwrap();
        claude.add_files(&mut settings, &host).unwrap();
        claude.add_hosts(&mut settings.sandbox);
        let temp = settings.set.get("CLAUDE_CODE_TMPDIR").unwrap();
        assert_eq!(Path::new(temp), moved.join("tmp"));
        let sandbox = settings.sandbox;
        assert_eq!(sandbox.writable, std::slice::from_ref(&moved));
        let text = fs::read_to_string(moved.join(".claude.json")).unwrap();
        assert_eq!(text, "{\"a\":1}");
        assert!(!home.join(".claude.json").exists());
        assert_eq!(sandbox.network, Network::On);
    }
}
