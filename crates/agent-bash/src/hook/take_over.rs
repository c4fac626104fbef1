//! The table of the agents whose shell calls can run through `agent-bash shell`, and of their
//! configuration.

use super::agent::SettingsPath;
use super::agents::{CLAUDE_CODE, OPENCODE_CONFIG, same_directory};
use super::install::json::{JsonForm, LENIENT, STRICT};
use crate::HostContext;
use std::ffi::OsString;
use std::path::PathBuf;

/// The directory of the links to agent-bash, below the user's data directory.
const LINKS_DIRECTORY: &str = "agent-bash/links";

/// An agent with its own shell tool.
#[derive(Debug)]
pub struct ShellAgent {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// The version whose calls were recorded.
    pub recorded_with: &'static str,
    /// The way in which the agent finds its shell.
    pub way: ShellWay,
}

/// How an agent finds its shell.
#[derive(Debug)]
pub enum ShellWay {
    /// A setting names the shell.
    Setting(ShellSetting),
    /// The agent starts the first `bash` in `PATH`.
    SearchPath,
    /// The agent always starts the same program. Only a hook can change the text of a command.
    Fixed,
}

/// The setting that names an agent's shell.
#[derive(Debug)]
pub struct ShellSetting {
    /// The agent's name.
    pub(in crate::hook) agent: &'static str,
    /// The path of the file with the agent's setting.
    pub(in crate::hook) settings: SettingsPath,
    /// The form of the file.
    pub(in crate::hook) json: JsonForm,
    /// The member names from the root to the setting.
    pub(in crate::hook) keys: &'static [&'static str],
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
    pub(in crate::hook) fn link_end(&self) -> PathBuf {
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

/// All supported agents. VS Code is not listed: its agent types into an interactive shell, which
/// `agent-bash shell` leaves to bash.
pub const SHELL_AGENTS: [&ShellAgent; 7] = [
    &ShellAgent {
        name: "claude-code",
        recorded_with: "@anthropic-ai/claude-code 2.1.332",
        way: ShellWay::Setting(ShellSetting {
            agent: "claude-code",
            settings: CLAUDE_CODE.settings,
            json: STRICT,
            keys: &["env", "CLAUDE_CODE_SHELL_PREFIX"],
            link: ShellLink::Prefix,
            install_hint: "Claude Code reads the setting when it starts.",
        }),
    },
    &ShellAgent {
        name: "codex",
        recorded_with: "@openai/codex 0.171.0",
        way: ShellWay::Fixed,
    },
    &ShellAgent {
        name: "copilot",
        recorded_with: "@github/copilot 1.0.102",
        way: ShellWay::Fixed,
    },
    &ShellAgent {
        name: "gemini-cli",
        recorded_with: "@google/gemini-cli 0.61.0",
        way: ShellWay::SearchPath,
    },
    &ShellAgent {
        name: "opencode",
        recorded_with: "opencode-ai 1.18.33",
        way: ShellWay::Setting(ShellSetting {
            agent: "opencode",
            settings: OPENCODE_CONFIG,
            json: LENIENT,
            keys: &["shell"],
            link: ShellLink::Bash,
            install_hint: "opencode reads the setting when it starts.",
        }),
    },
    &ShellAgent {
        name: "pi",
        recorded_with: "@mariozechner/pi-coding-agent 0.73.1",
        way: ShellWay::Setting(ShellSetting {
            agent: "pi",
            settings: SettingsPath {
                below_project: Some(".pi"),
                ..same_directory("PI_CODING_AGENT_DIR", ".pi/agent", "settings.json")
            },
            json: STRICT,
            keys: &["shellPath"],
            link: ShellLink::Bash,
            install_hint: "pi reads the setting when it starts, or after /reload.",
        }),
    },
    &ShellAgent {
        name: "qwen",
        recorded_with: "@qwen-code/qwen-code 0.24.4",
        way: ShellWay::SearchPath,
    },
];

/// Finds an agent by its name on the command line.
pub fn shell_agent(name: &str) -> Option<&'static ShellAgent> {
    SHELL_AGENTS.into_iter().find(|agent| agent.name == name)
}
