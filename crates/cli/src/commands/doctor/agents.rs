//! Reports which agents of this machine use `agent-bash shell`, by one harmless call of each.

use super::finding::{Finding, FindingGrade};
use crate::commands::hook::file::SettingsFile;
use crate::commands::shell_link::{self, LinkProbe, LinkTarget};
use crate::start::StartContext;
use agent_bash::hook::install::{SettingsScope, file, is_rewriting, shell_file, shell_of};
use agent_bash::hook::take_over::{SHELL_AGENTS, ShellAgent, ShellLink, ShellSetting, ShellWay};
use agent_bash::hook::{Agent, by_name};
use std::path::Path;

/// Returns a finding for each agent whose program is on `PATH` or whose settings name a link of
/// ours.
pub(super) fn agents(start: &StartContext) -> Vec<Finding> {
    let findings = SHELL_AGENTS.into_iter().map(|agent| finding(agent, start));
    findings.flatten().collect()
}

fn finding(agent: &ShellAgent, start: &StartContext) -> Option<Finding> {
    let is_installed = shell_link::find_on_path(agent.program, start).is_some();
    let (grade, detail) = match &agent.way {
        ShellWay::Setting(setting) => match link_in_settings(setting, start) {
            Ok(Some(link)) => check_link(Path::new(&link), setting.link, start),
            Ok(None) if is_installed => (FindingGrade::Note, not_through_us(agent)),
            Err(reason) if is_installed => (FindingGrade::Note, reason),
            _ => return None,
        },
        _ if !is_installed => return None,
        ShellWay::SearchPath => match shell_link::find_on_path(ShellLink::Bash.name(), start) {
            Some(bash) if LinkTarget::of(&bash) == LinkTarget::ThisProgram => {
                check_link(&bash, ShellLink::Bash, start)
            }
            _ => (FindingGrade::Note, not_through_us(agent)),
        },
        ShellWay::Fixed if has_rewriting_hook(agent, start) => (
            FindingGrade::Works,
            "its hook replaces each command by a call of agent-bash shell".to_owned(),
        ),
        ShellWay::Fixed => (FindingGrade::Note, not_through_us(agent)),
    };
    Some(Finding::new(grade, agent.name, detail))
}

/// Returns our link in the settings of the project, else in the user's.
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
        let link = shell_of(setting, text);
        let link = link.map_err(|error| format!("{}: {error}", path.display()))?;
        if link.is_some() {
            return Ok(link);
        }
    }
    Ok(None)
}

fn has_rewriting_hook(agent: &ShellAgent, start: &StartContext) -> bool {
    let Some(hook) = by_name(agent.name) else {
        return false;
    };
    [SettingsScope::Project, SettingsScope::User]
        .into_iter()
        .any(|scope| {
            let path = file(hook, scope, &start.host);
            let settings = path.and_then(|path| SettingsFile::read(&path).ok());
            let text = settings.as_ref().and_then(SettingsFile::text);
            text.is_some_and(|text| is_rewriting(hook, text))
        })
}

/// Checks the link that is the agent's shell, and runs a harmless command through it.
fn check_link(link: &Path, kind: ShellLink, start: &StartContext) -> (FindingGrade, String) {
    let shown = link.display();
    match LinkTarget::of(link) {
        LinkTarget::Nothing(reason) => (
            FindingGrade::Problem,
            format!("its shell is {shown}, which {reason}; install it again"),
        ),
        LinkTarget::Other(target) => (
            FindingGrade::Note,
            format!(
                "its shell is {shown}, which leads to another program, {}; install it again to use this one",
                target.display()
            ),
        ),
        LinkTarget::ThisProgram => match shell_link::probe(link, kind, start) {
            LinkProbe::Recorded => (
                FindingGrade::Works,
                format!("its shell is {shown}; a call of it ran and was recorded"),
            ),
            LinkProbe::Ran => (
                FindingGrade::Works,
                format!("its shell is {shown}; a call of it ran, without a record"),
            ),
            LinkProbe::Failed(reason) => (
                FindingGrade::Problem,
                format!("its shell is {shown}, and a call of it failed: {reason}"),
            ),
        },
    }
}

/// Returns the detail for an agent that does not use `agent-bash shell`: how to change that.
fn not_through_us(agent: &ShellAgent) -> String {
    let name = agent.name;
    let how = match &agent.way {
        ShellWay::Setting(_) | ShellWay::SearchPath => {
            format!("agent-bash hook --install --take-over {name}")
        }
        ShellWay::Fixed if by_name(name).is_some_and(Agent::rewrites) => {
            format!(
                "agent-bash hook --install --take-over=rewrite {name} (see its help for the cost)"
            )
        }
        ShellWay::Fixed => return "its shell calls cannot go through agent-bash".to_owned(),
    };
    format!("its shell calls do not go through agent-bash; to change that: {how}")
}
