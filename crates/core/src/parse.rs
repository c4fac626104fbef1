//! Parses JSON into a [`Request`]: the accepted spellings, and actionable errors.
//!
//! All errors are found before anything is started, and name the field, the value, and what to
//! write instead.

use crate::changes::TrialRequest;
use crate::request::{MAX_COMMAND_BYTES, MAX_SHOW_KB, Mode, Request, ShownPart, StdinMode};
use crate::sandbox::SandboxRequest;
use crate::{DurationError, Notice, NoticeKind, SessionName, parse_duration};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

/// A parsed request, with notices about alternative names.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parsed {
    /// The request for the pipeline.
    pub request: Request,
    /// One notice for each field with an alternative name.
    pub notices: Vec<Notice>,
}

impl From<Request> for Parsed {
    /// Returns a request that was not read from JSON, without notices.
    fn from(request: Request) -> Self {
        let notices = Vec::new();
        Self { request, notices }
    }
}

/// Why a request is invalid. Nothing has been started.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// Neither an object nor a string.
    #[error("a call is a JSON object with a `command`, or the command as a string; got {0}")]
    NotAnObject(&'static str),
    /// No `command`.
    #[error("`command` is missing; give the script to run as a string")]
    MissingCommand,
    /// Only white space.
    #[error("`command` is empty; give the script to run")]
    EmptyCommand,
    /// A script cannot contain NUL.
    #[error("`command` has a NUL byte at offset {0}, which no shell can read; remove it")]
    NulInCommand(usize),
    /// Longer than [`MAX_COMMAND_BYTES`].
    #[error(
        "`command` has {bytes} bytes, more than the {max} that are taken; write it to a file and run that"
    )]
    CommandTooLong {
        /// Length of the script.
        bytes: usize,
        /// [`MAX_COMMAND_BYTES`].
        max: usize,
    },
    /// An unknown field.
    #[error("unknown field `{field}`{}; the fields are {FIELD_LIST}", nearest_hint(*.nearest))]
    UnknownField {
        /// The field as given.
        field: String,
        /// The most similar known field, if one is close enough.
        nearest: Option<&'static str>,
    },
    /// A value of the wrong type or out of range.
    #[error("`{field}` must be {expected}, got {got}")]
    BadValue {
        /// The field as given.
        field: String,
        /// The accepted values.
        expected: &'static str,
        /// The value, shortened.
        got: String,
    },
    /// `timeout` is not a duration.
    #[error("`timeout`: {0}")]
    BadTimeout(DurationError),
    /// An invalid variable name in `env`.
    #[error(
        "`env`: `{0}` cannot be a variable's name; names are not empty and have neither `=` nor NUL"
    )]
    BadEnvName(String),
    /// A value in `env` with a NUL.
    #[error("`env`: the value of `{0}` has a NUL byte, which no environment can hold")]
    BadEnvValue(String),
    /// One field under two names with different values.
    #[error("`{first}` and `{second}` are the same field; give only `{first}`")]
    GivenTwice {
        /// The canonical name.
        first: &'static str,
        /// The other name.
        second: String,
    },
}

