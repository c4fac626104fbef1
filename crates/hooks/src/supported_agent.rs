//! All that agent-bash knows of one agent.

use crate::agent::Agent;
use crate::mcp_agent::McpAgent;
use crate::sandboxed_agent::SandboxedAgent;
use crate::take_over::ShellWay;
use crate::wrapper_form::Wrapper;

/// An agent that agent-bash can be connected to.
#[derive(Debug)]
pub struct SupportedAgent {
    /// The hook before each command.
    pub hook: Agent,
    /// The entry of an MCP server; `None` if the agent's file of MCP servers is not known.
    pub mcp: Option<McpAgent>,
    /// How the agent finds its shell; `None` if the shell cannot be replaced.
    pub shell: Option<ShellWay>,
    /// The environment variable with the conversation's identifier, which the agent passes to its
    /// commands; `None` if the agent sets no such variable.
    pub(crate) conversation_variable: Option<&'static str>,
    /// The script in which the agent wraps the model's text; `None` if the agent passes the text
    /// unchanged, or its wrapper is not known.
    pub(crate) wrapper: Option<Wrapper>,
    /// The agent's files and hosts for a sandbox; `None` if they are not known.
    pub(crate) sandbox: Option<SandboxedAgent>,
}

impl SupportedAgent {
    /// Returns an agent with a known hook and nothing else.
    pub(crate) const fn with_hook(hook: Agent) -> Self {
        Self {
            hook,
            mcp: None,
            shell: None,
            conversation_variable: None,
            wrapper: None,
            sandbox: None,
        }
    }
}
