//! The shell runtime for coding agents: takes a call, runs its command, and returns a result.
//!
//! A [`BashTool`] is made of a [`Profile`](agent_bash_core::Profile) (one of [`profiles`], or a
//! host's own), a [`HostContext`], and an executor. [`BashTool::execute`] takes a call through the
//! stages of `pipeline.rs` and returns a [`ToolResult`](agent_bash_core::ToolResult). It never
//! fails, because a refusal, a missing directory or a timeout are results too.
//!
//! A host that also runs commands that its user types, or keeps shells, jobs and outputs over many
//! calls, uses a [`Conversation`].
//!
//! This crate connects the others: `agent-bash-policy` checks a script, `agent-bash-exec` runs it,
//! `agent-bash-sink` limits and stores its output, `agent-bash-process` builds its environment, and
//! `agent-bash-tools` has the [`profiles`] and the texts for models.

mod approval;
pub mod artifacts;
mod call;
mod call_policy;
mod journal;
mod live_feed;
mod model_commit;
mod output_mask;
mod pipeline;
mod predefined;
pub mod session;
mod stage;
mod tool;
mod tool_builder;
mod tool_context;
mod trials;

pub use agent_bash_changes as change_sets;
pub use agent_bash_core as core;
pub use agent_bash_exec as exec;
pub use agent_bash_journal as journals;
pub use agent_bash_policy as policy;
pub use agent_bash_process as process;
pub use agent_bash_pty as pty;
pub use agent_bash_remote as remote;
pub use agent_bash_settings as settings;
pub use agent_bash_sink as sink;
pub use agent_bash_tools as tools;

pub use agent_bash_core::sandbox::{Escalation, LackingPolicy, TmpDirectory};
pub use agent_bash_sandbox::with_resolved_parent;
pub use agent_bash_settings::{
    CacheAccess, ChangesSettings, CommitBy, HostContext, JournalSettings, MaskLevel,
    SandboxSettings, shell_in_force,
};
pub use agent_bash_state::{
    ChangeSets, ChangesAct, ChangesConflict, ChangesDone, ChangesGroupDone, ChangesRefused,
    GroupRefused, Since, exceptions, in_order, panics, run_blocking, scope_of_turn,
};
pub use agent_bash_tools::{
    APPROVAL_RULE, ApprovalDenied, DirectoryError, ESCALATION_RULE, Explanation, FinishedCall,
    KeepOutput, NotSandboxed, Refusal, RuleRefusal, allow_line, profiles,
};
pub use approval::{AllowAll, Approval, Approver, PasswordPrompt, Proposal};
pub use call::CallOptions;
pub use call_policy::{CallPolicy, CheckOptions, CheckedScript};
pub use live_feed::LiveFeed;
pub use model_commit::commit_for_model;
pub use output_mask::{mask_condition, mask_job_output};
pub use session::Conversation;
pub use stage::parse_input::Input;
pub use stage::safety::rule_advice;
pub use tool::BashTool;
pub use tool_builder::BashToolBuilder;
pub use tool_context::JobStarter;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