fn nearest_hint(nearest: Option<&'static str>) -> String {
    nearest
        .map(|name| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}

/// All accepted fields.
const FIELDS: [&str; 16] = [
    "command",
    "mode",
    "timeout",
    "wait",
    "cwd",
    "head",
    "tail",
    "show",
    "show_kb",
    "session",
    "pty",
    "env",
    "stdin",
    "sandbox",
    "trial",
    "description",
];
/// The fields that every host offers, for errors. Not every host offers `sandbox` and `trial`; the
/// tool's schema describes these two where they are available.
const FIELD_LIST: &str = "command, mode, timeout, wait, cwd, head, tail, show, show_kb, session, pty, env, stdin, description";

/// Alternative names that models are known to use, and the fields they mean.
const ALTERNATIVE_NAMES: [(&str, &str); 4] = [
    ("cmd", "command"),
    ("workdir", "cwd"),
    ("working_directory", "cwd"),
    ("dir_path", "cwd"),
];

/// The flag with which some models ask for the background.
const RUN_IN_BACKGROUND: &str = "run_in_background";

/// Parses a call. A bare JSON string is the command.
///
/// # Errors
/// [`RequestError`]; nothing was started.
pub fn parse_request(value: &Value) -> Result<Parsed, RequestError> {
    let parsed = match value {
        Value::String(command) => Parsed {
            request: Request::new(command.clone()),
            notices: Vec::new(),
        },
        Value::Object(fields) => parse_object(fields)?,
        other => return Err(RequestError::NotAnObject(type_name(other))),
    };
    parsed.request.validate()?;
    Ok(parsed)
}

impl Request {
    /// Checks the conditions that the types of the public fields cannot express.
    ///
    /// # Errors
    /// [`RequestError`]: a field has a value with which no shell can run the call.
    pub fn validate(&self) -> Result<(), RequestError> {
        if self.command.trim().is_empty() {
            return Err(RequestError::EmptyCommand);
        }
        if let Some(offset) = self.command.find('\0') {
            return Err(RequestError::NulInCommand(offset));
        }
        if self.command.len() > MAX_COMMAND_BYTES {
            return Err(RequestError::CommandTooLong {
                bytes: self.command.len(),
                max: MAX_COMMAND_BYTES,
            });
        }
        if let Some(SessionName(name)) = &self.session
            && name.trim().is_empty()
        {
            let name = Value::from(name.as_str());
            return Err(bad("session", "a name that is not empty", &name));
        }
        if let Some(kb) = self.show_kb.filter(|kb| kb.get() > MAX_SHOW_KB) {
            return Err(bad("show_kb", SHOW_KB_FORM, &Value::from(kb.get())));
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(RequestError::BadEnvName(name.clone()));
            }
            if value.as_ref().is_some_and(|value| value.contains('\0')) {
                return Err(RequestError::BadEnvValue(name.clone()));
            }
        }
        if let Some(sandbox) = &self.sandbox {
            check_sandbox(sandbox)?;
        }
        Ok(())
    }
}

fn parse_object(given: &Map<String, Value>) -> Result<Parsed, RequestError> {
    let mut notices = Vec::new();
    let fields = canonical_fields(given, &mut notices)?;
    let read = Fields(&fields);

    let Some(command) = read.string("command")? else {
        return Err(RequestError::MissingCommand);
    };
    let mut request = Request {
        command,
        mode: read.mode()?,
        timeout: read.timeout()?,
        wait: read.boolean("wait")?,
        cwd: read.string("cwd")?,
        head: read.count("head")?,
        tail: read.count("tail")?,
        show: read.shown_part()?,
        show_kb: read.count("show_kb")?,
        session: read.string("session")?.map(SessionName),
        pty: read.boolean("pty")?,
        env: read.env()?,
        stdin: read.stdin()?,
        sandbox: read.sandbox()?,
        trial: read.trial()?,
        description: read.string("description")?,
    };
    if read.boolean(RUN_IN_BACKGROUND)? == Some(true) {
        if request.mode.is_some_and(|mode| mode != Mode::Background) {
            return Err(RequestError::GivenTwice {
                first: "mode",
                second: RUN_IN_BACKGROUND.to_owned(),
            });
        }
        request.mode = Some(Mode::Background);
    }
    Ok(Parsed { request, notices })
}

