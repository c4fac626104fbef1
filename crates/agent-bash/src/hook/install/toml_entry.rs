//! Edits a hook's entry in a TOML file: a table `[[hooks]]` at the end.

use super::bad_file::BadFile;
use super::line::{hook_command, is_ours};
use crate::hook::agent::Agent;
use toml::{Table, Value};

const TABLE_HEADER: &str = "[[hooks]]";

/// Returns the file's text with the hook, which replaces a hook of an earlier version.
pub(super) fn with(
    agent: &Agent,
    entry: &str,
    before: Option<&str>,
    (program, options): (&str, &str),
) -> Result<String, BadFile> {
    let line = Value::from(hook_command(agent.name, program, options)).to_string();
    let entry = format!("{TABLE_HEADER}\n{}", entry.replacen("LINE", &line, 1));
    let Some(before) = before else {
        return Ok(entry);
    };
    if before.contains(&entry) && parse(agent, before).is_ok() {
        return Ok(before.to_owned());
    }
    let Some(cleared) = without(agent, before)? else {
        return Ok(entry);
    };
    // The entry ends as the file did, so that its removal restores the file.
    let after = match cleared.strip_suffix('\n') {
        Some(_) => format!("{cleared}\n{entry}"),
        None => format!("{cleared}\n\n{}", entry.trim_end()),
    };
    parse(agent, &after).map_err(|_| BadFile::OtherShape {
        path: "hooks".to_owned(),
        expected: "a list of tables [[hooks]]",
    })?;
    Ok(after)
}

/// Returns the file's text without the hook. `None` if the file did not exist before.
pub(super) fn without(agent: &Agent, before: &str) -> Result<Option<String>, BadFile> {
    let mut expected = parse(agent, before)?;
    if let Some(Value::Array(hooks)) = expected.get_mut("hooks") {
        hooks.retain(|hook| !is_hook(agent, hook));
    }
    let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
    while let Some((start, end)) = find(agent, &lines) {
        if start == 0 && end == lines.len() {
            return Ok(None);
        }
        lines.drain(start..end);
        // The blank line that the installation put before the entry.
        if start > 0 && lines[start - 1].trim().is_empty() {
            lines.remove(start - 1);
        }
        if end > lines.len() && !before.ends_with('\n') {
            let last = lines.pop().unwrap_or_default();
            lines.push(last.trim_end_matches('\n'));
        }
    }
    let after: String = lines.concat();
    let mut found = parse(agent, &after)?;
    for table in [&mut expected, &mut found] {
        if table
            .get("hooks")
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
        {
            table.remove("hooks");
        }
    }
    if found != expected {
        return Err(BadFile::OtherShape {
            path: "hooks".to_owned(),
            expected: "a list of tables [[hooks]]",
        });
    }
    Ok(Some(after))
}

/// Returns the range of the entry's lines, from its header to its last key.
fn find(agent: &Agent, lines: &[&str]) -> Option<(usize, usize)> {
    let starts = (0..lines.len()).filter(|index| lines[*index].trim() == TABLE_HEADER);
    starts.into_iter().find_map(|start| {
        let next = lines[start + 1..]
            .iter()
            .position(|line| line.starts_with('['));
        let mut end = next.map_or(lines.len(), |next| start + 1 + next);
        let is_key = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
        while end > start + 1 && !is_key(lines[end - 1]) {
            end -= 1;
        }
        let table: Table = lines[start + 1..end].concat().parse().ok()?;
        is_hook(agent, &Value::Table(table)).then_some((start, end))
    })
}

fn is_hook(agent: &Agent, hook: &Value) -> bool {
    let line = hook.get("command").and_then(Value::as_str);
    line.is_some_and(|line| is_ours(agent.name, line))
}

fn parse(agent: &Agent, text: &str) -> Result<Table, BadFile> {
    text.parse()
        .map_err(|error: toml::de::Error| BadFile::NotToml {
            agent: agent.name,
            error: error.to_string(),
        })
}
