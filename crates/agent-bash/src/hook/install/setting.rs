//! A setting that names the shell of an agent: a string, at a path of names within an object.

use super::bad_file::BadFile;
use super::json::{Container, member, root};
use crate::hook::take_over::ShellSetting;
use jsonc_parser::ast::{Object, Value};
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
/// `None` if the file is to be removed. A shell that the user has set stays.
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
    let candidates = ranges.into_iter().map(|range| {
        let mut text = before.to_owned();
        text.replace_range(range, "");
        text
    });
    let mut candidates: Vec<String> = candidates.collect();
    // The enclosing objects that we created are those with which the text is what we would have
    // written. If the file was reformatted since, they are those that contain nothing else.
    let ours = |text: &String| insert(setting, text, &link).is_ok_and(|again| again == before);
    let best = candidates.iter().position(ours).unwrap_or(0);
    Ok(Some(candidates.swap_remove(best)))
}

/// Returns the link of ours that the settings name. `None` if they name no shell, or another one.
///
/// # Errors
/// [`BadFile`]
pub fn shell_of(setting: &ShellSetting, text: &str) -> Result<Option<String>, BadFile> {
    Ok(find(setting, text)?.and_then(|found| found.link))
}

/// The setting's current value.
struct ShellValue {
    /// The value, if it is a link of ours.
    link: Option<String>,
    /// The value, as JSON.
    value: String,
    /// Ranges that may be removed with it, from the outermost enclosing object without other
    /// contents to the setting alone.
    ranges: Vec<Range<usize>>,
}

fn find(setting: &ShellSetting, text: &str) -> Result<Option<ShellValue>, BadFile> {
    let root = root(setting.agent, setting.json, text)?;
    let levels = levels(setting, &root)?;
    let deepest = levels.get(setting.keys.len() - 1);
    let found = deepest
        .zip(setting.keys.last())
        .and_then(|(deepest, name)| member(deepest.object, name));
    let Some((index, value)) = found else {
        return Ok(None);
    };
    let link = value.as_string_lit().map(|value| value.value.to_string());
    let mut ranges = Vec::new();
    let mut index = Some(index);
    for level in levels.iter().rev() {
        let container = Container::object(level.object);
        let Some(of_member) = index else { break };
        ranges.push(with_comma(text, &container, container.range_of(of_member)));
        if container.items.len() > 1 {
            break;
        }
        index = level.index;
    }
    ranges.reverse();
    Ok(Some(ShellValue {
        link: link.filter(|link| Path::new(link).ends_with(setting.link_end())),
        value: text[value.start()..value.end()].to_owned(),
        ranges,
    }))
}

/// The range of the only item, and the comma after it.
fn with_comma(text: &str, container: &Container, range: Range<usize>) -> Range<usize> {
    let rest = text[range.end..].trim_start();
    if container.items.len() == 1 && rest.starts_with(',') {
        return range.start..text.len() - rest.len() + 1;
    }
    range
}

/// An object on the path to the setting.
struct Level<'a, 'b> {
    object: &'b Object<'a>,
    /// The level's position in the object around it.
    index: Option<usize>,
}

/// The objects on the path to the setting, as far as they exist.
fn levels<'a, 'b>(
    setting: &ShellSetting,
    root: &'b Object<'a>,
) -> Result<Vec<Level<'a, 'b>>, BadFile> {
    let mut levels = vec![Level {
        object: root,
        index: None,
    }];
    let mut object = root;
    let inner = setting.keys.len() - 1;
    for (depth, name) in setting.keys[..inner].iter().enumerate() {
        let Some((index, value)) = member(object, name) else {
            break;
        };
        let Value::Object(value) = value else {
            return Err(BadFile::OtherShape {
                path: setting.keys[..=depth].join("."),
                expected: "an object",
            });
        };
        object = value;
        levels.push(Level {
            object,
            index: Some(index),
        });
    }
    Ok(levels)
}

/// Inserts the setting at the end, creating enclosing objects as needed.
fn insert(setting: &ShellSetting, text: &str, link: &str) -> Result<String, BadFile> {
    let root = root(setting.agent, setting.json, text)?;
    let levels = levels(setting, &root)?;
    let depth = levels.len();
    let Some(deepest) = levels.last() else {
        return Ok(text.to_owned());
    };
    let item = item(&setting.keys[depth - 1..], link);
    Ok(Container::object(deepest.object).with(text, depth, &item))
}

/// Settings that contain nothing else.
fn fresh(setting: &ShellSetting, link: &str) -> String {
    let item = indented(&item(setting.keys, link));
    format!("{{\n{item}\n}}\n")
}

fn item(keys: &[&str], link: &str) -> String {
    match keys {
        [] => serde_json::Value::from(link).to_string(),
        [name] => format!("\"{name}\": {}", serde_json::Value::from(link)),
        [name, inner @ ..] => {
            format!("\"{name}\": {{\n{}\n}}", indented(&item(inner, link)))
        }
    }
}

fn indented(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}