/// Returns the fields under their canonical names. Refuses unknown and duplicate fields.
fn canonical_fields<'a>(
    given: &'a Map<String, Value>,
    notices: &mut Vec<Notice>,
) -> Result<BTreeMap<&'static str, &'a Value>, RequestError> {
    let mut fields = BTreeMap::new();
    let mut renamed = Vec::new();
    for (name, value) in given {
        if let Some(known) = FIELDS.into_iter().find(|known| known == name) {
            fields.insert(known, value);
        } else if let Some((_, known)) = ALTERNATIVE_NAMES
            .into_iter()
            .find(|(other, _)| other == name)
        {
            renamed.push((name, known, value));
        } else if name == RUN_IN_BACKGROUND {
            fields.insert(RUN_IN_BACKGROUND, value);
            if value == &Value::Bool(true) {
                notices.push(renamed_notice(name, "mode"));
            }
        } else {
            return Err(RequestError::UnknownField {
                field: name.clone(),
                nearest: nearest_field(name),
            });
        }
    }
    for (name, known, value) in renamed {
        if fields
            .insert(known, value)
            .is_some_and(|other| other != value)
        {
            return Err(RequestError::GivenTwice {
                first: known,
                second: name.clone(),
            });
        }
        notices.push(renamed_notice(name, known));
    }
    Ok(fields)
}

fn renamed_notice(given: &str, used: &str) -> Notice {
    NoticeKind::FieldRenamed {
        name: given.to_owned(),
        used: used.to_owned(),
    }
    .into()
}

/// Returns the most similar field, within the edit distance of a typo.
fn nearest_field(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    FIELDS
        .into_iter()
        .map(|known| (known, known))
        .chain(ALTERNATIVE_NAMES)
        .map(|(spelling, known)| (strsim::damerau_levenshtein(&lower, spelling), known))
        .min()
        .filter(|(distance, _)| *distance <= 1 + name.chars().count() / 4)
        .map(|(_, known)| known)
}

/// Typed access to the fields; `null` counts as absent.
struct Fields<'a>(&'a BTreeMap<&'static str, &'a Value>);

