//! `agent-bash hook`: answers an agent that asks before it runs a command. The library computes the
//! answer. This module reads stdin and guarantees an answer in time, which blocks the command if
//! anything fails.

pub(crate) mod change;
pub(crate) mod file;
mod install;
pub(crate) mod links;
pub(crate) mod take_over;
pub(crate) mod target;

use crate::args::{HookArgs, TakeOverArg};
use crate::commands::shell_link;
use crate::output;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash::HostContext;
use agent_bash_hooks::{Agent, HookAnswer, MAX_INPUT_BYTES, answer, answer_rewriting};
use anyhow::Context;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Agents kill a hook that takes too long and then let the command run, so we answer earlier.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Answers the agent's call on stdin; with `--install`, configures the agent to make such calls.
pub(crate) fn hook(args: &HookArgs, start: &StartContext) -> anyhow::Result<u8> {
    let is_shell = args.take_over == Some(TakeOverArg::Shell);
    if args.install || args.uninstall {
        return if is_shell {
            take_over::take_over(args, start)
        } else {
            install::install(args, start)
        };
    }
    if args.project || args.yes || is_shell {
        let error = "--project, --yes and --take-over go with --install or --uninstall";
        return Err(UsageError(error.to_owned()).into());
    }
    let agent = &args.agent.hook;
    if io::stdin().is_terminal() {
        let name = agent.name;
        return Err(UsageError(format!(
            "this command answers {name}, which writes a tool call to its stdin; to set {name} up: agent-bash hook --install {name}"
        ))
        .into());
    }
    let host = start.host.clone();
    let program = args.take_over.map(|_| program_path(start)).transpose()?;
    let answer = answer_within(agent, ANSWER_TIMEOUT, move || {
        read_and_answer(agent, &host, program.as_deref())
    });
    if !answer.stderr.is_empty() {
        output::say(answer.stderr.trim_end());
    }
    // If stdout has no reader, the agent did not get the refusal. Unlike in other commands, a
    // closed pipe is therefore an error.
    let mut out = io::stdout().lock();
    out.write_all(answer.stdout.as_bytes())
        .and_then(|()| out.flush())
        .context("cannot write the answer to stdout")?;
    Ok(answer.exit_code)
}

/// Returns the path of this program, for commands. A command may have another `PATH` than its hook:
/// Codex 0.171.0 runs commands in a login shell.
fn program_path(start: &StartContext) -> anyhow::Result<String> {
    let path = shell_link::program(start)?;
    let text = path
        .to_str()
        .context("the path of agent-bash is not UTF-8, as commands are")?;
    Ok(text.to_owned())
}

/// Reads a call and answers it. With a `program`, commands are replaced by calls of it.
fn read_and_answer(agent: &Agent, host: &HostContext, program: Option<&str>) -> HookAnswer {
    let mut input = Vec::new();
    let max_bytes = MAX_INPUT_BYTES as u64 + 1;
    match io::stdin().lock().take(max_bytes).read_to_end(&mut input) {
        Ok(_) => match program {
            Some(program) => answer_rewriting(agent, &input, host, program),
            None => answer(agent, &input, host),
        },
        Err(error) => HookAnswer::blocked(agent, &format!("stdin cannot be read: {error}")),
    }
}

/// Returns the answer of `work`, or a blocking one if `work` fails or exceeds the deadline.
fn answer_within(
    agent: &Agent,
    deadline: Duration,
    work: impl FnOnce() -> HookAnswer + Send + 'static,
) -> HookAnswer {
    let (sender, receiver) = mpsc::channel();
    // Not joined: a hanging thread ends with the process.
    let started = thread::Builder::new().spawn(move || sender.send(work()));
    if let Err(error) = started {
        return HookAnswer::blocked(agent, &format!("no thread can be started: {error}"));
    }
    receiver.recv_timeout(deadline).unwrap_or_else(|error| {
        let seconds = deadline.as_secs();
        let why = match error {
            RecvTimeoutError::Timeout => format!(
                "there was no answer in {seconds} s; either stdin was not closed or the settings cannot be read to their end"
            ),
            RecvTimeoutError::Disconnected => "this is a fault of agent-bash, see above".to_owned(),
        };
        HookAnswer::blocked(agent, &why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_hooks::CLAUDE_CODE;

    #[test]
    fn failed_or_hanging_answer_blocks_the_command() {
        let panics = answer_within(&CLAUDE_CODE, ANSWER_TIMEOUT, || panic!("a fault"));
        assert_eq!(panics.exit_code, 2);
        assert!(
            panics.stderr.contains("a fault of agent-bash"),
            "{panics:?}"
        );
        let (_held, never) = mpsc::channel::<()>();
        let hangs = answer_within(&CLAUDE_CODE, Duration::from_millis(1), move || {
            let _ = never.recv();
            panic!("it is held")
        });
        assert_eq!(hangs.exit_code, 2);
        assert!(hangs.stderr.contains("no answer in"), "{hangs:?}");
    }
}
