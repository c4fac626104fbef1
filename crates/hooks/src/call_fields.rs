//! Finds the fields of a hook call under the names that agents use.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Names of the field for the event.
pub(super) const EVENT_NAMES: &[&str] = &[
    "hook_event_name", "hookEventName", "event", "event_type", "hookName", "trigger",
    "agent_action_name",
];

/// Names of the field for the tool's name.
pub(super) const TOOL_NAMES: &[&str] = &["tool_name", "toolName", "tool"];

/// Names of the field for the tool's input.
pub(super) const INPUT_NAMES: &[&str] = &[
    "tool_input", "toolInput", "toolArgs", "tool_args", "parameters", "input", "args", "arguments",
    "tool_info",
];

/// Objects in which some agents nest the tool's name and input.
const NESTED_NAMES: &[&str] = &["tool_call", "toolCall", "preToolUse", "tool"];

/// Names of the field for the conversation's directory.
pub(super) const CWD_NAMES: &[&str] = &[
    "cwd", "workingDirectory", "working_directory", "working_dir",
];

/// Names of the list whose first entry is the conversation's directory. Used if a call has none of
/// [`CWD_NAMES`].
const WORKSPACE_NAMES: &[&str] = &["workspace_roots", "workspaceRoots"];

/// Fields of a tool's input that hold a script, in lowercase without punctuation.
const SCRIPT_NAMES: &[&str] = &["command", "cmd", "commands", "commandline", "shellcommand"];

/// Fields of a tool's input that name the script's directory, in lowercase without punctuation.
const DIRECTORY_NAMES: &[&str] = &["workdir", "cwd", "workingdirectory", "dirpath", "directory"];

/// A call's top-level fields. A duplicate name is an error, because the agent may use the other
/// value.
#[derive(Debug, Default)]
pub(super) struct CallFields(pub(super) Map<String, Value>);

impl<'de> Deserialize<'de> for CallFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UniqueFields;
        impl<'de> Visitor<'de> for UniqueFields {
            type Value = CallFields;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<CallFields, A::Error> {
                let mut fields = Map::new();
                while let Some((name, value)) = access.next_entry::<String, Value>()? {
                    if fields.contains_key(&name) {
                        return Err(A::Error::custom(format!("duplicate field `{name}`")));
                    }
                    fields.insert(name, value);
                }
                Ok(CallFields(fields))
            }
        }
        deserializer.deserialize_map(UniqueFields)
    }
}

/// A field that is present and not null: its name and value.
pub(super) type NamedField<'a> = (&'a str, &'a Value);

impl CallFields {
    /// Returns the first of these fields that is present.
    pub(super) fn first(&self, names: &[&'static str]) -> Option<NamedField<'_>> {
        first(&self.0, names)
    }

    /// Returns the objects that may hold the tool's name and input: the call's own fields, and the
    /// nested objects.
    fn holders(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let nested = NESTED_NAMES
            .iter()
            .filter_map(|name| self.0.get(*name)?.as_object());
        std::iter::once(&self.0).chain(nested)
    }

    /// Returns the field with the tool's name.
    pub(super) fn tool(&self) -> Option<NamedField<'_>> {
        let mut holders = self.holders();
        let top = holders.next().and_then(|top| first(top, TOOL_NAMES));
        let top = top.filter(|(_, value)| !value.is_object());
        top.or_else(|| {
            holders.find_map(|nested| first(nested, TOOL_NAMES).or(first(nested, &["name"])))
        })
    }

    /// Returns the tool's input: an object if there is one, else any value. Some agents encode the
    /// object as a string.
    pub(super) fn input(&self) -> Option<(&str, Value)> {
        let all = self.holders().flat_map(|holder| named(holder, INPUT_NAMES));
        let all: Vec<(&str, Value)> = all.map(|(name, value)| (name, decoded(value))).collect();
        let object = all.iter().position(|(_, value)| value.is_object());
        all.into_iter().nth(object.unwrap_or(0))
    }

    /// Returns the first of the workspace's directories, if the call lists any.
    pub(super) fn workspace_root(&self) -> Option<&str> {
        let (_, roots) = self.first(WORKSPACE_NAMES)?;
        let root = roots.get(0)?;
        let root = root.as_str().or_else(|| root.get("path")?.as_str())?;
        Some(root.strip_prefix("file://").unwrap_or(root))
    }
}

/// Returns the fields of `object` with one of these names, in the order of `names`. Leaves out
/// `null`.
fn named<'a>(
    object: &'a Map<String, Value>,
    names: &[&'static str],
) -> impl Iterator<Item = NamedField<'a>> {
    let all = names.iter().filter_map(|name| object.get_key_value(*name));
    all.filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.as_str(), value))
}

