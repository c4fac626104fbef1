//! Hooks: an agent with a shell tool of its own asks, before each call, whether the command may
//! run.
//!
//! Calls are read by what they mean, whatever an agent names their fields. Each agent is a row of
//! [`AGENTS`]: the format of its answers and how its hook is configured. Calls without objections
//! pass silently: the agent then asks its user as it would without us. Calls that the user's
//! settings refuse are refused with the reason. So is a shell's call that cannot be read or
//! checked: a hook that fails must not let a command through.
//!
//! Nothing is run here, and only settings files are read. The owner of the process reads stdin,
//! enforces the deadline and writes the answer.

mod agent;
mod agents;
mod answer;
mod answer_format;
mod call;
mod fields;
pub mod install;
pub mod take_over;
mod verdict;

pub use agent::Agent;
pub use agents::{AGENTS, AUTO, CLAUDE_CODE, CODEX, by_name};
pub use answer::{BLOCKED_EXIT_CODE, HookAnswer};
pub use call::{BadCall, MAX_INPUT_BYTES};

use crate::HostContext;
use answer_format::AnswerFormat;
use fields::Fields;
use serde_json::Value;
use verdict::HookDecision;

impl HookAnswer {
    /// Blocks a call that could not be checked.
    pub fn blocked(agent: &Agent, why: &str) -> Self {
        let format = agent.format.unwrap_or(AnswerFormat::ExitCode);
        format.block(&Fields::default(), &unchecked(agent, why))
    }
}

fn unchecked(agent: &Agent, why: &str) -> String {
    let name = agent.name;
    format!("agent-bash hook {name}: blocked, since the call could not be judged: {why}")
}

/// Answers a call in the agent's format, using the settings of the user and of the directory that
/// the call names.
///
/// `host` describes the hook's process, whose environment is the agent's; its directory is used if
/// the call names none. Never fails: a command that cannot be checked is blocked.
pub fn answer(agent: &Agent, input: &[u8], host: &HostContext) -> HookAnswer {
    answer_as(agent, input, host, None)
}

/// Answers as [`answer`] does, but a command without objections is allowed, and replaced by one
/// that has `program` run it: `program shell -c COMMAND`. A call that runs no command passes
/// silently.
///
/// The user is not asked about an allowed command, and the agent's own permission rules see the
/// new text. An agent without a format for that ([`Agent::rewrites`]) is blocked.
pub fn answer_rewriting(
    agent: &Agent,
    input: &[u8],
    host: &HostContext,
    program: &str,
) -> HookAnswer {
    answer_as(agent, input, host, Some(program))
}

fn answer_as(agent: &Agent, input: &[u8], host: &HostContext, program: Option<&str>) -> HookAnswer {
    let fields = match call::parse(input) {
        Ok(fields) => fields,
        Err(error) => return HookAnswer::blocked(agent, &error.to_string()),
    };
    let format = agent.format_of(&fields);
    let blocked = |why: &str| format.block(&fields, &unchecked(agent, why));
    let call = match call::read(&fields, host) {
        Ok(Some(call)) => call,
        Ok(None) => return format.silent(),
        Err(error) => return blocked(&error.to_string()),
    };
    let output = match (verdict::decide(&call, host), program) {
        (Ok(HookDecision::Refuse(reason)), _) => return format.refuse(&fields, &reason),
        (Ok(HookDecision::GoOn(advice)), Some(program)) => {
            let input = call.with_program(program).filter(|_| agent.rewrites);
            let rewrite = |input| format.rewrite(&fields, &input, advice.as_deref());
            match input.and_then(rewrite) {
                Some(output) => output,
                None => return blocked("this agent's commands cannot be replaced"),
            }
        }
        (Ok(HookDecision::GoOn(Some(advice))), None) => format.advise(&fields, &advice),
        (Ok(HookDecision::GoOn(None)), None) => Value::Null,
        (Err(why), _) => return blocked(&why),
    };
    if output.is_null() {
        return format.silent();
    }
    HookAnswer::json(&output)
}

#[cfg(test)]
#[path = "hook/hook_tests.rs"]
mod tests;
