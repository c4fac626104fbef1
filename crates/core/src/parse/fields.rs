//! Reads the fields of a request from JSON values.

use super::request_error::RequestError;
use crate::changes::TrialRequest;
use crate::parse_duration;
use crate::request::{Mode, ShownPart, StdinMode};
use crate::sandbox::SandboxRequest;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

/// Typed access to the fields; `null` counts as absent.
pub(super) struct Fields<'a>(pub(super) &'a BTreeMap<&'static str, &'a Value>);

impl Fields<'_> {
    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).copied().filter(|value| !value.is_null())
    }

    pub(super) fn string(&self, field: &'static str) -> Result<Option<String>, RequestError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(bad_value(field, "a string", other)),
        }
    }

    pub(super) fn boolean(&self, field: &'static str) -> Result<Option<bool>, RequestError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(bad_value(field, "true or false", other)),
        }
    }

    pub(super) fn count(&self, field: &'static str) -> Result<Option<NonZeroU64>, RequestError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        // Models write `5.0` for 5, which is the same JSON number. Floats below 9e15 (about 2^53)
        // represent whole numbers exactly.
        let whole = value.as_u64().or_else(|| {
            value
                .as_f64()
                .filter(|n| n.fract() == 0.0 && (1.0..9e15).contains(n))
                .map(|n| n as u64)
        });
        match whole.and_then(NonZeroU64::new) {
            Some(count) => Ok(Some(count)),
            None if field == "show_kb" => Err(bad_value(field, SHOW_KB_FORM, value)),
            None => Err(bad_value(
                field,
                "a whole number of lines, 1 or more",
                value,
            )),
        }
    }

    pub(super) fn mode(&self) -> Result<Option<Mode>, RequestError> {
        let Some(value) = self.get("mode") else {
            return Ok(None);
        };
        match value.as_str() {
            Some("default") => Ok(Some(Mode::Default)),
            Some("slow") => Ok(Some(Mode::Slow)),
            Some("background") => Ok(Some(Mode::Background)),
            _ => Err(bad_value(
                "mode",
                "`default`, `slow` or `background`",
                value,
            )),
        }
    }

    pub(super) fn shown_part(&self) -> Result<Option<ShownPart>, RequestError> {
        let Some(value) = self.get("show") else {
            return Ok(None);
        };
        let part = ShownPart::deserialize(value);
        part.map(Some)
            .map_err(|_| bad_value("show", "`start`, `end` or `both`", value))
    }

    pub(super) fn timeout(&self) -> Result<Option<Duration>, RequestError> {
        match self.get("timeout") {
            None => Ok(None),
            Some(Value::String(text)) => parse_duration(text)
                .map(Some)
                .map_err(RequestError::BadTimeout),
            Some(value @ Value::Number(number)) => {
                match crate::duration_text::seconds(number.as_f64().unwrap_or(f64::NAN)) {
                    Some(duration) => Ok(Some(duration)),
                    None => Err(bad_value("timeout", "zero or more seconds", value)),
                }
            }
            Some(other) => Err(bad_value(
                "timeout",
                "a number of seconds, or a text such as `90s`",
                other,
            )),
        }
    }

    pub(super) fn stdin(&self) -> Result<StdinMode, RequestError> {
        match self.get("stdin") {
            None => Ok(StdinMode::Null),
            Some(Value::String(text)) if text == "null" => Ok(StdinMode::Null),
            Some(Value::String(text)) if text == "pipe" => Ok(StdinMode::Pipe),
            Some(other) => Err(bad_value("stdin", "null or `pipe`", other)),
        }
    }

    pub(super) fn trial(&self) -> Result<Option<TrialRequest>, RequestError> {
        let Some(value) = self.get("trial") else {
            return Ok(None);
        };
        match TrialRequest::from_json(value) {
            // `false` asks for an ordinary call.
            None if value == &Value::Bool(false) => Ok(None),
            None => Err(bad_value("trial", "true, false or `atomic`", value)),
            trial => Ok(trial),
        }
    }

    pub(super) fn sandbox(&self) -> Result<Option<SandboxRequest>, RequestError> {
        let Some(value) = self.get("sandbox") else {
            return Ok(None);
        };
        let Value::Object(given) = value else {
            return Err(bad_value("sandbox", SANDBOX_FORM, value));
        };
        // A `null` in `sandbox` counts as absent, as a `null` in the request does.
        let given = given.iter().filter(|(_, value)| !value.is_null());
        let (mut level, mut network, mut reason) = (None, None, None);
        let (mut hosts, mut writable) = (Vec::new(), Vec::new());
        for (name, value) in given {
            match name.as_str() {
                "level" => level = Some(sandbox_entry(name, LEVEL_FORMS, value)?),
                "network" => network = Some(sandbox_entry(name, NETWORK_FORMS, value)?),
                "hosts" => hosts = sandbox_entry(name, HOSTS_FORM, value)?,
                "writable" => writable = sandbox_entry(name, DIRECTORIES_FORM, value)?,
                "reason" => reason = Some(sandbox_entry(name, "a sentence", value)?),
                _ => {
                    return Err(bad_value(
                        "sandbox",
                        SANDBOX_FORM,
                        &Value::from(name.as_str()),
                    ));
                }
            }
        }
        Ok(Some(SandboxRequest {
            level,
            network,
            hosts,
            writable,
            reason: reason.unwrap_or_default(),
        }))
    }

    pub(super) fn env(&self) -> Result<BTreeMap<String, Option<String>>, RequestError> {
        let mut env = BTreeMap::new();
        let Some(value) = self.get("env") else {
            return Ok(env);
        };
        let expected = "an object of strings, `null` to unset";
        let Value::Object(entries) = value else {
            return Err(bad_value("env", expected, value));
        };
        for (name, value) in entries {
            let value = match value {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                // `{"PORT": 8080}` is unambiguous.
                Value::Number(number) => Some(number.to_string()),
                other => {
                    // The value may be a secret: only its type is reported.
                    return Err(RequestError::BadValue {
                        field: format!("env.{name}"),
                        expected: "a string, or `null` to unset",
                        got: type_name(other).to_owned(),
                    });
                }
            };
            env.insert(name.clone(), value);
        }
        Ok(env)
    }
}

