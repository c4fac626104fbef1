//! A hook's entry in an agent's settings: `hooks`, the event, a group with a matcher, the command.

use super::bad_file::BadFile;
use super::json::{Container, JsonForm, member, root};
use crate::hook::agents::agent::{Agent, SettingsForm};
use jsonc_parser::ast::{Array, Object};
use std::ops::Range;
use std::path::Path;

const HOOKS_KEY: &str = "hooks";

/// The settings with the hook, replacing one of an earlier version.
pub(super) fn with(
    agent: &Agent,
    form: &SettingsForm,
    before: Option<&str>,
    (program, options): (&str, &str),
) -> Result<String, BadFile> {
    let line = line(agent, program, options);
    let Some(before) = before else {
        return Ok(fresh(agent, form, &line));
    };
    let found = find(agent, form, before)?;
    if found.as_ref().is_some_and(|found| found.line == line) {
        return Ok(before.to_owned());
    }
    match without(agent, form, before)? {
        Some(cleared) => insert(agent, form, &cleared, &line),
        None => Ok(fresh(agent, form, &line)),
    }
}

/// The settings without the hook; `None` if the file did not exist before.
pub(super) fn without(
    agent: &Agent,
    form: &SettingsForm,
    before: &str,
) -> Result<Option<String>, BadFile> {
    let mut text = before.to_owned();
    while let Some(found) = find(agent, form, &text)? {
        if fresh(agent, form, &found.line) == text {
            return Ok(None);
        }
        let mut candidates: Vec<String> = found
            .ranges
            .into_iter()
            .map(|range| {
                let mut without = text.clone();
                without.replace_range(range, "");
                without
            })
            .collect();
        // Removes the largest range whose removal a new insertion would exactly reverse: an
        // enclosing object beyond it is the user's. If the file was reformatted, so that there is
        // none, removes the largest range.
        let ours = |without: &String| {
            insert(agent, form, without, &found.line).is_ok_and(|again| again == text)
        };
        let best = candidates.iter().position(ours).unwrap_or(0);
        text = candidates.swap_remove(best);
    }
    Ok(Some(text))
}

/// The fallback that blocks if the program gives no verdict, valid in any shell. The exit code
/// alone is not enough: Codex and Gemini CLI let a command run if stderr is empty.
const FALLBACK: &str = "sh -c 'echo Not run: agent-bash gave no verdict >&2; exit 2'";

/// The command for the agent's shell. Any failure blocks, including a missing program: the shell's
/// own exit code for that would let the command run.
fn line(agent: &Agent, program: &str, options: &str) -> String {
    let program = shlex::try_quote(program).unwrap_or_default();
    format!("{program} hook {}{options} || {FALLBACK}", agent.name)
}

fn is_ours(agent: &Agent, line: &str) -> bool {
    let words = shlex::split(line).unwrap_or_default();
    words.windows(3).any(|words| {
        Path::new(&words[0])
            .file_name()
            .is_some_and(|name| name == "agent-bash")
            && words[1] == "hook"
            && words[2] == agent.name
    })
}

/// The hook found in the settings.
struct InstalledHook {
    /// The hook's command.
    line: String,
    /// Ranges that may be removed, largest first: enclosing objects that contain only this hook,
    /// then the hook.
    ranges: Vec<Range<usize>>,
}

