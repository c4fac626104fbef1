//! Reports which agents of this machine use agent-bash: as a shell, as a hook, or as an MCP server.
//! A shell is tested by one harmless call.

use super::finding::{Finding, FindingGrade};
use crate::commands::hook::change::Connection;
use crate::commands::hook::file::SettingsFile;
use crate::commands::setup::found_at;
use crate::commands::shell_link::{self, LinkProbe, LinkTarget};
use crate::process_start::StartContext;
use agent_bash_hooks::install::{
    SettingsScope, is_rewriting, mcp_file, mcp_program, shell_file, shell_of, with_shell,
};
use agent_bash_hooks::take_over::{ShellLink, ShellSetting, ShellWay};
use agent_bash_hooks::{Agent, McpAgent, SUPPORTED, SupportedAgent};
use std::path::Path;

/// Returns findings for each agent whose program is on `PATH` or whose files have an entry of ours.
pub(super) fn agents(start: &StartContext) -> Vec<Finding> {
    SUPPORTED
        .iter()
        .flat_map(|agent| {
            let mut findings = connections(agent, start);
            let is_connected = !findings.is_empty();
            let finding = shell_finding(agent, is_connected, start);
            // The finding about the shell comes first.
            findings.splice(0..0, finding);
            findings
        })
        .collect()
}

/// Returns a finding for the agent's hook and one for its MCP server, if they are set up.
fn connections(agent: &'static SupportedAgent, start: &StartContext) -> Vec<Finding> {
    let name = agent.hook.name;
    let mut findings = Vec::new();
    let mut hooks = Connection::Hook(&agent.hook).entries();
    // The hook of another agent says nothing about whether this agent is on the machine.
    let is_possible = agent.hook.hook_of.is_none() || found_at(agent, start).is_some();
    let is_installed = |connection: Connection| {
        let is_ours = |text: &str| connection.is_installed(text).unwrap_or_default();
        any_file(connection, start, is_ours)
    };
    if is_possible && hooks.any(is_installed) {
        let rewrites = |text: &str| is_rewriting(&agent.hook, text);
        let detail = if any_file(Connection::Hook(&agent.hook), start, rewrites) {
            "its hook replaces each command by a call of agent-bash shell"
        } else {
            "its hook asks agent-bash before each command"
        };
        findings.push(Finding::new(FindingGrade::Works, name, detail));
    }
    if let Some(program) = agent.mcp.as_ref().and_then(|mcp| server_of(mcp, start)) {
        let exists = if program.contains('/') {
            Path::new(&program).exists()
        } else {
            shell_link::find_on_path(&program, start).is_some()
        };
        let detail = if exists {
            format!("its MCP server is `{program} mcp`")
        } else {
            format!(
                "its MCP server is {program}, which does not exist; agent-bash setup --agent {name}=mcp repairs that"
            )
        };
        findings.push(Finding::new(FindingGrade::of(exists), name, detail));
    }
    findings
}

/// True if `accepts` accepts the text of the connection's file, for the project or for the user.
fn any_file(connection: Connection, start: &StartContext, accepts: impl Fn(&str) -> bool) -> bool {
    let scopes = [SettingsScope::Project, SettingsScope::User].into_iter();
    let mut files = scopes.filter_map(|scope| connection.file(scope, start));
    files.any(|path| {
        let settings = SettingsFile::read(&path).ok();
        let text = settings.as_ref().and_then(SettingsFile::text);
        text.is_some_and(&accepts)
    })
}

/// Returns the program that the agent starts as the MCP server agent-bash.
fn server_of(agent: &McpAgent, start: &StartContext) -> Option<String> {
    let settings = SettingsFile::read(&mcp_file(agent, &start.host)?).ok()?;
    mcp_program(agent, settings.text()?).ok()?
}

