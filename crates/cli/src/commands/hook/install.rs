//! `agent-bash hook --install` and `--uninstall`: shows the change to the agent's file, asks for
//! confirmation, writes it.

use super::file::SettingsFile;
use crate::args::{HookArgs, NamedAgent};
use crate::commands::shell_link;
use crate::output;
use crate::start::StartContext;
use crate::usage::UsageError;
use agent_bash::core::visible;
use agent_bash::hook::Agent;
use agent_bash::hook::install::{
    BadFile, SettingsScope, applicable, file, with_hook, with_rewriting_hook, without_hook,
};
use anyhow::{Context, bail};
use similar::TextDiff;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The program's name as found on `PATH`.
const PROGRAM_NAME: &str = "agent-bash";

/// The note on the cost of a hook that replaces commands.
const REWRITE_COST_NOTE: &str = "\
The hook allows each command that agent-bash does not refuse, so the agent no longer asks you.
The agent's own permission rules see the new text: agent-bash shell -c '...'.";

/// The error if the hook of an agent cannot replace commands.
fn no_rewrite(agent: NamedAgent) -> UsageError {
    let name = agent.name;
    UsageError(format!(
        "--take-over=rewrite is not available for {name}; see agent-bash hook --install --take-over {name}"
    ))
}

/// The error if the agent has no settings file in this scope.
fn no_file(agent: &Agent, scope: SettingsScope) -> UsageError {
    UsageError(match scope {
        SettingsScope::Project => format!("{} reads no settings of a project", agent.name),
        _ => "no home directory is known, so there are no settings of yours; --project writes the project's".to_owned(),
    })
}

/// Changes the agent's file. Exit code 1 if the user declined.
pub(super) fn install(args: &HookArgs, agent: &Agent, start: &StartContext) -> anyhow::Result<u8> {
    let add_hook = match args.take_over {
        Some(_) if !agent.rewrites() => return Err(no_rewrite(args.agent).into()),
        Some(_) => with_rewriting_hook,
        None => with_hook,
    };
    let scope = if args.project {
        SettingsScope::Project
    } else {
        SettingsScope::User
    };
    let agent = applicable(agent, scope, &start.host);
    let path = file(agent, scope, &start.host).ok_or_else(|| no_file(agent, scope))?;
    let settings = SettingsFile::read(&path)?;
    let before = settings.text();
    let bad = |error: BadFile| UsageError(format!("{}: {error}", path.display()));
    let after = if args.install {
        Some(add_hook(agent, before, &program(start)?).map_err(bad)?)
    } else {
        match before {
            Some(before) => without_hook(agent, before).map_err(bad)?,
            None => None,
        }
    };
    if before == after.as_deref() {
        let state = if args.install { "already" } else { "not" };
        let path = path.display();
        output::print(&format!(
            "{path}: {} is {state} set up to ask\n",
            agent.name
        ))?;
        return Ok(0);
    }
    output::print(&diff(&path, before, after.as_deref()))?;
    if args.install && args.take_over.is_some() {
        output::say(REWRITE_COST_NOTE);
    }
    if !args.yes && !confirm()? {
        output::say("agent-bash: nothing was written");
        return Ok(1);
    }
    settings.replace(after.as_deref(), agent.runs_file())?;
    let mut message = format!("wrote {}\n", path.display());
    if after.is_none() {
        message = format!("removed {}\n", path.display());
    }
    if args.install {
        message.push_str(agent.install_hint);
        message.push('\n');
    }
    output::print(&message)?;
    Ok(0)
}

/// Returns the command for the agent to run: the bare name if `PATH` resolves it to this program,
/// else the full path.
pub(super) fn program(start: &StartContext) -> anyhow::Result<String> {
    let own = std::env::current_exe().context("cannot tell the path of this program")?;
    let own = own.canonicalize().with_context(|| {
        let own = own.display();
        format!("{own} is gone, and the agent would start it; use one that is installed")
    })?;
    let named =
        shell_link::find_on_path(PROGRAM_NAME, start).and_then(|path| path.canonicalize().ok());
    if named.as_ref() == Some(&own) {
        return Ok(PROGRAM_NAME.to_owned());
    }
    if own.file_name() != Some(PROGRAM_NAME.as_ref()) {
        bail!(
            "this program is {}, and what is set up is found again by the name {PROGRAM_NAME}; rename it",
            own.display()
        );
    }
    own.into_os_string().into_string().map_err(|own| {
        let own = PathBuf::from(own);
        UsageError(format!("{} is not UTF-8, as settings are", own.display())).into()
    })
}

pub(super) fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| match text {
        Some(_) => path.display().to_string(),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let diff = diff
        .unified_diff()
        .header(&name(before), &name(after))
        .to_string();
    visible::shown(&diff).into_owned()
}

/// Asks the user for confirmation on the terminal.
pub(super) fn confirm() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let error = "without a terminal no question can be asked: --yes writes it without one";
        return Err(UsageError(error.to_owned()).into());
    }
    let mut err = io::stderr().lock();
    write!(err, "Write this? [y/N] ").and_then(|()| err.flush())?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
