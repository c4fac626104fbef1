//! `agent-bash setup`: finds the agents on this machine, asks what to do with each, shows the
//! changes to their files, and writes or undoes them.
//!
//! Nothing else records what is set up: `--undo` finds the entries in the agents' files, as
//! `hook --uninstall` does.

use super::hook::change::{Connection, FileChange, NO_HOME, ask, bad_file, confirm};
use super::hook::links::{LinkRemoval, remove_links};
use super::hook::take_over::put_in_path;
use super::hook::target::make_and_probe;
use super::shell_link::find_on_path;
use crate::args::{ChosenAgent, SetupArgs, SetupWay};
use crate::output;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash_hooks::install::{BadFile, SettingsScope, settings_directory};
use agent_bash_hooks::take_over::ShellWay;
use agent_bash_hooks::{Agent, SUPPORTED, SupportedAgent};
use anyhow::Context;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The error if stdin is not a terminal.
const NO_TERMINAL: &str = "stdin is not a terminal, so nothing can be asked: --yes makes the proposed \
    changes, --agent NAME=WAY chooses others, --dry-run shows them";

/// Sets up the agents, or undoes that. Exit code 1 if an agent's file could not be changed, or if
/// a running agent still needs the links.
pub(crate) fn setup(args: &SetupArgs, start: &StartContext) -> anyhow::Result<u8> {
    let agents = agents(args, start);
    if agents.is_empty() {
        output::print("no agent was found; --agent NAME sets one up before its first start\n")?;
        return Ok(0);
    }
    if !args.yes && !args.dry_run && !io::stdin().is_terminal() {
        if !args.undo {
            output::print(
                &agents
                    .iter()
                    .map(|agent| proposal(agent, start))
                    .collect::<String>(),
            )?;
        }
        return Err(UsageError(NO_TERMINAL.to_owned()).into());
    }
    let mut code = 0;
    let mut is_any_changed = false;
    for chosen in &agents {
        let done = if args.undo {
            undo(chosen, args, start)
        } else {
            set_up(chosen, args, start)
        };
        match done {
            Ok(is_changed) => is_any_changed |= is_changed,
            Err(error) => {
                let name = chosen.agent.hook.name;
                output::say(&format!("agent-bash: {name} was left as it is: {error:#}"));
                code = 1;
            }
        }
    }
    if args.undo && args.agents.is_empty() && code == 0 {
        match remove_links(args, start)? {
            LinkRemoval::Nothing => {}
            LinkRemoval::Done => is_any_changed = true,
            LinkRemoval::InUse => code = 1,
        }
    }
    match (is_any_changed, args.undo) {
        (true, false) if !args.dry_run => output::print(
            "agent-bash doctor tries what is set up; agent-bash setup --undo removes it\n",
        )?,
        (false, true) if code == 0 => output::print("nothing was changed\n")?,
        _ => {}
    }
    Ok(code)
}

/// Returns the named agents, else those on this machine; for `--undo`, all.
fn agents(args: &SetupArgs, start: &StartContext) -> Vec<ChosenAgent> {
    if !args.agents.is_empty() {
        return args.agents.clone();
    }
    let found = SUPPORTED
        .iter()
        .filter(|agent| args.undo || found_at(agent, start).is_some());
    found
        .map(|agent| ChosenAgent { agent, ways: None })
        .collect()
}

/// Returns the agent's program in `PATH`, else the directory of its settings.
pub(crate) fn found_at(agent: &SupportedAgent, start: &StartContext) -> Option<PathBuf> {
    find_on_path(agent.hook.program, start).or_else(|| settings_directory(agent, &start.host))
}

/// Returns the ways in which this agent can use agent-bash.
fn possible_ways(agent: &SupportedAgent) -> Vec<SetupWay> {
    let has_shell = !matches!(agent.shell, None | Some(ShellWay::Fixed(_)));
    let all = [
        (SetupWay::Shell, has_shell),
        (SetupWay::Hook, true),
        (SetupWay::Mcp, agent.mcp.is_some()),
    ];
    let possible = all.into_iter().filter(|(_, is_possible)| *is_possible);
    possible.map(|(way, _)| way).collect()
}

/// Returns the way that changes the agent least and provides undo; if none does, the hook.
fn proposed_way(agent: &SupportedAgent) -> SetupWay {
    match agent.shell {
        Some(ShellWay::Setting(_)) if !is_for_tasks(agent) => SetupWay::Shell,
        _ if agent.mcp.is_some() => SetupWay::Mcp,
        _ => SetupWay::Hook,
    }
}

