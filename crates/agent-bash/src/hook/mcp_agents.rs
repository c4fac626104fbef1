//! The table of the agents that can start `agent-bash mcp`, and of the files with their MCP
//! servers.

use super::agent::SettingsPath;
use super::agents::{CODEX, OPENCODE_CONFIG, same_directory};
use super::install::json::{COMMENTS, JsonForm, LENIENT, STRICT};

/// An agent that starts MCP servers.
#[derive(Debug)]
pub struct McpAgent {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// The path of the user's file with MCP servers.
    pub(in crate::hook) settings: SettingsPath,
    /// The form of the entry.
    pub(in crate::hook) form: McpForm,
}

/// The form of an entry for an MCP server.
#[derive(Debug)]
pub(in crate::hook) enum McpForm {
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
}

/// Expands to the form of an entry of `mcpServers`, with these members before the usual members.
macro_rules! server {
    ($json:expr, $more:literal) => {
        McpForm::Json {
            json: $json,
            keys: &["mcpServers", "agent-bash"],
            entry: concat!(
                "{\n",
                $more,
                "  \"command\": PROGRAM,\n  \"args\": [\"mcp\"]\n}"
            ),
        }
    };
}

/// All supported agents, in the order of their names.
pub const MCP_AGENTS: [&McpAgent; 12] = [
    // The file that `claude mcp add --scope user` writes.
    &McpAgent {
        name: "claude-code",
        settings: same_directory("CLAUDE_CONFIG_DIR", "", ".claude.json"),
        form: server!(STRICT, "  \"type\": \"stdio\",\n"),
    },
    &McpAgent {
        name: "codex",
        settings: SettingsPath {
            file: "config.toml",
            ..CODEX.settings
        },
        form: McpForm::Toml,
    },
    &McpAgent {
        name: "copilot",
        settings: same_directory("COPILOT_HOME", ".copilot", "mcp-config.json"),
        form: McpForm::Json {
            json: STRICT,
            keys: &["mcpServers", "agent-bash"],
            entry: "{\n  \"type\": \"local\",\n  \"command\": PROGRAM,\n  \"args\": [\"mcp\"],\n  \"tools\": [\"*\"]\n}",
        },
    },
    &McpAgent {
        name: "crush",
        settings: same_directory("CRUSH_GLOBAL_CONFIG", ".config/crush", "crush.json"),
        form: McpForm::Json {
            json: STRICT,
            keys: &["mcp", "agent-bash"],
            entry: "{\n  \"type\": \"stdio\",\n  \"command\": PROGRAM,\n  \"args\": [\"mcp\"]\n}",
        },
    },
    &McpAgent {
        name: "cursor",
        settings: same_directory("", ".cursor", "mcp.json"),
        form: server!(STRICT, ""),
    },
    &McpAgent {
        name: "droid",
        settings: same_directory("", ".factory", "mcp.json"),
        form: server!(STRICT, "  \"type\": \"stdio\",\n"),
    },
    &McpAgent {
        name: "gemini-cli",
        settings: SettingsPath {
            below_variable: ".gemini",
            ..same_directory("GEMINI_CLI_HOME", ".gemini", "settings.json")
        },
        form: server!(COMMENTS, ""),
    },
    &McpAgent {
        name: "kimi",
        settings: same_directory("KIMI_CODE_HOME", ".kimi-code", "mcp.json"),
        form: server!(STRICT, ""),
    },
    &McpAgent {
        name: "kiro",
        settings: same_directory("", ".kiro", "settings/mcp.json"),
        form: server!(STRICT, ""),
    },
    &McpAgent {
        name: "opencode",
        settings: OPENCODE_CONFIG,
        form: McpForm::Json {
            json: LENIENT,
            keys: &["mcp", "agent-bash"],
            entry: "{\n  \"type\": \"local\",\n  \"command\": [PROGRAM, \"mcp\"],\n  \"enabled\": true\n}",
        },
    },
    &McpAgent {
        name: "qwen",
        settings: same_directory("", ".qwen", "settings.json"),
        form: server!(COMMENTS, ""),
    },
    &McpAgent {
        name: "windsurf",
        settings: same_directory("", ".codeium/windsurf", "mcp_config.json"),
        form: server!(STRICT, ""),
    },
];

/// Finds an agent by its name on the command line.
pub fn mcp_agent(name: &str) -> Option<&'static McpAgent> {
    MCP_AGENTS.into_iter().find(|agent| agent.name == name)
}
