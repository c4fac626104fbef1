//! Hooks: an agent with its own shell tool runs `agent-bash hook` before each call, to check
//! whether the command may run.
//!
//! Internal to `agent-bash-cli`, without promises about versions.
//!
//! `call_fields` finds the fields of a call under the names that agents use. `agents` has a file
//! for each agent: the format of its answers, and the configuration of its hook. An allowed call
//! gets a silent answer: the agent then asks its user as it would without the hook. A call that the
//! user's settings refuse is refused with the reason. A shell call that cannot be parsed or checked
//! is blocked, because a failing hook must not let a command run.
//!
//! [`agent_shell`] has the parts of `agent-bash shell`, which stands in for an agent's shell.
//!
//! If the agent's commands run by `agent-bash shell`, the hook also records the turn: the user's
//! prompt to which the call belongs.
//!
//! This crate runs no commands. It reads settings files, and writes the file of exceptions and the
//! records of turns. Its caller reads stdin, enforces the deadline and writes the answer.

mod agent;
mod agent_prompt;
pub mod agent_shell;
mod agent_turn;
mod agents;
mod answer;
mod answer_format;
mod call_fields;
mod hook_call;
pub mod install;
mod json_form;
mod mcp_agent;
mod sandboxed_agent;
mod supported_agent;
pub mod take_over;
mod verdict;
mod wrapper_form;

pub use agent::Agent;
pub use agents::{
    AUTO, CLAUDE_CODE, SUPPORTED, by_name, hook_agents, sandboxed_agent, sandboxed_programs,
};
pub use answer::{BLOCKED_EXIT_CODE, HookAnswer};
pub use hook_call::{BadCall, MAX_INPUT_BYTES};
pub use mcp_agent::McpAgent;
pub use sandboxed_agent::SandboxedAgent;
pub use supported_agent::SupportedAgent;

use agent_bash::HostContext;
use agent_bash::exceptions::CheckedBy;
use answer_format::AnswerFormat;
use call_fields::CallFields;
use serde_json::Value;
use verdict::HookDecision;

impl HookAnswer {
    /// Blocks a call that could not be checked.
    pub fn blocked(agent: &Agent, why: &str) -> Self {
        let format = agent.format.unwrap_or(AnswerFormat::ExitCode);
        format.block(&CallFields::default(), &unchecked_text(agent, why))
    }
}

/// Returns the reason for blocking a call that could not be checked.
fn unchecked_text(agent: &Agent, why: &str) -> String {
    let name = agent.name;
    format!("agent-bash hook {name}: blocked, since the call could not be checked: {why}")
}

/// Answers a call in the agent's format, using the settings of the user and of the call's
/// directory.
///
/// `host` describes the hook's process, which has the agent's environment. If the call names no
/// directory, the directory of `host` is used. Never fails: a command that cannot be checked is
/// blocked.
pub fn answer(agent: &Agent, input: &[u8], host: &HostContext) -> HookAnswer {
    answer_as(agent, input, host, None)
}

/// Answers as [`answer`] does, but replaces a command that the settings do not refuse by
/// `program shell -c COMMAND`. A call without a command gets a silent answer.
///
/// [`Agent::rewriting_cost`] says how the agent treats the new text. A call of an agent that cannot
/// replace commands ([`Agent::can_rewrite`]) is blocked.
pub fn answer_rewriting(
    agent: &Agent,
    input: &[u8],
    host: &HostContext,
    program: &str,
) -> HookAnswer {
    answer_as(agent, input, host, Some(program))
}

/// Answers a call. With a `program`, replaces the command as [`answer_rewriting`] does.
fn answer_as(agent: &Agent, input: &[u8], host: &HostContext, program: Option<&str>) -> HookAnswer {
    let fields = match hook_call::parse(input) {
        Ok(fields) => fields,
        Err(error) => return HookAnswer::blocked(agent, &error.to_string()),
    };
    let recorded = agent_turn::record(agent, &fields, host, program.is_some());
    let format = agent.format_of(&fields);
    if agent_prompt::is_prompt(&fields) {
        agent_prompt::record(&fields, host, recorded.as_deref());
        return format.silent();
    }
    let blocked = |why: &str| format.block(&fields, &unchecked_text(agent, why));
    let call = match hook_call::read(&fields, host) {
        Ok(Some(call)) => call,
        Ok(None) => return format.silent(),
        Err(error) => return blocked(&error.to_string()),
    };
    let program = program.filter(|_| !call.is_only_checked);
    let check = match program {
        Some(_) => CheckedBy::HookBeforeCall,
        None => CheckedBy::Hook,
    };
    let output = match (verdict::decide(&call, host, check), program) {
        (Ok(HookDecision::Refuse(reason)), _) => return format.refuse(&fields, &reason),
        (Ok(HookDecision::Continue(advice)), Some(program)) => {
            let conversation = agent_turn::unnamed_conversation(agent, &fields);
            let input = call.with_program(program, conversation.as_deref());
            let input = input.filter(|_| agent.can_rewrite);
            let rewrite = |input| format.rewrite(&fields, &input, advice.as_deref());
            match input.and_then(rewrite) {
                Some(output) => output,
                None => return blocked("this agent's commands cannot be replaced"),
            }
        }
        (Ok(HookDecision::Continue(Some(advice))), None) => format.advise(&fields, &advice),
        (Ok(HookDecision::Continue(None)), None) => Value::Null,
        (Err(why), _) => return blocked(&why),
    };
    if output.is_null() {
        return format.silent();
    }
    HookAnswer::json(&output)
}

/// Returns a host without a home and variables.
#[cfg(test)]
fn host_in(cwd: impl Into<std::path::PathBuf>) -> HostContext {
    HostContext {
        cwd: cwd.into(),
        home: None,
        env: std::sync::Arc::default(),
        tools: None,
        processes: std::sync::Arc::default(),
    }
}

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
