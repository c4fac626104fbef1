//! Computes the path and the new text of an agent's settings file, to add or remove the hook, shell
//! or MCP server of agent-bash.
//!
//! Pure functions: the caller reads the file, shows the change, and writes it.

mod bad_file;
mod command_line;
mod entry;
pub(super) mod json;
mod json_member;
mod mcp_entry;
mod setting;
mod toml_entry;

pub use bad_file::BadFile;
pub use mcp_entry::{mcp_program, with_mcp, without_mcp};
pub use setting::{shell_of, with_shell, without_shell};

use super::agent::{Agent, HookForm, SettingsPath, named_directory};
use super::mcp_agent::McpAgent;
use super::supported_agent::SupportedAgent;
use super::take_over::{ShellSetting, ShellWay};
use agent_bash::HostContext;
use command_line::HookCommand;
use std::path::PathBuf;
use toml_entry::TomlEntry;

/// The scope of the settings file to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsScope {
    /// The user's settings, for all projects.
    User,
    /// The settings of the project in the working directory.
    Project,
}

/// Returns the entry whose settings file the agent reads. If the file of the preferred entry
/// exists, this is the preferred entry, because the agent then ignores the other file.
pub fn applicable<'a>(agent: &'a Agent, scope: SettingsScope, host: &HostContext) -> &'a Agent {
    let preferred = agent.preferred.filter(|preferred| {
        let file = file(preferred, scope, host);
        file.is_some_and(|file| file.exists())
    });
    preferred.unwrap_or(agent)
}

