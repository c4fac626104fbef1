//! `agent-bash mcp`: the Model Context Protocol over stdin and stdout.

use crate::args::McpArgs;
use crate::commands::serve_session;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash_hooks::agent_shell::conversation_of_caller;
use agent_bash_server::{mcp, stdio};
use anyhow::Context;

/// Serves until stdin ends.
pub(crate) fn mcp(args: &McpArgs, start: &StartContext) -> anyhow::Result<u8> {
    let adapter = args.adapter;
    if adapter.is_some() && args.serving.on.is_some() {
        let error =
            "--adapter: tools of other agents are not served for a target; leave it out, or `--on`";
        return Err(UsageError(error.to_owned()).into());
    }
    let agent = conversation_of_caller(&start.host);
    serve_session::serve(
        &args.serving,
        start,
        "mcp",
        move |session, settings, signals| async move {
            let (input, output) = stdio().context("stdin and stdout cannot be used")?;
            let options = mcp::McpOptions {
                handle_after: settings.mcp_handle_after,
                structured: settings.mcp_structured,
                adapter,
                agent,
                asks: true,
            };
            mcp::serve(input, output, session, options, signals.cancel())
                .await
                .context("the client on stdin does not speak the Model Context Protocol")
        },
    )
}
