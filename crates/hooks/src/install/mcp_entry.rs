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
        McpForm::Toml | McpForm::TomlList(_) => {
            toml(agent).with(before, &toml_lines(first_lines(agent), program))
        }
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
        McpForm::Toml | McpForm::TomlList(_) => toml(agent).without(before),
    }
}

/// Returns the program in our entry. `None` if the text has no entry of ours.
///
/// # Errors
/// [`BadFile`]
pub fn mcp_program(agent: &McpAgent, text: &str) -> Result<Option<String>, BadFile> {
    match &agent.form {
        McpForm::Json { .. } => with_member(agent, |member| member.program(text)),
        McpForm::Toml | McpForm::TomlList(_) => {
            let entry = toml(agent).own_entry(text)?;
            let program = entry.as_ref();
            let program = program.and_then(|entry| toml_program(first_lines(agent), entry));
            Ok(program.map(str::to_owned))
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
    let first_lines = first_lines(agent);
    let is_ours = Box::new(move |entry: &toml::Value| toml_program(first_lines, entry).is_some());
    match agent.form {
        McpForm::TomlList(_) => TomlEntry {
            agent: agent.name,
            header: "[[mcp_servers]]",
            keys: &["mcp_servers"],
            expected: "a list of tables [[mcp_servers]]",
            is_ours,
        },
        _ => TomlEntry {
            agent: agent.name,
            header: "[mcp_servers.agent-bash]",
            keys: &["mcp_servers", "agent-bash"],
            expected: "a table [mcp_servers.agent-bash]",
            is_ours,
        },
    }
}

/// Returns the lines that this agent's entry in a TOML file has before the usual ones.
fn first_lines(agent: &McpAgent) -> &'static str {
    match agent.form {
        McpForm::TomlList(lines) => lines,
        _ => "",
    }
}

fn toml_lines(first_lines: &str, program: &str) -> String {
    let program = toml::Value::from(program);
    format!("{first_lines}command = {program}\nargs = [\"mcp\"]\n")
}

/// Returns the program of an entry as written by agent-bash. Tables below the entry are allowed,
/// because Codex adds tables of its own.
fn toml_program<'a>(first_lines: &str, entry: &'a toml::Value) -> Option<&'a str> {
    let program = entry.get("command")?.as_str()?;
    let expected: toml::Table = toml_lines(first_lines, program).parse().ok()?;
    let mut values = entry.as_table()?.clone();
    values.retain(|_, value| !value.is_table());
    (values == expected && is_our_program(program)).then_some(program)
}

fn is_our_program(program: &str) -> bool {
    Path::new(program)
        .file_name()
        .is_some_and(|name| name == "agent-bash")
}