/// True if the agent starts only tasks by the shell that its settings name.
fn is_for_tasks(agent: &SupportedAgent) -> bool {
    matches!(&agent.shell, Some(ShellWay::Setting(setting)) if setting.is_for_tasks)
}

/// Returns a line with an agent and its possible ways.
fn proposal(chosen: &ChosenAgent, start: &StartContext) -> String {
    let agent = chosen.agent;
    let found = found_at(agent, start);
    let found = found.map(|path| format!(" ({})", path.display()));
    let ways = possible_ways(agent).into_iter().map(|way| match way {
        way if way == proposed_way(agent) => format!("{} (proposed)", way.name()),
        way => way.name().to_owned(),
    });
    let ways: Vec<String> = ways.collect();
    let (name, found) = (agent.hook.name, found.unwrap_or_default());
    format!("{name}{found}: {}\n", ways.join(", "))
}

/// Asks the user in which ways the agent uses agent-bash, until the answer is valid.
fn ask_ways(chosen: &ChosenAgent, start: &StartContext) -> anyhow::Result<Vec<SetupWay>> {
    let mut question = format!("\n{}", proposal(chosen, start));
    for way in possible_ways(chosen.agent) {
        let effect = match way {
            SetupWay::Shell if is_for_tasks(chosen.agent) => {
                "its tasks run through agent-bash: rules, a record, undo"
            }
            SetupWay::Shell => "its commands run through agent-bash: rules, a record, undo",
            SetupWay::Hook => "it asks agent-bash before each command, and runs it itself",
            SetupWay::Mcp => "its model gets the tools of agent-bash, next to its own",
        };
        let _ = writeln!(question, "  {:<6} {effect}", way.name());
    }
    let proposed = proposed_way(chosen.agent);
    output::say(question.trim_end());
    loop {
        let answer = ask(&format!("Ways, or none [{}]:", proposed.name()))?;
        let answer = match &*answer {
            // Users expect a question of yes or no, as the next one is.
            "y" | "yes" => "",
            "n" | "no" => "none",
            ways => ways,
        };
        match SetupWay::list(answer) {
            Ok(_) if answer.is_empty() => return Ok(vec![proposed]),
            Ok(ways) => match check_ways(chosen.agent, &ways) {
                Ok(()) => return Ok(ways),
                Err(error) => output::say(&error.0),
            },
            Err(error) => output::say(&error),
        }
    }
}

/// Returns an error if the agent cannot use agent-bash in one of these ways.
fn check_ways(agent: &SupportedAgent, ways: &[SetupWay]) -> Result<(), UsageError> {
    let possible = possible_ways(agent);
    let Some(way) = ways.iter().find(|way| !possible.contains(way)) else {
        return Ok(());
    };
    let names: Vec<&str> = possible.iter().map(|way| way.name()).collect();
    Err(UsageError(format!(
        "{} cannot use agent-bash as {}, only as {}",
        agent.hook.name,
        way.name(),
        names.join(", ")
    )))
}

/// Shows and makes the changes for one agent. Returns true if there were some.
fn set_up(chosen: &ChosenAgent, args: &SetupArgs, start: &StartContext) -> anyhow::Result<bool> {
    let agent = chosen.agent;
    let ways = match &chosen.ways {
        Some(ways) => ways.clone(),
        None if args.yes || args.dry_run => vec![proposed_way(agent)],
        None => ask_ways(chosen, start)?,
    };
    check_ways(agent, &ways)?;
    let connections = connections(agent, &ways);
    let mut changes = Vec::new();
    for connection in &connections {
        let connection = connection.applicable(SettingsScope::User, start);
        let target = connection.target(start)?;
        edit(&mut changes, connection, Some(&target), start)?;
    }
    changes.retain(|change| !change.is_unchanged());
    let is_in_path = matches!(agent.shell, Some(ShellWay::SearchPath));
    let path_agent = (is_in_path && ways.contains(&SetupWay::Shell)).then_some(&agent.hook);
    if changes.is_empty() && path_agent.is_none() && !ways.is_empty() {
        output::print(&format!("{}: nothing to change\n", agent.hook.name))?;
    }
    let is_confirmed = show(&changes, args)?;
    if !args.dry_run && (is_confirmed || changes.is_empty()) {
        // Links are made first: an agent whose shell does not start can run nothing.
        make_links(&connections, path_agent, start)?;
    }
    if is_confirmed {
        changes.iter().try_for_each(|change| change.write(start))?;
        for hint in connections.iter().filter_map(|it| it.install_hint()) {
            output::print(&format!("{hint}\n"))?;
        }
    }
    Ok(is_confirmed)
}