/// Returns a finding for the agent's shell. An agent that is connected in another way gets no
/// advice.
fn shell_finding(
    agent: &SupportedAgent,
    is_connected: bool,
    start: &StartContext,
) -> Option<Finding> {
    let (agent, way) = (&agent.hook, agent.shell.as_ref()?);
    let advice = || (!is_connected).then(|| (FindingGrade::Note, shell_advice(agent, way)));
    let is_installed = shell_link::find_on_path(agent.program, start).is_some();
    let (grade, detail) = match way {
        ShellWay::Setting(setting) => match link_in_settings(setting, start) {
            Ok(Some(link)) => {
                let shell = if setting.is_for_tasks {
                    "the shell of its tasks"
                } else {
                    "its shell"
                };
                check_link((shell, Path::new(&link)), setting.link, start)
            }
            _ if !is_installed => return None,
            Err(reason) if !is_connected && !setting.is_for_tasks => (FindingGrade::Note, reason),
            _ => advice()?,
        },
        _ if !is_installed => return None,
        ShellWay::SearchPath => match shell_link::find_on_path(ShellLink::Bash.name(), start) {
            Some(bash) if LinkTarget::of(&bash) == LinkTarget::ThisProgram => {
                check_link(("its shell", bash.as_path()), ShellLink::Bash, start)
            }
            _ => advice()?,
        },
        ShellWay::Fixed(_) => advice()?,
    };
    Some(Finding::new(grade, agent.name, detail))
}

/// Returns the link to agent-bash in the agent's settings: of the project, else of the user. An
/// error if the settings cannot be read, or name another shell.
fn link_in_settings(
    setting: &ShellSetting,
    start: &StartContext,
) -> Result<Option<String>, String> {
    for scope in [SettingsScope::Project, SettingsScope::User] {
        let Some(path) = shell_file(setting, scope, &start.host) else {
            continue;
        };
        let settings = SettingsFile::read(&path).map_err(|error| format!("{error:#}"))?;
        let Some(text) = settings.text() else {
            continue;
        };
        let link = shell_of(setting, text).and_then(|link| match link {
            Some(link) => Ok(Some(link)),
            None => with_shell(setting, Some(text), "").map(|_| None),
        });
        let link = link.map_err(|error| format!("{}: {error}", path.display()))?;
        if link.is_some() {
            return Ok(link);
        }
    }
    Ok(None)
}

/// Checks the link that is the agent's shell, and runs a harmless command through it. `shell` names
/// the shell in messages.
fn check_link(
    (shell, link): (&str, &Path),
    kind: ShellLink,
    start: &StartContext,
) -> (FindingGrade, String) {
    let shown = link.display();
    match LinkTarget::of(link) {
        LinkTarget::Nothing(reason) => (
            FindingGrade::Problem,
            format!("{shell} is {shown}, which {reason}; install it again"),
        ),
        LinkTarget::Other(target) => (
            FindingGrade::Note,
            format!(
                "{shell} is {shown}, which leads to another program, {}; install it again to use this one",
                target.display()
            ),
        ),
        LinkTarget::ThisProgram => match shell_link::probe(link, kind, start) {
            LinkProbe::Recorded => (
                FindingGrade::Works,
                format!("{shell} is {shown}; a call of it ran and was recorded"),
            ),
            LinkProbe::Ran => (
                FindingGrade::Works,
                format!("{shell} is {shown}; a call of it ran, without a record"),
            ),
            LinkProbe::Failed(reason) => (
                FindingGrade::Problem,
                format!("{shell} is {shown}, and a call of it failed: {reason}"),
            ),
        },
    }
}

/// Returns how to make an agent use `agent-bash shell`, for an agent that does not.
fn shell_advice(agent: &Agent, way: &ShellWay) -> String {
    let name = agent.name;
    let how = match way {
        ShellWay::Setting(setting) if !setting.is_for_tasks => {
            format!("agent-bash setup --agent {name}")
        }
        ShellWay::SearchPath => {
            return format!(
                "its shell is the first bash in PATH, which is not agent-bash; to change that: \
                 agent-bash hook --install --take-over {name} prints how to start {name}"
            );
        }
        _ if agent.can_rewrite() => {
            format!(
                "agent-bash hook --install --take-over=rewrite {name} (see its help for the cost)"
            )
        }
        _ => return "its shell calls cannot go through agent-bash".to_owned(),
    };
    format!("its shell calls do not go through agent-bash; to change that: {how}")
}
