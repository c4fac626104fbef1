//! Serves the calls of adapters: the shell tools that models were trained on. `agent-bash-tools`
//! defines them.

mod serve;

pub use agent_bash_tools::adapter::*;
pub use agent_bash_tools::adapters::{ALL, UnknownAdapter, by_name, names};
pub use serve::{ClientAdapters, ToolAnswer};