impl Fields<'_> {
    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).copied().filter(|value| !value.is_null())
    }

    fn string(&self, field: &'static str) -> Result<Option<String>, RequestError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(bad(field, "a string", other)),
        }
    }

    fn boolean(&self, field: &'static str) -> Result<Option<bool>, RequestError> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(bad(field, "true or false", other)),
        }
    }

    fn count(&self, field: &'static str) -> Result<Option<NonZeroU64>, RequestError> {
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
            None if field == "show_kb" => Err(bad(field, SHOW_KB_FORM, value)),
            None => Err(bad(field, "a whole number of lines, 1 or more", value)),
        }
    }

    fn mode(&self) -> Result<Option<Mode>, RequestError> {
        let Some(value) = self.get("mode") else {
            return Ok(None);
        };
        match value.as_str() {
            Some("default") => Ok(Some(Mode::Default)),
            Some("slow") => Ok(Some(Mode::Slow)),
            Some("background") => Ok(Some(Mode::Background)),
            _ => Err(bad("mode", "`default`, `slow` or `background`", value)),
        }
    }

    fn shown_part(&self) -> Result<Option<ShownPart>, RequestError> {
        let Some(value) = self.get("show") else {
            return Ok(None);
        };
        let part = ShownPart::deserialize(value);
        part.map(Some)
            .map_err(|_| bad("show", "`start`, `end` or `both`", value))
    }

    fn timeout(&self) -> Result<Option<Duration>, RequestError> {
        match self.get("timeout") {
            None => Ok(None),
            Some(Value::String(text)) => parse_duration(text)
                .map(Some)
                .map_err(RequestError::BadTimeout),
            Some(value @ Value::Number(number)) => {
                match crate::duration_text::seconds(number.as_f64().unwrap_or(f64::NAN)) {
                    Some(duration) => Ok(Some(duration)),
                    None => Err(bad("timeout", "zero or more seconds", value)),
                }
            }
            Some(other) => Err(bad(
                "timeout",
                "a number of seconds, or a text such as `90s`",
                other,
            )),
        }
    }

    fn stdin(&self) -> Result<StdinMode, RequestError> {
        match self.get("stdin") {
            None => Ok(StdinMode::Null),
            Some(Value::String(text)) if text == "null" => Ok(StdinMode::Null),
            Some(Value::String(text)) if text == "pipe" => Ok(StdinMode::Pipe),
            Some(other) => Err(bad("stdin", "null or `pipe`", other)),
        }
    }

    fn trial(&self) -> Result<Option<TrialRequest>, RequestError> {
        let Some(value) = self.get("trial") else {
            return Ok(None);
        };
        match TrialRequest::from_json(value) {
            // `false` asks for an ordinary call.
            None if value == &Value::Bool(false) => Ok(None),
            None => Err(bad("trial", "true, false or `atomic`", value)),
            trial => Ok(trial),
        }
    }

    fn sandbox(&self) -> Result<Option<SandboxRequest>, RequestError> {
        let Some(value) = self.get("sandbox") else {
            return Ok(None);
        };
        let Value::Object(given) = value else {
            return Err(bad("sandbox", SANDBOX_FORM, value));
        };
        // A `null` in `sandbox` counts as absent, as a `null` in the request does.
        let given = given.iter().filter(|(_, value)| !value.is_null());
        let (mut level, mut network, mut reason) = (None, None, None);
        let (mut hosts, mut writable) = (Vec::new(), Vec::new());
        for (name, value) in given {
            match name.as_str() {
                "level" => level = Some(in_sandbox(name, LEVEL_FORMS, value)?),
                "network" => network = Some(in_sandbox(name, NETWORK_FORMS, value)?),
                "hosts" => hosts = in_sandbox(name, HOSTS_FORM, value)?,
                "writable" => writable = in_sandbox(name, DIRECTORIES_FORM, value)?,
                "reason" => reason = Some(in_sandbox(name, "a sentence", value)?),
                _ => return Err(bad("sandbox", SANDBOX_FORM, &Value::from(name.as_str()))),
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

    fn env(&self) -> Result<BTreeMap<String, Option<String>>, RequestError> {
        let mut env = BTreeMap::new();
        let Some(value) = self.get("env") else {
            return Ok(env);
        };
        let expected = "an object of strings, `null` to unset";
        let Value::Object(entries) = value else {
            return Err(bad("env", expected, value));
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
const SHOW_KB_FORM: &str = "a whole number of KB from 1 to 400";

/// The accepted forms of `sandbox` and of its entries.
const SANDBOX_FORM: &str =
    "an object with any of `level`, `network`, `hosts`, `writable`, and a `reason`";
const LEVEL_FORMS: &str = "`read_only`, `workspace_write` or `off`";
const NETWORK_FORMS: &str = "`off`, `loopback`, `hosts` or `on`";
const HOSTS_FORM: &str = "a list of hosts and presets, such as `npm`";
const DIRECTORIES_FORM: &str = "a list of directories, absolute or beginning with `~/`";

/// Parses the entry `name` of `sandbox`.
fn in_sandbox<T: DeserializeOwned>(
    name: &str,
    expected: &'static str,
    value: &Value,
) -> Result<T, RequestError> {
    T::deserialize(value).map_err(|_| bad(&format!("sandbox.{name}"), expected, value))
}

fn check_sandbox(sandbox: &SandboxRequest) -> Result<(), RequestError> {
    let has_base = |path: &str| path.starts_with('/') || path.starts_with("~/") || path == "~";
    let is_unusable = |path: &&String| !has_base(path) || path.contains('\0');
    if let Some(path) = sandbox.writable.iter().find(is_unusable) {
        let path = Value::from(path.as_str());
        return Err(bad("sandbox.writable", DIRECTORIES_FORM, &path));
    }
    if sandbox.reason.trim().is_empty() {
        let reason = Value::from(sandbox.reason.as_str());
        let expected = "a sentence that says why this call needs another sandbox";
        return Err(bad("sandbox.reason", expected, &reason));
    }
    Ok(())
}

/// Returns [`RequestError::BadValue`], which quotes the value.
fn bad(field: &str, expected: &'static str, got: &Value) -> RequestError {
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

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
