//! The shell runtime for coding agents.

mod host;
pub mod layout;
pub mod profiles;
mod refusal;
pub mod schema;
mod stage;

pub use host::HostContext;
pub use refusal::{APPROVAL_RULE, Refusal, RuleRefusal};
