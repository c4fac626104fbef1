//! `--on TARGET` of commands that look at what a machine keeps: the same command is run there, by
//! our program there.

use crate::commands::following::{FollowedJob, follow};
use crate::commands::{script, target};
use crate::output::{self, PassThrough};
use crate::runtime;
use crate::signals::CalledOff;
use crate::start::{ChosenSettings, StartContext};
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

/// A command line that is meant for a target.
#[derive(Debug)]
pub(crate) struct TargetCommandLine<'a> {
    /// The target.
    pub(crate) on: &'a str,
    /// The session that it looks in, if it looks in one.
    pub(crate) state: Option<&'a str>,
    /// True if the command reads stdin.
    pub(crate) reads: bool,
    /// The job that the command follows, if it does.
    pub(crate) follows: Option<FollowedJob<'a>>,
    /// A line that explains its output.
    pub(crate) heading: Option<&'static str>,
}

/// The exit code if a signal ended the command on the remote host.
const KILLED_EXIT_CODE: u8 = 137;

/// Runs the command there, and prints what it printed.
pub(crate) fn run_remotely(
    elsewhere: &TargetCommandLine<'_>,
    words: &[OsString],
    start: &StartContext,
) -> anyhow::Result<u8> {
    let settings = start.settings(&ChosenSettings::default())?.settings;
    let words = without_place(words)?;
    let input = if elsewhere.reads {
        Some(Base64Bytes(script::stdin_bytes("the input")?))
    } else {
        None
    };
    let name = elsewhere.state.unwrap_or(crate::args::DEFAULT_SESSION);
    let supervisor = Supervisor::this_program(&start.token);
    let options = ConversationOptions::one_shot(name, supervisor);
    let runtime = runtime::start(Some(2))?;
    let code = runtime.block_on(async {
        let called_off = CalledOff::listen().context("cannot listen for signals")?;
        let as_it_is = |builder| builder;
        let session = target::open(elsewhere.on, &settings, start, options, as_it_is).await?;
        let cancel = called_off.cancel();
        let place = session
            .remote_host()
            .context("a session on a target has a place")?;
        let done = match elsewhere.follows {
            Some(followed) => follow(&**place, followed, cancel).await,
            None => by_program(elsewhere, &**place, words, input, cancel).await,
        };
        place.close().await;
        called_off.exit_code().map_or(done, Ok)
    });
    runtime.shutdown_background();
    code
}

/// Has our program there do it.
async fn by_program(
    elsewhere: &TargetCommandLine<'_>,
    place: &dyn RemoteHost,
    words: Vec<String>,
    input: Option<Base64Bytes>,
    cancel: &Cancel,
) -> anyhow::Result<u8> {
    let session = place.session();
    let program = RpcCall::Program {
        words: with_session(words, elsewhere.state.map(|_| session)),
        input,
    };
    let answer: ProgramData = ask(place, &program, cancel).await.map_err(Error::msg)?;
    if let Some(heading) = elsewhere.heading {
        output::print(&format!("{heading}\n"))?;
    }
    output::pass(&mut PassThrough::new(io::stdout()), &answer.out.0)?;
    let said = String::from_utf8_lossy(&answer.err.0);
    // Hints of the remote command are rewritten for this machine.
    let here = match elsewhere.state {
        Some(name) if name != crate::args::DEFAULT_SESSION => {
            format!("--state {name} --on {}", elsewhere.on)
        }
        _ => format!("--on {}", elsewhere.on),
    };
    let said = said.replace(&format!("--state {session}"), &here);
    if !said.is_empty() {
        output::say(said.trim_end());
    }
    Ok(answer.code.map_or(KILLED_EXIT_CODE, |code| {
        u8::try_from(code).unwrap_or(KILLED_EXIT_CODE)
    }))
}

/// Reaches the target and returns the session on it, for what is asked of it in other ways.
pub(crate) async fn session(
    on: &str,
    chosen: &ChosenSettings<'_>,
    start: &StartContext,
) -> anyhow::Result<Conversation> {
    let settings = start.settings(chosen)?.settings;
    let supervisor = Supervisor::this_program(&start.token);
    let options = ConversationOptions::one_shot(crate::args::DEFAULT_SESSION, supervisor);
    target::open(on, &settings, start, options, |builder| builder).await
}

/// The arguments without those that say where.
fn without_place(words: &[OsString]) -> Result<Vec<String>, UsageError> {
    let mut kept = Vec::new();
    let mut words = words.iter().skip(1);
    let mut are_options = true;
    while let Some(word) = words.next() {
        let word = word
            .to_str()
            .ok_or_else(|| UsageError(format!("{} is not UTF-8", word.display())))?;
        are_options &= word != "--";
        let is = |name: &str| are_options && word == name;
        let begins = |name: &str| are_options && word.starts_with(name);
        if is("--on") || is("--state") {
            words.next();
        } else if !begins("--on=") && !begins("--state=") {
            kept.push(word.to_owned());
        }
    }
    Ok(kept)
}

/// The arguments of the same command about that session.
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
    fn where_it_is_run_is_left_out_and_nothing_else() {
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
            let words = without_place(&words).unwrap_or_default();
            assert_eq!(with_session(words, Some("s")).join(" "), want);
        }
        assert_eq!(with_session(vec!["doctor".to_owned()], None), ["doctor"]);
    }
}
