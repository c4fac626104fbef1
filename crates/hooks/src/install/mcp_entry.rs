//! Edits the entry that makes an agent start `agent-bash mcp`.

use super::bad_file::BadFile;
use super::json_member::JsonMember;
use super::toml_entry::TomlEntry;
use crate::mcp_agent::{McpAgent, McpForm};
use serde_json::Value;
use std::path::Path;

/// Returns the file's text with an entry for `program` as an MCP server. Replaces an entry that
/// agent-bash wrote earlier. `before` is the file's current text, if the file exists.
///
/// # Errors
/// [`BadFile`]. [`BadFile::AlreadySet`]: the user has a server of this name.
pub fn with_mcp(agent: &McpAgent, before: Option<&str>, program: &str) -> Result<String, BadFile> {
    match &agent.form {
        McpForm::Json { .. } => with_member(agent, |member| member.with(before, program)),
        McpForm::Toml => toml(agent).with(before, &toml_lines(program)),
    }
}

/// Returns the text without our entry; identical to the original if nothing else has changed.
/// `None` if the file is to be removed. An entry that the user has changed is not removed.
///
/// # Errors
/// [`BadFile`]
pub fn without_mcp(agent: &McpAgent, before: &str) -> Result<Option<String>, BadFile> {
    match &agent.form {
        McpForm::Json { .. } => with_member(agent, |member| member.without(before)),
        McpForm::Toml => toml(agent).without(before),
    }
}

/// Returns the program in our entry. `None` if the text has no entry of ours.
///
/// # Errors
/// [`BadFile`]
pub fn mcp_program(agent: &McpAgent, text: &str) -> Result<Option<String>, BadFile> {
    match &agent.form {
        McpForm::Json { .. } => with_member(agent, |member| member.program(text)),
        McpForm::Toml => {
            let entry = toml(agent).own_entry(text)?;
            Ok(entry.as_ref().and_then(toml_program).map(str::to_owned))
        }
    }
}

/// Calls `action` with the member of the agent's JSON file that agent-bash writes.
fn with_member<T>(agent: &McpAgent, action: impl FnOnce(&JsonMember<'_>) -> T) -> T {
    let McpForm::Json { json, keys, entry } = agent.form else {
        unreachable!("the caller matches the form")
    };
    let to_json = |program: &str| entry.replacen("PROGRAM", &Value::from(program).to_string(), 1);
    // Only an entry that agent-bash wrote is ours. An entry with other options is the user's.
    let program_of = |value: &Value| {
        let command = &value["command"];
        let program = command.as_str().or_else(|| command[0].as_str())?;
        let expected: Value = serde_json::from_str(&to_json(program)).ok()?;
        (is_our_program(program) && *value == expected).then(|| program.to_owned())
    };
    action(&JsonMember {
        agent: agent.name,
        json,
        keys,
        to_json: &to_json,
        program_of: &program_of,
    })
}

/// Returns the form of the agent's entry in a TOML file.
fn toml(agent: &McpAgent) -> TomlEntry {
    TomlEntry {
        agent: agent.name,
        header: "[mcp_servers.agent-bash]",
        keys: &["mcp_servers", "agent-bash"],
        expected: "a table [mcp_servers.agent-bash]",
        is_ours: Box::new(|entry| toml_program(entry).is_some()),
    }
}

fn toml_lines(program: &str) -> String {
    let program = toml::Value::from(program);
    format!("command = {program}\nargs = [\"mcp\"]\n")
}

/// Returns the program of an entry as written by agent-bash. Tables below the entry are allowed,
/// because Codex adds tables of its own.
fn toml_program(entry: &toml::Value) -> Option<&str> {
    let values = entry.as_table()?.iter();
    let mut values = values.filter(|(_, value)| !value.is_table());
    let is_expected = |(name, value): (&String, &toml::Value)| match &**name {
        "command" => true,
        "args" => value.as_array().is_some_and(|args| args == &["mcp".into()]),
        _ => false,
    };
    let program = entry.get("command")?.as_str()?;
    (values.all(is_expected) && entry.get("args").is_some() && is_our_program(program))
        .then_some(program)
}

fn is_our_program(program: &str) -> bool {
    Path::new(program)
        .file_name()
        .is_some_and(|name| name == "agent-bash")
}