/// Returns all entries of an agent: the entry itself and the preferred entry, if any.
pub fn entries(agent: &'static Agent) -> impl Iterator<Item = &'static Agent> {
    [agent].into_iter().chain(agent.preferred)
}

/// Returns the path of the agent's settings file with hooks. `None` if no home directory is known,
/// or if the agent reads no settings of a project.
pub fn file(agent: &Agent, scope: SettingsScope, host: &HostContext) -> Option<PathBuf> {
    settings_file(&agent.settings, scope, host)
}

/// Returns the path of the settings file that names the agent's shell. `None` if no home directory
/// is known.
pub fn shell_file(
    setting: &ShellSetting,
    scope: SettingsScope,
    host: &HostContext,
) -> Option<PathBuf> {
    settings_file(&setting.settings, scope, host)
}

/// Returns the path of the user's file with the agent's MCP servers. `None` if no home directory is
/// known.
pub fn mcp_file(agent: &McpAgent, host: &HostContext) -> Option<PathBuf> {
    settings_file(&agent.settings, SettingsScope::User, host)
}

/// Returns the directory of the user's settings of the agent, if it exists.
pub fn settings_directory(agent: &SupportedAgent, host: &HostContext) -> Option<PathBuf> {
    let settings = match &agent.shell {
        Some(ShellWay::Setting(setting)) => &setting.settings,
        _ => &agent.hook.settings,
    };
    let directory = directory(settings, SettingsScope::User, host)?;
    (!settings.file.is_empty() && directory.is_dir()).then_some(directory)
}

/// Returns the path of a settings file. `None` if no home directory is known, or if the agent reads
/// no settings of a project.
fn settings_file(
    settings: &SettingsPath,
    scope: SettingsScope,
    host: &HostContext,
) -> Option<PathBuf> {
    let directory = directory(settings, scope, host)?;
    let file = directory.join(settings.file);
    let other = settings.other_file.map(|other| directory.join(other));
    // If neither file exists, the first name is used.
    match other {
        Some(other) if other.exists() && !file.exists() => Some(other),
        _ => Some(file),
    }
}

/// Returns the directory of a settings file; `None` as for [`settings_file`].
fn directory(settings: &SettingsPath, scope: SettingsScope, host: &HostContext) -> Option<PathBuf> {
    if scope == SettingsScope::Project {
        return Some(host.cwd.join(settings.below_project?));
    }
    Some(match named_directory(settings.variable, host) {
        Some(path) if settings.below_variable.is_empty() => path,
        Some(path) => path.join(settings.below_variable),
        None => host.home.as_ref()?.join(settings.below_home),
    })
}

/// Returns the file's text with the hook added. `before` is the current text, if the file exists.
/// `program` is the path of agent-bash, or its name on `PATH`. A text that already has the hook is
/// returned unchanged.
///
/// # Errors
/// [`BadFile`]
pub fn with_hook(agent: &Agent, before: Option<&str>, program: &str) -> Result<String, BadFile> {
    with_options(agent, before, program, "")
}

/// The option of a hook that replaces commands.
const REWRITE_OPTION: &str = " --take-over=rewrite";

/// True if the text of the agent's settings file has our hook that replaces commands.
pub fn is_rewriting(agent: &Agent, text: &str) -> bool {
    text.contains(&format!("hook {}{REWRITE_OPTION}", agent.hook_name()))
}

/// Returns the file's text with a hook that replaces commands and answers by
/// [`answer_rewriting`](crate::answer_rewriting).
///
/// # Errors
/// [`BadFile`]
pub fn with_rewriting_hook(
    agent: &Agent,
    before: Option<&str>,
    program: &str,
) -> Result<String, BadFile> {
    with_options(agent, before, program, REWRITE_OPTION)
}

/// Returns the file's text with a hook whose command line has these options.
fn with_options(
    agent: &Agent,
    before: Option<&str>,
    program: &str,
    options: &str,
) -> Result<String, BadFile> {
    let (text, program) = match &agent.form {
        HookForm::Json(form) => return entry::with(agent, form, before, (program, options)),
        HookForm::Toml(form) => {
            let command = HookCommand::new(agent.hook_name(), program, options);
            let lines = command.in_entry(form, |line| toml::Value::from(line).to_string());
            return toml_hook(agent).with(before, &lines);
        }
        HookForm::Unknown => return Err(BadFile::Unknown),
        HookForm::Plugin(text) => (text, serde_json::Value::from(program).to_string()),
        HookForm::Script(text) => (
            text,
            shlex::try_quote(program).unwrap_or_default().into_owned(),
        ),
    };
    if before.is_some_and(|before| !is_written_by_us(before)) {
        return Err(BadFile::NotOurs);
    }
    let text = text.replace("AGENT", agent.hook_name());
    Ok(text.replacen("PROGRAM", &program, 1))
}

/// Returns the file's text without the hook; identical to the original if nothing else has changed.
/// `None` if the file is to be removed.
///
/// # Errors
/// [`BadFile`]
pub fn without_hook(agent: &Agent, before: &str) -> Result<Option<String>, BadFile> {
    match &agent.form {
        HookForm::Json(form) => entry::without(agent, form, before),
        HookForm::Toml(_) => toml_hook(agent).without(before),
        HookForm::Plugin(_) | HookForm::Script(_) if is_written_by_us(before) => Ok(None),
        HookForm::Plugin(_) | HookForm::Script(_) => Err(BadFile::NotOurs),
        HookForm::Unknown => Err(BadFile::Unknown),
    }
}

/// Returns the form of the agent's hook in a TOML file.
fn toml_hook(agent: &Agent) -> TomlEntry {
    let name = agent.hook_name();
    let is_ours = move |hook: &toml::Value| {
        let line = hook.get("command").and_then(toml::Value::as_str);
        line.is_some_and(|line| command_line::is_ours(name, line))
    };
    TomlEntry {
        agent: agent.name,
        header: "[[hooks]]",
        keys: &["hooks"],
        expected: "a list of tables [[hooks]]",
        is_ours: Box::new(is_ours),
    }
}

/// True if one of the first two lines marks the file as written by agent-bash.
fn is_written_by_us(text: &str) -> bool {
    let mut first_lines = text.lines().take(2);
    first_lines.any(|line| line.contains("Written by `agent-bash hook"))
}

#[cfg(test)]
#[path = "install/install_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "install/setting_tests.rs"]
mod setting_tests;
