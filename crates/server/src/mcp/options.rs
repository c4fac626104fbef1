//! The options of the server.

use agent_bash::tools::adapter::Adapter;
use std::time::Duration;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// A call that takes longer is answered with a handle and continues. With zero, calls are only
    /// answered at their end.
    pub handle_after: Duration,
    /// True if answers also have the result as structured data, and `bash` has an output schema.
    /// For programs only: agents show their model the JSON of structured data instead of the text.
    pub structured: bool,
    /// The adapter whose tools are offered instead of the default tools. `handle_after` does not
    /// apply to them; the adapter has its own handles.
    pub adapter: Option<&'static Adapter>,
    /// The state directory in which the agent's hook records the prompts of its user, if the
    /// agent's process is known.
    pub agent: Option<String>,
    /// True to ask the client's user for approvals, instead of the approver of the session's tool.
    pub asks: bool,
}
