//! `agent-bash hook --take-over`: makes `agent-bash shell` the shell of an agent, and undoes that.

use super::change::{Connection, FileChange, NO_HOME, confirm};
use super::target::make_and_probe;
use crate::args::HookArgs;
use crate::output;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash_hooks::install::BadFile;
use agent_bash_hooks::take_over::{ShellLink, ShellSetting, ShellWay};
use agent_bash_hooks::{AUTO, Agent};
use anyhow::Context;
use std::path::Path;

/// Replaces the agent's shell, or undoes that. Exit code 1 if the user declined.
pub(super) fn take_over(args: &HookArgs, start: &StartContext) -> anyhow::Result<u8> {
    let agent = &args.agent.hook;
    match &args.agent.shell {
        Some(ShellWay::Setting(setting)) => by_setting(args, setting, start),
        Some(ShellWay::SearchPath) => by_search_path(args, agent, start),
        Some(ShellWay::Fixed(_)) if args.uninstall => Err(no_shell_to_restore(agent).into()),
        Some(ShellWay::Fixed(shell)) => Err(fixed_shell(agent, shell).into()),
        None => Err(no_shell(agent).into()),
    }
}

/// The error for an agent whose shell cannot be replaced, neither by a setting nor by a hook.
pub(super) fn no_shell(agent: &Agent) -> UsageError {
    let name = agent.name;
    if name == AUTO.name {
        return UsageError(BadFile::Unknown.to_string());
    }
    UsageError(format!(
        "agent-bash cannot replace the shell of {name}; a hook can check each command: agent-bash hook --install {name}"
    ))
}

/// The error for the removal of a setting, for an agent without such a setting.
fn no_shell_to_restore(agent: &Agent) -> UsageError {
    let name = agent.name;
    UsageError(format!(
        "{name} has no setting for its shell; to remove its hook: agent-bash hook --uninstall {name}"
    ))
}

/// Writes the agent's setting, after a harmless command has run through the link.
fn by_setting(
    args: &HookArgs,
    setting: &'static ShellSetting,
    start: &StartContext,
) -> anyhow::Result<u8> {
    let name = args.agent.hook.name;
    let subject = if setting.is_for_tasks {
        format!("a task of {name}")
    } else {
        name.to_owned()
    };
    let connection = Connection::Shell(setting);
    let path = connection.file(args.scope(), start).context(NO_HOME)?;
    let mut change = FileChange::read(path, args.project.then_some(start.host.cwd.as_path()))?;
    let link = setting.link.path(&start.host).context(NO_HOME)?;
    let target = args.install.then(|| connection.target(start)).transpose()?;
    let edited = change.edit(connection, target.as_deref());
    edited.map_err(|error| change.usage_error(&error))?;
    let is_unchanged = change.is_unchanged();
    if is_unchanged && !args.install {
        let path = change.path.display();
        output::print(&format!(
            "{path}: {subject} does not go through agent-bash\n"
        ))?;
        return Ok(0);
    }
    if !is_unchanged {
        output::print(&change.diff())?;
        if !args.yes && !confirm("Write this?")? {
            output::say("agent-bash: nothing was written");
            return Ok(1);
        }
    }
    if args.install {
        // The link is made first: an agent whose shell does not start can run nothing.
        make_and_probe(&link, setting.link, start)?;
    }
    if is_unchanged {
        let (path, link) = (change.path.display(), link.display());
        output::print(&format!(
            "{path}: {subject} goes through {link} already; the link works\n"
        ))?;
        return Ok(0);
    }
    change.write(start)?;
    let hint = if args.install {
        setting.install_hint.to_owned()
    } else {
        link_stays(&link)
    };
    output::print(&format!("{hint}\n"))?;
    Ok(0)
}

/// Returns the note on a link after its removal from the settings: running agents still use it.
fn link_stays(link: &Path) -> String {
    let link = link.display();
    format!("{link} stays for agents that are running; `agent-bash setup --undo` removes it")
}

/// Replaces the shell of an agent that starts the first `bash` in `PATH`.
fn by_search_path(args: &HookArgs, agent: &Agent, start: &StartContext) -> anyhow::Result<u8> {
    let name = agent.name;
    if args.uninstall {
        output::print(&format!(
            "{name} starts the first bash in PATH; nothing was written for it\n"
        ))?;
        return Ok(0);
    }
    put_in_path(agent, start)?;
    Ok(0)
}

/// Makes a link and prints how to start an agent that starts the first `bash` in `PATH`.
pub(crate) fn put_in_path(agent: &Agent, start: &StartContext) -> anyhow::Result<()> {
    let link = ShellLink::Bash.path(&start.host).context(NO_HOME)?;
    make_and_probe(&link, ShellLink::Bash, start)?;
    let directory = link.parent().unwrap_or(&link).display().to_string();
    let directory = shlex::try_quote(&directory).unwrap_or_default();
    let (name, program) = (agent.name, agent.program);
    output::print(&format!(
        "{name} starts the first bash in PATH. Start it with our link in front:\n  PATH={directory}:\"$PATH\" {program}\n"
    ))
}

/// The error for an agent whose shell cannot be replaced.
fn fixed_shell(agent: &Agent, shell: &str) -> UsageError {
    let name = agent.name;
    let fixed_shell = format!("{name} always starts {shell}, so its shell cannot be replaced");
    if !agent.can_rewrite() {
        return UsageError(fixed_shell);
    }
    UsageError(format!(
        "{fixed_shell}. Its hook can replace each command: agent-bash hook --install --take-over=rewrite {name}\n{}",
        agent.rewriting_cost()
    ))
}
