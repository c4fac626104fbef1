//! `--on TARGET` of commands that read or clean a machine's state: agent-bash on the target runs
//! the same command.

use crate::args::{ChosenSettings, TargetCommandLine};
use crate::commands::remote_output::follow;
use crate::commands::{script, target};
use crate::output::{self, PassThrough};
use crate::process_start::StartContext;
use crate::runtime;
use crate::signals::CancelSignals;
use crate::usage::UsageError;
use agent_bash::Conversation;
use agent_bash::core::{Cancel, RemoteHost};
use agent_bash::process::supervisor::Supervisor;
use agent_bash::remote::protocol::RpcCall;
use agent_bash::remote::protocol::data::ProgramData;
use agent_bash::remote::protocol::file::Base64Bytes;
use agent_bash::session::{ConversationOptions, ask};
use anyhow::{Context, Error};
use std::ffi::OsString;
use std::io;

/// The exit code if a signal ended the command on the remote host: as of SIGKILL, 128 + 9.
const KILLED_EXIT_CODE: u8 = 137;

/// Runs the command on the target, and prints its output.
pub(crate) fn run_remotely(
    line: &TargetCommandLine<'_>,
    words: &[OsString],
    start: &StartContext,
) -> anyhow::Result<u8> {
    let settings = start.settings(&ChosenSettings::default())?.settings;
    let words = without_target_options(words)?;
    let input = if line.reads_stdin {
        Some(Base64Bytes(script::stdin_bytes("the input")?))
    } else {
        None
    };
    let name = line.state.unwrap_or(crate::args::DEFAULT_SESSION);
    let supervisor = Supervisor::this_program(&start.token);
    let options = ConversationOptions::one_shot(name, supervisor);
    let runtime = runtime::start(Some(2))?;
    let code = runtime.block_on(async {
        let signals = CancelSignals::listen().context("cannot listen for signals")?;
        let unchanged = |builder| builder;
        let session = target::open(line.on, None, &settings, start, options, unchanged).await?;
        let cancel = signals.cancel();
        let remote = session
            .remote_host()
            .context("the session on the target has no remote host")?;
        let done = match line.followed_job {
            Some(followed) => follow(&**remote, followed, cancel).await,
            None => run_program(line, &**remote, words, input, cancel).await,
        };
        remote.close().await;
        signals.exit_code().map_or(done, Ok)
    });
    runtime.shutdown_background();
    code
}

/// Runs the command by agent-bash on the target, and prints its output.
async fn run_program(
    line: &TargetCommandLine<'_>,
    remote: &dyn RemoteHost,
    words: Vec<String>,
    input: Option<Base64Bytes>,
    cancel: &Cancel,
) -> anyhow::Result<u8> {
    let state_directory = remote.state_directory();
    let program = RpcCall::Program {
        words: with_session(words, line.state.map(|_| state_directory)),
        input,
    };
    let answer: ProgramData = ask(remote, &program, cancel).await.map_err(Error::msg)?;
    if let Some(heading) = line.heading {
        output::print(&format!("{heading}\n"))?;
    }
    output::pass(&mut PassThrough::new(io::stdout()), &answer.out.0)?;
    let stderr = String::from_utf8_lossy(&answer.err.0);
    // Hints of the remote command are rewritten for this machine.
    let local_options = match line.state {
        Some(name) if name != crate::args::DEFAULT_SESSION => {
            format!("--state {name} --on {}", line.on)
        }
        _ => format!("--on {}", line.on),
    };
    let stderr = stderr.replace(&format!("--state {state_directory}"), &local_options);
    if !stderr.is_empty() {
        output::say(stderr.trim_end());
    }
    let code = answer.code.and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(KILLED_EXIT_CODE))
}

/// Connects to the target and returns the session on it.
pub(crate) async fn session(
    on: &str,
    chosen: &ChosenSettings<'_>,
    start: &StartContext,
) -> anyhow::Result<Conversation> {
    let settings = start.settings(chosen)?.settings;
    let supervisor = Supervisor::this_program(&start.token);
    let options = ConversationOptions::one_shot(crate::args::DEFAULT_SESSION, supervisor);
    target::open(on, None, &settings, start, options, |builder| builder).await
}

/// Returns the arguments without the program's name, `--on` and `--state`.
fn without_target_options(words: &[OsString]) -> Result<Vec<String>, UsageError> {
    let mut kept = Vec::new();
    let mut words = words.iter().skip(1);
    let mut are_options = true;
    while let Some(word) = words.next() {
        let word = word
            .to_str()
            .ok_or_else(|| UsageError(format!("{} is not UTF-8", word.display())))?;
        are_options &= word != "--";
        let is_option = |name: &str| are_options && word == name;
        let is_option_with = |prefix: &str| are_options && word.starts_with(prefix);
        if is_option("--on") || is_option("--state") {
            // The value of the option.
            words.next();
        } else if !is_option_with("--on=") && !is_option_with("--state=") {
            kept.push(word.to_owned());
        }
    }
    Ok(kept)
}

/// Inserts the remote session's name into the arguments.
fn with_session(mut words: Vec<String>, session: Option<&str>) -> Vec<String> {
    if let Some(session) = session {
        words.insert(words.len().min(1), format!("--state={session}"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_and_session_options_are_removed_and_no_others() {
        for (words, want) in [
            ("x jobs --on box list", "jobs --state=s list"),
            (
                "x jobs list --on=box --state mine --json",
                "jobs --state=s list --json",
            ),
            (
                "x jobs input 1 --on box -- --on",
                "jobs --state=s input 1 -- --on",
            ),
        ] {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            let words = without_target_options(&words).unwrap_or_default();
            assert_eq!(with_session(words, Some("s")).join(" "), want);
        }
        assert_eq!(with_session(vec!["doctor".to_owned()], None), ["doctor"]);
    }
}
