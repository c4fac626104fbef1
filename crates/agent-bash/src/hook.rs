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
mod verdict;

pub use agents::{AGENTS, Agent, CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, by_name};
pub use call::{BadCall, MAX_INPUT_BYTES};

use crate::HostContext;
use serde_json::Value;
use verdict::Decision;

/// The exit code that blocks a call in every agent; the reason is on stderr.
pub const BLOCKED: u8 = 2;

/// The output and exit code of the hook's process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookAnswer {
    /// In the agent's format, or empty.
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
            exit_code: BLOCKED,
        }
    }
}

/// Answers a call in the agent's format, using the settings of the user and of the directory that
/// the call names.
///
/// `host` describes the hook's process, whose environment is the agent's; its directory is not
/// used. Never fails: what cannot be checked is blocked.
pub fn answer(agent: &Agent, input: &[u8], host: &HostContext) -> HookAnswer {
    let decision = call::read(agent, input)
        .map_err(|error| error.to_string())
        .and_then(|call| match call {
            Some(call) => verdict::decide(&call, host),
            None => Ok(Decision::GoOn(None)),
        });
    let output = match decision {
        Ok(Decision::Refuse(reason)) => (agent.refuse)(&reason),
        Ok(Decision::GoOn(advice)) => advice.map_or(Value::Null, |advice| (agent.advise)(&advice)),
        Err(why) => return HookAnswer::blocked(agent, &why),
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
