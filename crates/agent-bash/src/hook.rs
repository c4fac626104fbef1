//! Hooks: an agent with a shell tool of its own asks, before each call, whether the command may run.
//!
//! What an agent writes and what it takes as an answer is a value, an [`Agent`], in a file of its own; [`answer`] is the
//! same for all. It passes without a word what nothing speaks against: the agent then asks its user as it would
//! have. It refuses with the reason what the user's settings refuse, and with the reason, too, whatever it
//! cannot read or judge: a hook that fails must not let a command through.
//!
//! Nothing is run here, and of files only the settings are read. Whoever owns the process reads stdin, sees to it
//! that an answer comes in time, and writes it.

mod agents;
mod call;
pub mod install;
mod judge;

pub use agents::{AGENTS, Agent, CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE, by_name};
pub use call::{BadCall, MAX_INPUT_BYTES};

use crate::HostContext;
use agents::agent::GoOn;
use judge::Decision;
use serde_json::Value;

/// The exit code that blocks a call in every agent, with what was written to stderr as the reason.
pub const BLOCKED: u8 = 2;

/// What the hook's process writes, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In the agent's own format, or empty.
    pub stdout: String,
    /// The reason of a call that is blocked by the exit code.
    pub stderr: String,
    /// 0, or 2 where the answer is on stderr.
    pub exit_code: u8,
}

impl Answer {
    /// Nothing to say: the agent goes on as if there were no hook.
    fn silent() -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: 0,
        }
    }

    /// Blocks a call that could not be judged. An exit code, since that holds whatever the agent asked.
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

/// Answers a call as the agent wrote it, with the settings of the user and of the directory that the call names.
///
/// `host` is the surroundings of the hook's process, which are the agent's; its directory is not used. Never fails:
/// what cannot be judged is blocked.
pub fn answer(agent: &Agent, input: &[u8], host: &HostContext) -> Answer {
    let decision = call::read(agent, input)
        .map_err(|error| error.to_string())
        .and_then(|call| match call {
            Some(call) => judge::decide(&call, host),
            None => Ok(Decision::GoOn(GoOn::default())),
        });
    let output = match decision {
        Ok(Decision::Refuse(reason)) => (agent.refuse)(&reason),
        Ok(Decision::GoOn(with)) if with == GoOn::default() => Value::Null,
        Ok(Decision::GoOn(with)) => (agent.go_on)(&with),
        Err(why) => return Answer::blocked(agent, &why),
    };
    if output.is_null() {
        return Answer::silent();
    }
    Answer {
        stdout: format!("{output}\n"),
        ..Answer::silent()
    }
}

#[cfg(test)]
#[path = "hook/hook_tests.rs"]
mod tests;
