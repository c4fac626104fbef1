//! Hooks: an agent with a shell tool of its own asks, before each call, whether the command may
//! run.
//!
//! The format of an agent's calls and answers is a value, an [`Agent`], in a file of its own;
//! [`answer`] is the same for all. Calls without objections pass silently: the agent then asks its
//! user as it would without us. Calls that the user's settings refuse are refused with the reason.
//! So is whatever cannot be read or checked: a hook that fails must not let a command through.
//!
//! Nothing is run here, and only settings files are read. The owner of the process reads stdin,
//! enforces the deadline and writes the answer.

mod agents;
mod call;
pub mod install;
pub mod take_over;
mod verdict;

pub use agents::{AGENTS, Agent, CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, by_name};
pub use call::{BadCall, MAX_INPUT_BYTES};

use crate::HostContext;
use serde_json::Value;
use verdict::Decision;

/// The exit code that blocks a call in every agent; the reason is on stderr.
pub const BLOCKED_EXIT_CODE: u8 = 2;

/// The output and exit code of the hook's process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookAnswer {
    /// The answer in the agent's format, or empty.
    pub stdout: String,
    /// The reason, if the exit code blocks the call.
    pub stderr: String,
    /// 0, or 2 if the answer is on stderr.
    pub exit_code: u8,
}

impl HookAnswer {
    /// No opinion: the agent continues as if there were no hook.
    fn silent() -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: 0,
        }
    }

    /// Blocks a call that could not be checked. By exit code, because that works for any event the
    /// agent may have sent.
    pub fn blocked(agent: &Agent, why: &str) -> Self {
        let name = agent.name;
        Self {
            stdout: String::new(),
            stderr: format!(
                "agent-bash hook {name}: blocked, since the call could not be judged: {why}\n"
            ),
            exit_code: BLOCKED_EXIT_CODE,
        }
    }
}

/// Answers a call in the agent's format, using the settings of the user and of the directory that
/// the call names.
///
/// `host` describes the hook's process, whose environment is the agent's; its directory is not
/// used. Never fails: what cannot be checked is blocked.
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
    let call = match call::read(agent, input) {
        Ok(Some(call)) => call,
        Ok(None) => return HookAnswer::silent(),
        Err(error) => return HookAnswer::blocked(agent, &error.to_string()),
    };
    let output = match (verdict::decide(&call, host), program) {
        (Ok(Decision::Refuse(reason)), _) => (agent.refuse)(&reason),
        (Ok(Decision::GoOn(advice)), Some(program)) => match agent.rewrite {
            Some(rewrite) => rewrite(&call.with_program(program), advice.as_deref()),
            None => return HookAnswer::blocked(agent, "this agent's commands cannot be replaced"),
        },
        (Ok(Decision::GoOn(Some(advice))), None) => (agent.advise)(&advice),
        (Ok(Decision::GoOn(None)), None) => Value::Null,
        (Err(why), _) => return HookAnswer::blocked(agent, &why),
    };
    if output.is_null() {
        return HookAnswer::silent();
    }
    HookAnswer {
        stdout: format!("{output}\n"),
        ..HookAnswer::silent()
    }
}

#[cfg(test)]
#[path = "hook/hook_tests.rs"]
mod tests;
