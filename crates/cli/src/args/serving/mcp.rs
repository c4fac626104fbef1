//! Arguments of `mcp`.

use super::rpc::ServingArgs;
use crate::args::values::adapter;
use agent_bash::tools::adapter::Adapter;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
An MCP client starts this server:

  claude mcp add agent-bash -- agent-bash mcp
  {\"mcpServers\": {\"agent-bash\": {\"command\": \"agent-bash\", \"args\": [\"mcp\"]}}}

The server ends at the end of stdin or at SIGTERM: running commands are cancelled, jobs continue.
More clients and all tools: agent-bash man --guide mcp.")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) serving: ServingArgs,

    /// Offer the tools of an adapter, which some models are trained on, instead of agent-bash's
    /// tools.
    #[arg(long, value_name = "NAME", value_parser = adapter())]
    pub(crate) adapter: Option<&'static Adapter>,
}