fn first<'a>(object: &'a Map<String, Value>, names: &[&'static str]) -> Option<NamedField<'a>> {
    named(object, names).next()
}

/// Returns the object that a string encodes as JSON; any other value unchanged. Of a duplicate
/// name, the last value counts, as for agents in JavaScript, Go and Python.
fn decoded(value: &Value) -> Value {
    let text = value.as_str();
    let object = text.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    object.map_or_else(|| value.clone(), Value::Object)
}

/// Returns a name in lowercase without punctuation, so that `run_in_terminal` and `runInTerminal`
/// are equal.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// True if the call is of the tool by which VS Code types a command into a terminal.
pub(super) fn is_of_vscode(call: &CallFields) -> bool {
    let tool = call.tool().and_then(|(_, tool)| tool.as_str());
    tool.is_some_and(|tool| plain(tool) == "runinterminal")
}

/// Returns the fields of a tool's input that hold scripts.
pub(super) fn scripts(input: &Map<String, Value>) -> impl Iterator<Item = NamedField<'_>> {
    matching(input, SCRIPT_NAMES)
}

/// Returns the fields of a tool's input that name the script's directory.
pub(super) fn directories(input: &Map<String, Value>) -> impl Iterator<Item = NamedField<'_>> {
    matching(input, DIRECTORY_NAMES).filter(|(_, value)| !value.is_null())
}

/// Returns the fields whose names, in lowercase without punctuation, are among `names`.
fn matching<'a>(
    input: &'a Map<String, Value>,
    names: &'static [&'static str],
) -> impl Iterator<Item = NamedField<'a>> {
    let all = input.iter().map(|(name, value)| (name.as_str(), value));
    all.filter(move |(name, _)| names.contains(&plain(name).as_str()))
}

/// Returns the scripts in a field: a string, a list of scripts, or the words of one command. `None`
/// for any other value.
///
/// The entries of a list are also returned as one script, because they may share a heredoc. `args`
/// are the words after the command, if another field holds them. A command is also returned without
/// them: an agent ignores `args` if its tool has none. It also runs a string that encodes a list.
pub(super) fn scripts_in_field(
    name: &str,
    value: &Value,
    args: Option<&Value>,
) -> Option<Vec<String>> {
    match value {
        Value::String(text) if text.trim_start().starts_with('[') && is_list(text) => {
            let list: Value = serde_json::from_str(text).ok()?;
            let mut scripts = scripts_in_field(name, &list, args)?;
            scripts.push(text.clone());
            Some(scripts)
        }
        Value::String(script) => Some(with_arguments(script, args)),
        Value::Array(items) => {
            let program = items.first()?.as_str();
            let is_argv =
                plain(name) != "commands" && program.is_some_and(|program| !program.contains(' '));
            if let Some(words) = words(value).filter(|_| is_argv) {
                return Some(with_arguments(&joined(words), args));
            }
            let scripts = items.iter().map(|item| scripts_in_field(name, item, None));
            let mut scripts = scripts.collect::<Option<Vec<_>>>()?.concat();
            if scripts.len() > 1 {
                scripts.push(scripts.join("\n"));
            }
            Some(scripts)
        }
        Value::Object(input) => {
            let (name, value) = scripts(input).next().or_else(|| quoted_text(input))?;
            if value.is_object() {
                return None;
            }
            scripts_in_field(name, value, input.get("args").or(args))
        }
        _ => None,
    }
}

/// Returns the text of a command or an argument with its way of quoting, as VS Code's tasks have
/// it: `{"value": "a b", "quoting": "strong"}`.
fn quoted_text(object: &Map<String, Value>) -> Option<NamedField<'_>> {
    first(object, &["value"])
}

/// Returns a command with the words of `args`, if any, and without them.
fn with_arguments(script: &str, args: Option<&Value>) -> Vec<String> {
    let words = args.map(arguments_text).filter(|words| !words.is_empty());
    let with_words = words.map(|words| format!("{script} {words}"));
    with_words.into_iter().chain([script.to_owned()]).collect()
}

/// Returns the words after a command as text for a shell. They are a list in any form, or a text.
fn arguments_text(args: &Value) -> String {
    if let Value::String(text) = args {
        return text.clone();
    }
    let mut words = Vec::new();
    let mut pending = vec![args];
    while let Some(value) = pending.pop() {
        match value {
            Value::Null => {}
            Value::String(word) => words.push(word.clone()),
            Value::Array(items) => pending.extend(items.iter().rev()),
            Value::Object(object) => pending.extend(quoted_text(object).map(|(_, value)| value)),
            other => words.push(other.to_string()),
        }
    }
    joined(words.iter().map(String::as_str).collect())
}

/// True if the text encodes a list of strings as JSON.
fn is_list(text: &str) -> bool {
    serde_json::from_str::<Vec<String>>(text).is_ok()
}

/// Returns the strings of a list; `None` if the value is not a list of strings.
fn words(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

/// Returns the words quoted for a shell and joined by spaces.
fn joined(words: Vec<&str>) -> String {
    // A word with a NUL cannot be quoted; the check of the script refuses it.
    let plain = words.join(" ");
    shlex::try_join(words).unwrap_or(plain)
}