fn find(agent: &Agent, form: &SettingsForm, text: &str) -> Result<Option<InstalledHook>, BadFile> {
    let value = read(agent, form, text)?;
    let levels = Levels::of(agent, &value)?;
    let (Some((in_root, hooks)), Some((in_hooks, groups))) = (levels.hooks, levels.groups) else {
        return Ok(None);
    };
    for (in_groups, group) in groups.elements.iter().enumerate() {
        let handlers = group.as_object().and_then(|group| member(group, HOOKS_KEY));
        let Some(handlers) = handlers.and_then(|(_, handlers)| handlers.as_array()) else {
            continue;
        };
        for (in_handlers, handler) in handlers.elements.iter().enumerate() {
            let command = handler.as_object().and_then(|it| member(it, "command"));
            let Some(line) = command.and_then(|(_, command)| command.as_string_lit()) else {
                continue;
            };
            if !is_ours(agent, &line.value) {
                continue;
            }
            let around = [
                (Container::array(handlers), in_handlers),
                (Container::array(groups), in_groups),
                (Container::object(hooks), in_hooks),
                (Container::object(levels.root), in_root),
            ];
            let mut ranges = Vec::new();
            for (container, index) in &around {
                ranges.push(container.range_of(*index));
                if container.items.len() > 1 {
                    break;
                }
            }
            // A group without hooks has no purpose.
            if handlers.elements.len() == 1 {
                ranges.remove(0);
            }
            ranges.reverse();
            return Ok(Some(InstalledHook {
                line: line.value.clone().into_owned(),
                ranges,
            }));
        }
    }
    Ok(None)
}

/// Inserts the hook at the end, creating enclosing objects as needed.
fn insert(agent: &Agent, form: &SettingsForm, text: &str, line: &str) -> Result<String, BadFile> {
    let value = read(agent, form, text)?;
    let levels = Levels::of(agent, &value)?;
    Ok(match (levels.hooks, levels.groups) {
        (_, Some((_, groups))) => Container::array(groups).with(text, 3, &group(form, line)),
        (Some((_, hooks)), None) => {
            Container::object(hooks).with(text, 2, &event(agent, form, line))
        }
        (None, None) => Container::object(levels.root).with(text, 1, &hooks(agent, form, line)),
    })
}

/// Settings that contain only the hook.
fn fresh(agent: &Agent, form: &SettingsForm, line: &str) -> String {
    format!("{{\n{}\n}}\n", indented(&hooks(agent, form, line)))
}

fn hooks(agent: &Agent, form: &SettingsForm, line: &str) -> String {
    let event = indented(&event(agent, form, line));
    format!("\"{HOOKS_KEY}\": {{\n{event}\n}}")
}

fn event(agent: &Agent, form: &SettingsForm, line: &str) -> String {
    let group = indented(&group(form, line));
    format!("\"{}\": [\n{group}\n]", agent.event)
}

fn group(form: &SettingsForm, line: &str) -> String {
    let line = serde_json::Value::from(line);
    let SettingsForm {
        matcher, timeout, ..
    } = form;
    format!(
        r#"{{
  "matcher": "{matcher}",
  "hooks": [
    {{
      "type": "command",
      "command": {line},
      "timeout": {timeout}
    }}
  ]
}}"#
    )
}

fn indented(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

fn read<'a>(agent: &Agent, form: &SettingsForm, text: &'a str) -> Result<Object<'a>, BadFile> {
    let form = JsonForm {
        comments: form.comments,
        trailing_commas: false,
    };
    root(agent.name, form, text)
}

/// The existing objects on the path from the root over `hooks` to the event, each with its index in
/// the enclosing object.
struct Levels<'a, 'b> {
    root: &'b Object<'a>,
    hooks: Option<(usize, &'b Object<'a>)>,
    groups: Option<(usize, &'b Array<'a>)>,
}

impl<'a, 'b> Levels<'a, 'b> {
    fn of(agent: &Agent, root: &'b Object<'a>) -> Result<Self, BadFile> {
        let other = |place: String, expected| BadFile::OtherShape {
            path: place,
            expected,
        };
        let mut levels = Self {
            root,
            hooks: None,
            groups: None,
        };
        if let Some((index, hooks)) = member(root, HOOKS_KEY) {
            let hooks = hooks
                .as_object()
                .ok_or_else(|| other(HOOKS_KEY.to_owned(), "an object"))?;
            levels.hooks = Some((index, hooks));
            if let Some((index, groups)) = member(hooks, agent.event) {
                let place = format!("{HOOKS_KEY}.{}", agent.event);
                let groups = groups.as_array().ok_or_else(|| other(place, "an array"))?;
                levels.groups = Some((index, groups));
            }
        }
        Ok(levels)
    }
}