/// The accepted form of `show_kb`; 400 is [`MAX_SHOW_KB`].
pub(super) const SHOW_KB_FORM: &str = "a whole number of KB from 1 to 400";

/// The accepted forms of `sandbox` and of its entries.
const SANDBOX_FORM: &str =
    "an object with any of `level`, `network`, `hosts`, `writable`, and a `reason`";
const LEVEL_FORMS: &str = "`read_only`, `workspace_write` or `off`";
const NETWORK_FORMS: &str = "`off`, `loopback`, `hosts` or `on`";
const HOSTS_FORM: &str = "a list of hosts and presets, such as `npm`";
pub(super) const DIRECTORIES_FORM: &str = "a list of directories, absolute or beginning with `~/`";

/// Parses the entry `name` of `sandbox`.
fn sandbox_entry<T: DeserializeOwned>(
    name: &str,
    expected: &'static str,
    value: &Value,
) -> Result<T, RequestError> {
    T::deserialize(value).map_err(|_| bad_value(&format!("sandbox.{name}"), expected, value))
}

/// Returns [`RequestError::BadValue`], which quotes the value.
pub(super) fn bad_value(field: &str, expected: &'static str, got: &Value) -> RequestError {
    /// Characters of an invalid value quoted in an error.
    const MAX_QUOTED_CHARS: usize = 60;
    let text = got.to_string();
    let got = match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    RequestError::BadValue {
        field: field.to_owned(),
        expected,
        got,
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
