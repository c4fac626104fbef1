//! `agent-bash hook --take-over`: makes `agent-bash shell` the shell of an agent, and undoes that.

use super::file::SettingsFile;
use super::install::{confirm, diff};
use crate::args::HookArgs;
use crate::commands::shell_link::{self, LinkProbe};
use crate::output;
use crate::start::StartContext;
use crate::usage::UsageError;
use agent_bash::hook::Agent;
use agent_bash::hook::install::{BadFile, SettingsScope, shell_file, with_shell, without_shell};
use agent_bash::hook::take_over::{ShellAgent, ShellLink, ShellSetting, ShellWay};
use anyhow::{Context, anyhow};
use std::path::Path;

/// The error if the home directory, which contains the links, is unknown.
const NO_HOME: &str = "no home directory is known; set HOME";

/// Installs or removes the setting. Exit code 1 if the user declined.
pub(super) fn take_over(args: &HookArgs, start: &StartContext) -> anyhow::Result<u8> {
    let name = args.agent.name;
    let agent = args.agent.shell;
    let agent = agent.ok_or_else(|| UsageError(format!("the shell of {name} is not known")))?;
    match &agent.way {
        ShellWay::Setting(setting) => by_setting(args, setting, start),
        ShellWay::SearchPath => by_search_path(args, agent, start),
        ShellWay::Fixed => Err(fixed_shell(args).into()),
    }
}

/// Writes the agent's setting, after a harmless command has run through the link.
fn by_setting(args: &HookArgs, setting: &ShellSetting, start: &StartContext) -> anyhow::Result<u8> {
    let name = args.agent.name;
    let scope = if args.project {
        SettingsScope::Project
    } else {
        SettingsScope::User
    };
    let path = shell_file(setting, scope, &start.host).context(NO_HOME)?;
    let settings = SettingsFile::read(&path)?;
    let before = settings.text();
    let bad = |error: BadFile| UsageError(format!("{}: {error}", path.display()));
    let link = setting.link.path(&start.host).context(NO_HOME)?;
    let after = if args.install {
        Some(with_shell(setting, before, settings_path(&link, setting)?).map_err(bad)?)
    } else {
        match before {
            Some(before) => without_shell(setting, before).map_err(bad)?,
            None => None,
        }
    };
    let is_unchanged = before == after.as_deref();
    if is_unchanged && !args.install {
        let path = path.display();
        output::print(&format!("{path}: {name} does not go through agent-bash\n"))?;
        return Ok(0);
    }
    if !is_unchanged {
        output::print(&diff(&path, before, after.as_deref()))?;
        if !args.yes && !confirm()? {
            output::say("agent-bash: nothing was written");
            return Ok(1);
        }
    }
    if args.install {
        // The link is made first: an agent whose shell does not start can run nothing.
        make_and_probe(&link, setting.link, start)?;
    }
    if is_unchanged {
        let (path, link) = (path.display(), link.display());
        output::print(&format!(
            "{path}: {name} goes through {link} already; the link works\n"
        ))?;
        return Ok(0);
    }
    settings.replace(after.as_deref(), false)?;
    let done = match after {
        Some(_) => "wrote",
        None => "removed",
    };
    let hint = if args.install {
        setting.install_hint.to_owned()
    } else {
        // The link stays, because running agents still use it.
        let link = link.display();
        format!("{link} stays for agents that are running; remove it when none is")
    };
    let path = path.display();
    output::print(&format!("{done} {path}\n{hint}\n"))?;
    Ok(0)
}

/// Makes a link and prints how to start an agent that starts the first `bash` in `PATH`.
fn by_search_path(args: &HookArgs, agent: &ShellAgent, start: &StartContext) -> anyhow::Result<u8> {
    let (name, program) = (agent.name, agent.program);
    if args.uninstall {
        output::print(&format!(
            "{name} starts the first bash in PATH; nothing was written for it\n"
        ))?;
        return Ok(0);
    }
    let link = ShellLink::Bash.path(&start.host).context(NO_HOME)?;
    make_and_probe(&link, ShellLink::Bash, start)?;
    let directory = link.parent().unwrap_or(&link).display().to_string();
    let directory = shlex::try_quote(&directory).unwrap_or_default();
    output::print(&format!(
        "{name} starts the first bash in PATH. Start it with our link in front:\n  PATH={directory}:\"$PATH\" {program}\n"
    ))?;
    Ok(0)
}

/// The error for an agent whose shell cannot be replaced.
fn fixed_shell(args: &HookArgs) -> UsageError {
    let name = args.agent.name;
    let fixed_shell = format!("{name} always starts /bin/bash, so its shell cannot be replaced");
    if !args.agent.hook.is_some_and(Agent::rewrites) {
        return UsageError(fixed_shell);
    }
    UsageError(format!(
        "{fixed_shell}. Its hook can replace each command: agent-bash hook --install --take-over=rewrite {name}. \
         Then {name} no longer asks you about commands, and its permission rules see the new text"
    ))
}

/// Returns the link's path as text for the agent's settings.
fn settings_path<'a>(link: &'a Path, setting: &ShellSetting) -> Result<&'a str, UsageError> {
    let shown = link.display();
    let text = link
        .to_str()
        .ok_or_else(|| UsageError(format!("{shown} is not UTF-8, as settings are")))?;
    // The agent also puts the prefix into a line for `sh`.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,=%".contains(c);
    if setting.link == ShellLink::Prefix && !text.chars().all(is_plain) {
        return Err(UsageError(format!(
            "the agent does not take a path with a blank or a special character, such as {shown}; \
             set XDG_DATA_HOME to a directory whose path has none"
        )));
    }
    Ok(text)
}

fn make_and_probe(link: &Path, kind: ShellLink, start: &StartContext) -> anyhow::Result<()> {
    shell_link::make(link, &shell_link::program(start)?)?;
    match shell_link::probe(link, kind, start) {
        LinkProbe::Failed(reason) => Err(anyhow!(
            "a call of {} failed, so the agent was not changed: {reason}",
            link.display()
        )),
        LinkProbe::Ran | LinkProbe::Recorded => Ok(()),
    }
}
