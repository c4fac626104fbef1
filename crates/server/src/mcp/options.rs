//! How a host configures the server.

use agent_bash::adapters::Adapter;
use std::time::Duration;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// A call that takes longer is answered with a handle and continues. Zero: calls are never
    /// answered early.
    pub handle_after: Duration,
    /// Answers carry the result as structured data beside the text, and `bash` has an output
    /// schema. For programs: agents that find structured data show their model its JSON instead of
    /// the text.
    pub structured: bool,
    /// Offer this adapter's tools instead of our own. Its calls are never answered early; handles
    /// are the adapter's own matter.
    pub adapter: Option<&'static Adapter>,
    /// Ask the client's user, in place of the approver of the session's tool.
    pub asks: bool,
}
