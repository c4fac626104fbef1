//! Parses JSON into a [`Request`]: the accepted spellings, and actionable errors.
//!
//! All errors are found before anything is started, and name the field, the value, and what to
//! write instead.

mod fields;
mod request_error;

pub use request_error::RequestError;

use crate::request::{MAX_COMMAND_BYTES, MAX_SHOW_KB, Mode, Request};
use crate::sandbox::SandboxRequest;
use crate::words;
use crate::{Notice, NoticeKind, SessionName};
use fields::{DIRECTORIES_FORM, Fields, SHOW_KB_FORM, bad_value, type_name};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

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

/// All accepted fields.
const FIELDS: &[&str] = words![
    "command mode timeout wait cwd head tail show show_kb session pty env stdin sandbox trial",
    "description",
];
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
            return Err(bad_value("session", "a name that is not empty", &name));
        }
        if let Some(kb) = self.show_kb.filter(|kb| kb.get() > MAX_SHOW_KB) {
            return Err(bad_value("show_kb", SHOW_KB_FORM, &Value::from(kb.get())));
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
    let fields = Fields(&fields);

    let Some(command) = fields.string("command")? else {
        return Err(RequestError::MissingCommand);
    };
    let mut request = Request {
        command,
        mode: fields.mode()?,
        timeout: fields.timeout()?,
        wait: fields.boolean("wait")?,
        cwd: fields.string("cwd")?,
        head: fields.count("head")?,
        tail: fields.count("tail")?,
        show: fields.shown_part()?,
        show_kb: fields.count("show_kb")?,
        session: fields.string("session")?.map(SessionName),
        pty: fields.boolean("pty")?,
        env: fields.env()?,
        stdin: fields.stdin()?,
        sandbox: fields.sandbox()?,
        trial: fields.trial()?,
        description: fields.string("description")?,
    };
    if fields.boolean(RUN_IN_BACKGROUND)? == Some(true) {
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
        if let Some(known) = FIELDS.iter().copied().find(|known| known == name) {
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
        .iter()
        .copied()
        .map(|known| (known, known))
        .chain(ALTERNATIVE_NAMES)
        .map(|(spelling, known)| (strsim::damerau_levenshtein(&lower, spelling), known))
        .min()
        .filter(|(distance, _)| *distance <= 1 + name.chars().count() / 4)
        .map(|(_, known)| known)
}

fn check_sandbox(sandbox: &SandboxRequest) -> Result<(), RequestError> {
    let has_base = |path: &str| path.starts_with('/') || path.starts_with("~/") || path == "~";
    let is_unusable = |path: &&String| !has_base(path) || path.contains('\0');
    if let Some(path) = sandbox.writable.iter().find(is_unusable) {
        let path = Value::from(path.as_str());
        return Err(bad_value("sandbox.writable", DIRECTORIES_FORM, &path));
    }
    if sandbox.reason.trim().is_empty() {
        let reason = Value::from(sandbox.reason.as_str());
        let expected = "a sentence that says why this call needs another sandbox";
        return Err(bad_value("sandbox.reason", expected, &reason));
    }
    Ok(())
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
