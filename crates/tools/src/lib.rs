//! The shell tools as models know them: names, fields, descriptions, and the texts of results.
//!
//! Each tool is one value with functions that write its texts. [`profiles`] has the tool of each
//! profile, [`adapters`] has the tools that models were trained on. A tool's module is a file and a
//! folder below `profiles/` or `adapters/`; a new tool is such a module and a line in the list.
//!
//! [`program_messages`] recognises what programs say in an output.
//!
//! This crate runs no command, and reads no file or setting. `agent-bash` passes the data of a call
//! to a tool's functions. `agent-bash-sink` truncates the output, `agent-bash-core` has the
//! sentences of notices, and `agent-bash-policy` has the sentences of rules. docs/contract.md fixes
//! the texts exactly.

pub mod adapter;
pub mod adapters;
mod bang;
pub mod change_texts;
mod facts;
mod finished_call;
mod profile_tool;
pub mod profiles;
pub mod program_messages;
mod refusal;
mod schema;
mod wording;

pub use bang::{BangLine, BangMessage, parse_bang};
pub use facts::{CallEnding, CallFacts};
pub use finished_call::{FinishedCall, KeepOutput, OutputPart};
pub use profile_tool::{ProfileTool, ReaderTool};
pub use refusal::{
    APPROVAL_RULE, ApprovalDenied, DirectoryError, ESCALATION_RULE, Explanation, NotSandboxed,
    Refusal, RuleRefusal, allow_line,
};
pub use schema::{SandboxTerms, ToolSchema};
pub use wording::clean;
pub use wording::output_notes::output_text;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
