//! `agent-bash hook --install` and `--uninstall`: shows the change to the agent's file, asks for
//! confirmation, writes it.

use super::change::{Connection, FileChange, confirm};
use super::take_over::no_shell;
use crate::args::HookArgs;
use crate::output;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash_hooks::install::SettingsScope;
use agent_bash_hooks::{Agent, SupportedAgent};

/// The error if the hook of an agent cannot replace commands.
fn no_rewrite(agent: &SupportedAgent) -> UsageError {
    if agent.shell.is_none() {
        return no_shell(&agent.hook);
    }
    let name = agent.hook.name;
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
pub(super) fn install(args: &HookArgs, start: &StartContext) -> anyhow::Result<u8> {
    let agent = &args.agent.hook;
    let connection = match args.take_over {
        Some(_) if !agent.can_rewrite() => return Err(no_rewrite(args.agent).into()),
        Some(_) => Connection::RewritingHook(agent),
        None => Connection::Hook(agent),
    };
    let scope = args.scope();
    let connection = connection.applicable(scope, start);
    let path = connection.file(scope, start);
    let path = path.ok_or_else(|| no_file(agent, scope))?;
    let mut change = FileChange::read(path, args.project.then_some(start.host.cwd.as_path()))?;
    let target = args.install.then(|| connection.target(start)).transpose()?;
    let edited = change.edit(connection, target.as_deref());
    edited.map_err(|error| change.usage_error(&error))?;
    if change.is_unchanged() {
        let state = if args.install { "already" } else { "not" };
        let (path, name) = (change.path.display(), agent.name);
        output::print(&format!(
            "{path}: the hook for {name} is {state} installed\n"
        ))?;
        return Ok(0);
    }
    output::print(&change.diff())?;
    if args.install && args.take_over.is_some() {
        output::say(agent.rewriting_cost());
    }
    if !args.yes && !confirm("Write this?")? {
        output::say("agent-bash: nothing was written");
        return Ok(1);
    }
    change.write(start)?;
    if let Some(hint) = connection.install_hint().filter(|_| args.install) {
        output::print(&format!("{hint}\n"))?;
    }
    Ok(0)
}