/// Shows and removes the entries of one agent. Returns true if there were some.
fn undo(chosen: &ChosenAgent, args: &SetupArgs, start: &StartContext) -> anyhow::Result<bool> {
    let ways = chosen.ways.clone();
    let ways = ways.unwrap_or_else(|| possible_ways(chosen.agent));
    let mut changes = Vec::new();
    // The entry that was added last is removed first, so that a file with several entries is
    // restored to the byte.
    let installed = connections(chosen.agent, &ways).into_iter().rev();
    for connection in installed.flat_map(Connection::entries) {
        let path = connection.file(SettingsScope::User, start);
        let Some(path) = path.filter(|path| path.exists()) else {
            continue;
        };
        let change = open(&mut changes, path)?;
        let is_installed = connection.is_installed(change.text().unwrap_or_default());
        if is_installed.map_err(|error| bad_file(&change.path, &error))? {
            edit(&mut changes, connection, None, start)?;
        }
    }
    changes.retain(|change| !change.is_unchanged());
    let is_confirmed = show(&changes, args)?;
    if is_confirmed {
        changes.iter().try_for_each(|change| change.write(start))?;
    }
    Ok(is_confirmed)
}

/// Returns the entries for these ways, in the order of installation.
fn connections(agent: &'static SupportedAgent, ways: &[SetupWay]) -> Vec<Connection> {
    let mut connections = Vec::new();
    for way in ways {
        match way {
            SetupWay::Shell => {
                if let Some(ShellWay::Setting(setting)) = &agent.shell {
                    connections.push(Connection::Shell(setting));
                }
            }
            SetupWay::Hook => connections.push(Connection::Hook(&agent.hook)),
            SetupWay::Mcp => connections.extend(agent.mcp.as_ref().map(Connection::Mcp)),
        }
    }
    connections
}

/// Edits the file of a connection. Leaves an entry that the user has made, and reports it.
fn edit(
    changes: &mut Vec<FileChange>,
    connection: Connection,
    target: Option<&str>,
    start: &StartContext,
) -> anyhow::Result<()> {
    let path = connection.file(SettingsScope::User, start);
    let path = path.context(NO_HOME)?;
    let change = open(changes, path)?;
    match change.edit(connection, target) {
        Err(error @ (BadFile::AlreadySet { .. } | BadFile::NotOurs)) => {
            output::say(&format!(
                "left as it is: {}: {error}",
                change.path.display()
            ));
            Ok(())
        }
        edited => edited.map_err(|error| bad_file(&change.path, &error).into()),
    }
}

/// Returns the pending change to a file. The first call for a file reads it.
fn open(changes: &mut Vec<FileChange>, path: PathBuf) -> anyhow::Result<&mut FileChange> {
    let known = changes.iter().position(|change| change.path == path);
    if known.is_none() {
        changes.push(FileChange::read(path, None)?);
    }
    let index = known.unwrap_or(changes.len() - 1);
    Ok(&mut changes[index])
}

/// Shows the changes, and asks for confirmation. Returns true if the changes are to be written.
fn show(changes: &[FileChange], args: &SetupArgs) -> anyhow::Result<bool> {
    for change in changes {
        output::print(&change.diff())?;
    }
    if changes.is_empty() || args.dry_run {
        return Ok(false);
    }
    let is_confirmed = args.yes || confirm("Write this?")?;
    if !is_confirmed {
        output::say("nothing was written");
    }
    Ok(is_confirmed)
}

/// Makes the links that the connections need.
fn make_links(
    connections: &[Connection],
    path_agent: Option<&Agent>,
    start: &StartContext,
) -> anyhow::Result<()> {
    for connection in connections {
        if let Connection::Shell(setting) = connection {
            make_and_probe(Path::new(&connection.target(start)?), setting.link, start)?;
        }
    }
    path_agent.map_or(Ok(()), |agent| put_in_path(agent, start))
}
