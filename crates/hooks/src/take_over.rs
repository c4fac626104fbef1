//! The agents whose shell calls can run through `agent-bash shell`, and their configuration.

use super::agent::SettingsPath;
use super::json_form::JsonForm;
use agent_bash::HostContext;
use std::ffi::OsString;
use std::path::PathBuf;

/// The directory of the links to agent-bash, below the user's data directory.
const LINKS_DIRECTORY: &str = "agent-bash/links";

/// How an agent finds its shell.
#[derive(Debug)]
pub enum ShellWay {
    /// A setting names the shell.
    Setting(ShellSetting),
    /// The agent starts the first `bash` in `PATH`.
    SearchPath,
    /// The agent always starts this program. Only a hook can change the text of a command.
    Fixed(&'static str),
}

/// The setting that names an agent's shell.
#[derive(Debug)]
pub struct ShellSetting {
    /// The agent's name.
    pub(crate) agent: &'static str,
    /// The path of the file with the agent's setting.
    pub(crate) settings: SettingsPath,
    /// The form of the file.
    pub(crate) json: JsonForm,
    /// The member names from the root to the setting.
    pub(crate) keys: &'static [&'static str],
    /// The setting's only member, whose value is the shell's path. `None` if the setting itself is
    /// the path.
    pub(crate) member: Option<&'static str>,
    /// True if the agent starts only tasks by this shell. Its other commands do not go through
    /// agent-bash.
    pub is_for_tasks: bool,
    /// The link that the setting names.
    pub link: ShellLink,
    /// A hint for the user after the installation.
    pub install_hint: &'static str,
}

/// A link to agent-bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellLink {
    /// A link that stands in for bash, with the same arguments.
    Bash,
    /// A link that takes a script as its only argument.
    Prefix,
}

impl ShellLink {
    /// Returns the file name of the link.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Prefix => "agent-bash-shell",
        }
    }

    /// Returns the path of the link; `None` if no home directory is known.
    pub fn path(self, host: &HostContext) -> Option<PathBuf> {
        Some(link_directory(host)?.join(self.name()))
    }
}

impl ShellSetting {
    /// Returns the last components of the link's path, by which a link of agent-bash is recognised.
    pub(crate) fn link_end(&self) -> PathBuf {
        PathBuf::from(LINKS_DIRECTORY).join(self.link.name())
    }
}

/// Returns the directory of the links to agent-bash: `agent-bash/links` in `$XDG_DATA_HOME`, else
/// in `~/.local/share`. `None` if no home directory is known.
pub fn link_directory(host: &HostContext) -> Option<PathBuf> {
    let named = host.env.get(&OsString::from("XDG_DATA_HOME"));
    let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
    let data = named.or_else(|| Some(host.home.as_ref()?.join(".local/share")))?;
    Some(data.join(LINKS_DIRECTORY))
}
