//! Edits the setting that names an agent's shell: a string member of nested objects.

use super::bad_file::BadFile;
use super::json::{
    JsonContainer, indented, levels, member, nested, removable, root, without_range,
};
use crate::hook::take_over::ShellSetting;
use jsonc_parser::common::Ranged;
use std::ops::Range;
use std::path::Path;

/// Returns the settings in which `link` is the agent's shell, replacing an older link of ours.
/// `before` is the file's current text, if the file exists.
///
/// # Errors
/// [`BadFile`]. [`BadFile::AlreadySet`]: the user has set another shell.
pub fn with_shell(
    setting: &ShellSetting,
    before: Option<&str>,
    link: &str,
) -> Result<String, BadFile> {
    let Some(before) = before else {
        return Ok(fresh(setting, link));
    };
    match find(setting, before)? {
        Some(found) if found.link.as_deref() == Some(link) => return Ok(before.to_owned()),
        Some(ShellValue {
            link: None, value, ..
        }) => {
            let path = setting.keys.join(".");
            return Err(BadFile::AlreadySet { path, value });
        }
        _ => {}
    }
    match without_shell(setting, before)? {
        Some(cleared) => insert(setting, &cleared, link),
        None => Ok(fresh(setting, link)),
    }
}

/// Returns the settings without our link; identical to the original if nothing else has changed.
/// `None` if the file is to be removed. A shell that the user has set is not removed.
///
/// # Errors
/// [`BadFile`]
pub fn without_shell(setting: &ShellSetting, before: &str) -> Result<Option<String>, BadFile> {
    let Some(ShellValue {
        link: Some(link),
        ranges,
        ..
    }) = find(setting, before)?
    else {
        return Ok(Some(before.to_owned()));
    };
    if fresh(setting, &link) == before {
        return Ok(None);
    }
    let insert = |text: &str| insert(setting, text, &link);
    Ok(Some(without_range(before, ranges, insert)))
}

/// Returns our link in the settings. `None` if they name no shell or another one.
///
/// # Errors
/// [`BadFile`]
pub fn shell_of(setting: &ShellSetting, text: &str) -> Result<Option<String>, BadFile> {
    Ok(find(setting, text)?.and_then(|found| found.link))
}

/// The setting's current value.
struct ShellValue {
    /// The value, if it is one of our links.
    link: Option<String>,
    /// The value, as JSON.
    value: String,
    /// Ranges that may be removed, largest first: enclosing objects that contain only this setting,
    /// then the setting.
    ranges: Vec<Range<usize>>,
}

fn find(setting: &ShellSetting, text: &str) -> Result<Option<ShellValue>, BadFile> {
    let root = root(setting.agent, setting.json, text)?;
    let inner = setting.keys.len() - 1;
    let levels = levels(&setting.keys[..inner], &root)?;
    let found = levels
        .get(inner)
        .and_then(|deepest| member(deepest.object, setting.keys[inner]));
    let Some((index, value)) = found else {
        return Ok(None);
    };
    let link = value.as_string_lit().map(|value| value.value.to_string());
    Ok(Some(ShellValue {
        link: link.filter(|link| Path::new(link).ends_with(setting.link_end())),
        value: text[value.start()..value.end()].to_owned(),
        ranges: removable(text, None, &levels, index),
    }))
}

/// Inserts the setting at the end, creating enclosing objects as needed.
fn insert(setting: &ShellSetting, text: &str, link: &str) -> Result<String, BadFile> {
    let root = root(setting.agent, setting.json, text)?;
    let levels = levels(&setting.keys[..setting.keys.len() - 1], &root)?;
    let depth = levels.len();
    let Some(deepest) = levels.last() else {
        return Ok(text.to_owned());
    };
    let item = item(&setting.keys[depth - 1..], link);
    Ok(JsonContainer::object(deepest.object).with(text, depth, &item))
}

/// Returns settings that contain only the link.
fn fresh(setting: &ShellSetting, link: &str) -> String {
    let item = indented(&item(setting.keys, link));
    format!("{{\n{item}\n}}\n")
}

fn item(keys: &[&str], link: &str) -> String {
    nested(keys, &serde_json::Value::from(link).to_string())
}
