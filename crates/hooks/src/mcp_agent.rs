//! The agents that can start `agent-bash mcp`, and the entries in their files of MCP servers.

use super::agent::{Agent, SettingsPath};
use super::json_form::JsonForm;

/// An agent that starts MCP servers.
#[derive(Debug)]
pub struct McpAgent {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// The path of the user's file with MCP servers.
    pub(crate) settings: SettingsPath,
    /// The form of the entry.
    pub(crate) form: McpForm,
}

impl McpAgent {
    /// The agent of this hook, with its file of MCP servers.
    pub(crate) const fn of(hook: &Agent, settings: SettingsPath, form: McpForm) -> Self {
        Self {
            name: hook.name,
            settings,
            form,
        }
    }
}

/// The form of an entry for an MCP server.
#[derive(Debug)]
pub(crate) enum McpForm {
    /// A member of nested objects in a JSON file.
    Json {
        /// The form of the file.
        json: JsonForm,
        /// The member names from the root to the entry.
        keys: &'static [&'static str],
        /// The entry, in which `PROGRAM` is replaced by the program's path as a JSON string.
        entry: &'static str,
    },
    /// A table `[mcp_servers.agent-bash]` in a TOML file.
    Toml,
    /// A table `[[mcp_servers]]` in a TOML file, with these lines before the usual ones.
    TomlList(&'static str),
}
