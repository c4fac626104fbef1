//! The definition of a setting, and how common kinds of values are read and written.

use super::Settings;
use agent_bash_core::{parse_duration, short_duration};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// One setting.
pub(super) struct SettingKey {
    /// `section.name`, or a name without a section.
    pub(super) name: &'static str,
    /// The documentation for users, one or more lines.
    pub(super) doc: &'static str,
    /// How a value from the environment is converted.
    pub(super) form: ValueForm,
    /// Parses a value. The error says what is expected.
    pub(super) set: fn(&mut Settings, &Value) -> Result<(), String>,
    /// Returns the value as in a settings file; `None` if unset.
    pub(super) get: fn(&Settings) -> Option<Value>,
    /// The effect of a project's file.
    pub(super) project: ProjectEffect,
}

/// The effect of a project's file on a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProjectEffect {
    /// No effect: only the user may set the key.
    Never,
    /// Sets the key if the function, called with the settings before and after, returns true: the
    /// settings after are at least as strict.
    Tightens(fn(&Settings, &Settings) -> bool),
    /// Extends a list that is stricter with more entries: the function adds the entries of the
    /// settings before to the settings after. So a project's file cannot remove an entry.
    Adds(fn(&Settings, &mut Settings)),
}

/// How a value from the environment is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// Unchanged.
    Text,
    /// A whole number.
    Number,
    /// Split at commas.
    List,
    /// The key cannot be set in the environment.
    FileOnly,
}

pub(super) fn on_or_off(value: &Value) -> Result<bool, String> {
    match text(value)? {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("`on` or `off`".to_owned()),
    }
}

pub(super) fn on_value<T: Copy + Into<bool>>(on: &T) -> Option<Value> {
    to_value(if (*on).into() { "on" } else { "off" })
}

pub(super) fn yes_or_no(value: &Value) -> Result<bool, String> {
    match value {
        Value::Boolean(yes) => Ok(*yes),
        // The value of an environment variable is always a string.
        Value::String(text) => text.parse().map_err(|_| "`true` or `false`".to_owned()),
        _ => Err("`true` or `false`".to_owned()),
    }
}

pub(super) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "a text".to_owned())
}

pub(super) fn owned_text<T: From<String>>(value: &Value) -> Result<T, String> {
    text(value).map(|text| text.to_owned().into())
}

pub(super) fn list<T: From<Vec<String>>>(value: &Value) -> Result<T, String> {
    let list: Result<Vec<String>, _> = value.clone().try_into();
    list.map(T::from).map_err(|_| "a list of texts".to_owned())
}

/// Parses a whole number that is at least 1.
pub(super) fn count<T: From<u64>>(value: &Value) -> Result<T, String> {
    let number = value.as_integer().and_then(|n| u64::try_from(n).ok());
    number
        .filter(|n| *n > 0)
        .map(T::from)
        .ok_or_else(|| "a whole number, 1 or more".to_owned())
}

/// Parses a number of seconds, or a text with a unit from milliseconds to days.
pub(super) fn duration<T: From<Duration>>(value: &Value) -> Result<T, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(seconds) => seconds.to_string(),
        Value::Float(seconds) => seconds.to_string(),
        _ => return Err("seconds, or a text such as \"90s\"".to_owned()),
    };
    // `parse_duration` does not know days, because it parses the timeouts of calls.
    let Some(days) = text.trim().strip_suffix('d') else {
        let duration = parse_duration(&text).map_err(|error| error.to_string())?;
        return Ok(duration.into());
    };
    let hours = parse_duration(&format!("{days}h")).map_err(|_| {
        format!("`{text}` is not a duration; write a number with a unit: `90s`, `2m`, `1h`, `7d`")
    })?;
    Ok(hours.saturating_mul(24).into())
}

/// Parses a retention time. A number without a unit would mean seconds and soon delete the stored
/// data, so it is refused.
pub(super) fn retention<T: From<Duration>>(value: &Value) -> Result<T, String> {
    let unit = value.as_str().and_then(|text| text.trim().chars().last());
    if unit.is_some_and(char::is_alphabetic) {
        return duration(value);
    }
    Err("a number with a unit, such as \"12h\" or \"7d\"".to_owned())
}

pub(super) fn absolute_path<T: From<PathBuf>>(value: &Value) -> Result<T, String> {
    let path = PathBuf::from(text(value)?);
    if path.is_absolute() {
        Ok(path.into())
    } else {
        Err("an absolute path".to_owned())
    }
}

/// Parses a value as its type. If the type is one of several words, the error lists the words.
pub(super) fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    let parse = |value: Value| {
        let typed: Result<T, _> = value.try_into();
        typed.map_err(|error| error.message().to_owned())
    };
    parse(value.clone()).map_err(|error| {
        // toml lists the words only in its error about a text.
        let text = (!value.is_str()).then(|| Value::String(value.to_string()));
        let words = text.and_then(|text| parse(text).err());
        let words = words.filter(|words| words.starts_with("unknown variant"));
        words.unwrap_or(error)
    })
}

pub(super) fn to_value(value: impl Serialize) -> Option<Value> {
    Value::try_from(value).ok()
}

/// Returns the value as in a settings file; whole days in days, whole hours in hours.
pub(super) fn duration_value<T: Copy + Into<Option<Duration>>>(duration: &T) -> Option<Value> {
    const HOUR_SECS: u64 = 60 * 60;
    let duration: Duration = (*duration).into()?;
    let hours = duration.as_secs() / HOUR_SECS;
    let is_whole = hours > 0 && duration == Duration::from_secs(hours * HOUR_SECS);
    to_value(match hours {
        _ if !is_whole => short_duration(duration),
        hours if hours.is_multiple_of(24) => format!("{}d", hours / 24),
        hours => format!("{hours}h"),
    })
}
