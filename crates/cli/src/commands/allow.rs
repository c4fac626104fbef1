//! `agent-bash allow`: the user's exceptions from rules.

use crate::args::AllowArgs;
use crate::output;
use crate::process_start::StartContext;
use crate::table::table;
use crate::usage::UsageError;
use agent_bash::core::{Clock, visible};
use agent_bash::exceptions::{Allowance, Exceptions, RefusedCommand};
use agent_bash::process::{SystemClock, own_process_group, random_bytes};
use anyhow::{Context, bail};
use rustix::termios::tcgetpgrp;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;

/// Maximum number of characters of a command in the list.
const MAX_LISTED_CHARS: usize = 60;

/// Lists refused commands, allows a command, or ends an exception.
pub(crate) fn allow(args: &AllowArgs, start: &StartContext) -> anyhow::Result<u8> {
    let state = start.host.state_dir().context(
        "there is no state directory: none of AGENT_BASH_STATE_DIR, XDG_STATE_HOME and HOME is set",
    )?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let exceptions = Exceptions::new(state, clock);
    let commands = exceptions
        .list()
        .context("the list of refused commands cannot be read")?;
    let find = |code: &str| {
        let code = code.to_ascii_uppercase();
        let unknown = || {
            UsageError(format!(
                "no refused command has the code {code}: it was refused more than an hour ago, or has run; repeat the command for a new code"
            ))
        };
        let found = commands.iter().find(|command| command.code == code);
        found.ok_or_else(unknown)
    };
    let (code, allowance, done) = if let Some(code) = &args.forget {
        let command = find(code)?;
        (&command.code, None, "is not allowed any more".to_owned())
    } else if let Some(code) = &args.code {
        let command = find(code)?;
        confirm(command, args.always, start)?;
        let cwd = command.cwd.display();
        if args.always {
            let done = format!(
                "may run in {cwd} until agent-bash allow --forget {}",
                command.code
            );
            (&command.code, Some(Allowance::Always), done)
        } else {
            let done = format!("may run once in {cwd}, within ten minutes");
            (&command.code, Some(Allowance::Once), done)
        }
    } else {
        output::print(&list_text(&commands))?;
        return Ok(0);
    };
    let is_known = exceptions.decide(code, allowance);
    if !is_known.context("the decision cannot be saved")? {
        bail!("the command with the code {code} was removed in the meantime");
    }
    output::print(&format!("{code} {done}\n"))?;
    Ok(0)
}

/// Returns an error unless the user decides. This process must not be a command of a model, and the
/// user must type a number that only this process's terminal shows.
fn confirm(command: &RefusedCommand, always: bool, start: &StartContext) -> anyhow::Result<()> {
    let processes = &start.host.processes;
    if processes.is_empty() {
        bail!("/proc does not show the ancestors of this process, so a model may have started it");
    }
    if let Some(caller) = command.model_controlled_ancestor(processes) {
        let (name, pid) = (visible::one_line(&caller.name), caller.identity.pid);
        bail!(
            "this process runs below {name} ({pid}), which runs commands of the model; use a terminal of your own"
        );
    }
    let no_terminal = "agent-bash allow needs a terminal on which you can answer";
    let mut terminal = File::options()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .context(no_terminal)?;
    let group = own_process_group();
    if group.is_none() || tcgetpgrp(&terminal).ok() != group {
        bail!("{no_terminal}; it runs in the background now");
    }
    let number = random_digits()?;
    let how = if always { "always" } else { "once" };
    write!(
        terminal,
        "{}\n\nin {}\nrefused by {}: {}\n\nType {number} to allow it {how}: ",
        visible::shown(&command.command),
        visible::one_line(&command.cwd.to_string_lossy()),
        command.rule,
        visible::shown(&command.message),
    )?;
    let mut answer = String::new();
    BufReader::new(terminal.take(64)).read_line(&mut answer)?;
    if answer.trim() != number {
        bail!("not allowed: the number was not typed");
    }
    Ok(())
}

/// Returns four random digits, which no other program can know.
fn random_digits() -> anyhow::Result<String> {
    let bytes = random_bytes::<4>().context("the system has no random bytes")?;
    Ok(bytes
        .map(|byte| char::from(b'0' + byte % 10))
        .iter()
        .collect())
}

/// Returns the table of refused and allowed commands.
fn list_text(commands: &[RefusedCommand]) -> String {
    if commands.is_empty() {
        return "no command was refused in the last hour, and none is allowed\n".to_owned();
    }
    let rows = commands.iter().map(|command| {
        let allowed = match command.allowed {
            None => "refused",
            Some(Allowance::Always) => "always allowed",
            Some(Allowance::Once | Allowance::AfterHook) => "allowed once",
        };
        let line = visible::one_line(&command.command);
        [
            command.code.clone(),
            allowed.to_owned(),
            command.rule.clone(),
            command.cwd.display().to_string(),
            line.chars().take(MAX_LISTED_CHARS).collect(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    table(["CODE", "STATE", "RULE", "DIRECTORY", "COMMAND"], &rows)
}
