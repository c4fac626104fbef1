//! Edits a hook's entries in a JSON file. Each entry is an item of a list, which is at a path of
//! names.

use super::bad_file::BadFile;
use super::command_line::{HookCommand, is_ours};
use super::json::{
    JsonContainer, indented, levels, member, nested, removable, root, without_range,
};
use crate::agent::{Agent, HookList, JsonEntry};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use std::ops::Range;

/// Returns the settings with the hook, which replaces a hook of an earlier version.
pub(super) fn with(
    agent: &Agent,
    form: &JsonEntry,
    before: Option<&str>,
    (program, options): (&str, &str),
) -> Result<String, BadFile> {
    let command = HookCommand::new(agent.hook_name(), program, options);
    let Some(before) = before else {
        return fresh(agent, form, &command);
    };
    check_header(agent, form, before)?;
    let mut is_complete = true;
    for list in form.lists {
        let expected = parsed(&entry(list, &command));
        let found = find(agent, form, list.0, before)?;
        is_complete &= found.is_some_and(|found| parsed(&before[found.entry]) == expected);
    }
    if is_complete {
        return Ok(before.to_owned());
    }
    let Some(mut text) = without(agent, form, before)? else {
        return fresh(agent, form, &command);
    };
    for list in form.lists {
        text = insert(agent, form, list, &text, &command)?;
    }
    Ok(text)
}

/// Returns the settings without the hook; `None` if the file did not exist before.
pub(super) fn without(
    agent: &Agent,
    form: &JsonEntry,
    before: &str,
) -> Result<Option<String>, BadFile> {
    let mut text = before.to_owned();
    for list in form.lists.iter().rev() {
        while let Some(found) = find(agent, form, list.0, &text)? {
            if fresh(agent, form, &found.command)? == text {
                return Ok(None);
            }
            let insert = |without: &str| insert(agent, form, list, without, &found.command);
            text = without_range(&text, found.ranges, insert);
        }
    }
    Ok(Some(text))
}

/// The hook found in a list.
struct InstalledHook {
    /// The hook's command.
    command: HookCommand,
    /// The range of the hook's entry.
    entry: Range<usize>,
    /// Ranges that may be removed, largest first: enclosing objects that contain only this hook,
    /// then the hook.
    ranges: Vec<Range<usize>>,
}

/// Finds the hook in a list. `None` if the list has no hook of agent-bash.
fn find(
    agent: &Agent,
    form: &JsonEntry,
    list: &[&str],
    text: &str,
) -> Result<Option<InstalledHook>, BadFile> {
    let root = root(agent.name, form.json, text)?;
    let (inner, name) = split(list);
    let levels = levels(inner, &root)?;
    let deepest = levels.get(inner.len());
    let Some((in_object, value)) = deepest.and_then(|level| member(level.object, name)) else {
        return Ok(None);
    };
    let entries = value.as_array().ok_or_else(|| BadFile::OtherShape {
        path: list.join("."),
        expected: "an array",
    })?;
    for (index, entry) in entries.elements.iter().enumerate() {
        let Some(line) = find_our_command(agent, entry) else {
            continue;
        };
        // If the group also has other hooks, only ours is removed from the group.
        let group = entry.as_object().and_then(|group| member(group, "hooks"));
        let handlers = group.and_then(|(_, handlers)| handlers.as_array());
        let shared = handlers.filter(|handlers| handlers.elements.len() > 1);
        let ranges = match shared {
            Some(handlers) => {
                let mut elements = handlers.elements.iter();
                let ours = elements.position(|handler| find_our_command(agent, handler).is_some());
                vec![JsonContainer::array(handlers).range_of(ours.unwrap_or_default())]
            }
            None => removable(
                text,
                Some((JsonContainer::array(entries), index)),
                &levels,
                in_object,
            ),
        };
        return Ok(Some(InstalledHook {
            command: HookCommand::of_line(&line),
            entry: entry.start()..entry.end(),
            ranges,
        }));
    }
    Ok(None)
}

/// Returns our hook's command line in a value, at any depth.
fn find_our_command(agent: &Agent, value: &Value<'_>) -> Option<String> {
    match value {
        Value::StringLit(text) if is_ours(agent.hook_name(), &text.value) => {
            Some(text.value.to_string())
        }
        Value::Array(array) => array
            .elements
            .iter()
            .find_map(|element| find_our_command(agent, element)),
        Value::Object(object) => {
            let mut members = object.properties.iter();
            members.find_map(|member| find_our_command(agent, &member.value))
        }
        _ => None,
    }
}

/// Inserts the hook at the end of a list, creating the list and enclosing objects as needed.
fn insert(
    agent: &Agent,
    form: &JsonEntry,
    list: &HookList,
    text: &str,
    command: &HookCommand,
) -> Result<String, BadFile> {
    let root = root(agent.name, form.json, text)?;
    let (inner, name) = split(list.0);
    let levels = levels(inner, &root)?;
    let depth = levels.len();
    let Some(deepest) = levels.last() else {
        return Ok(text.to_owned());
    };
    let entry = entry(list, command);
    let existing = member(deepest.object, name).filter(|_| depth > inner.len());
    Ok(match existing.and_then(|(_, value)| value.as_array()) {
        Some(entries) => JsonContainer::array(entries).with(text, depth + 1, &entry),
        None => JsonContainer::object(deepest.object).with(
            text,
            depth,
            &member_of(&list.0[depth - 1..], &entry),
        ),
    })
}

/// Returns a file's text that contains only the hook.
fn fresh(agent: &Agent, form: &JsonEntry, command: &HookCommand) -> Result<String, BadFile> {
    let header = form
        .header
        .map(|(name, value)| format!("  \"{name}\": {value},\n"));
    let header = header.unwrap_or_default();
    let mut lists = form.lists.iter();
    let first = lists
        .next()
        .map(|list| member_of(list.0, &entry(list, command)));
    let mut text = format!("{{\n{header}{}\n}}\n", indented(&first.unwrap_or_default()));
    for list in lists {
        text = insert(agent, form, list, &text, command)?;
    }
    Ok(text)
}

/// Returns the list as a member, with only this entry.
fn member_of(list: &[&str], entry: &str) -> String {
    nested(list, &format!("[\n{}\n]", indented(entry)))
}

/// Returns the JSON text of the hook's entry in a list.
fn entry(list: &HookList, command: &HookCommand) -> String {
    command.in_entry(list.1, |line| serde_json::Value::from(line).to_string())
}

fn parsed(entry: &str) -> Option<serde_json::Value> {
    serde_json::from_str(entry).ok()
}

/// Checks that the file has the header and lacks the excluded member, because the agent otherwise
/// ignores the hook.
fn check_header(agent: &Agent, form: &JsonEntry, text: &str) -> Result<(), BadFile> {
    let root = root(agent.name, form.json, text)?;
    if let Some((name, reason)) = form.excluded
        && member(&root, name).is_some()
    {
        return Err(BadFile::OtherShape {
            path: name.to_owned(),
            expected: reason,
        });
    }
    let Some((name, expected)) = form.header else {
        return Ok(());
    };
    let value = member(&root, name).map(|(_, value)| &text[value.start()..value.end()]);
    if value == Some(expected) {
        return Ok(());
    }
    Err(BadFile::OtherShape {
        path: name.to_owned(),
        expected,
    })
}

/// Splits the path of a list into the names of the enclosing objects, and the list's name.
fn split<'a>(list: &'a [&'a str]) -> (&'a [&'a str], &'a str) {
    let (name, inner) = list.split_last().unwrap_or((&"", &[]));
    (inner, name)
}
