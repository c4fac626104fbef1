//! Commands that serve many calls: an agent, another program, or a user at a terminal.

pub(crate) mod mcp;
pub(crate) mod rpc;
pub(crate) mod tui;
