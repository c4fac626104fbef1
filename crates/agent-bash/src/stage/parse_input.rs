//! Turns a caller's input into a request in which every field is valid.

use agent_bash_core::{
    Findings, Notice, Parsed, PolicyFindings, Request, RequestError, parse_request,
};
use serde_json::Value;

/// The input of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// JSON from a model. The parser also accepts alternative spellings of fields.
    Json(Value),
    /// A request built by a program.
    Request(Request),
    /// A parsed request, from [`Self::parsed`].
    Parsed(Parsed),
    /// A call that passed the policy of a trusted caller, such as the host of a worker on a target.
    /// The script is not checked again.
    Checked(Box<PolicyFindings>),
}

impl Input {
    /// Returns the script, if it can be determined without parsing the call.
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Json(Value::String(command)) => Some(command),
            Self::Json(value) => value["command"].as_str(),
            Self::Request(request) => Some(&request.command),
            Self::Parsed(parsed) => Some(&parsed.request.command),
            Self::Checked(checked) => Some(&checked.request.command),
        }
    }

    /// Parses the input ahead of the call. Returns invalid input unchanged, because the call
    /// reports the error.
    #[must_use]
    pub fn parsed(self) -> Self {
        match self {
            Self::Json(value) => parse_request(&value).map_or(Self::Json(value), Self::Parsed),
            Self::Request(request) if request.validate().is_ok() => Self::Parsed(request.into()),
            other => other,
        }
    }

    /// Returns the request of parsed input.
    pub fn request(&self) -> Option<&Request> {
        match self {
            Self::Parsed(parsed) => Some(&parsed.request),
            Self::Json(_) | Self::Request(_) | Self::Checked(_) => None,
        }
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<Request> for Input {
    fn from(request: Request) -> Self {
        Self::Request(request)
    }
}

/// The parsed input of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedInput {
    /// The script as the caller wrote it.
    pub(crate) command: String,
    pub(crate) request: Request,
    pub(crate) notices: Vec<Notice>,
    /// The findings of the caller's policy, if any.
    pub(crate) findings: Option<Findings>,
}

/// Parses a model's call, or validates a program's request.
pub(crate) fn parse(input: Input) -> Result<ParsedInput, RequestError> {
    let parsed = match input {
        Input::Json(value) => parse_request(&value)?,
        Input::Request(request) => {
            request.validate()?;
            request.into()
        }
        Input::Parsed(parsed) => parsed,
        Input::Checked(checked) => {
            let PolicyFindings {
                request,
                mut findings,
            } = *checked;
            request.validate()?;
            let command = findings.command.take();
            return Ok(ParsedInput {
                command: command.unwrap_or_else(|| request.command.clone()),
                request,
                notices: std::mem::take(&mut findings.notices),
                findings: Some(findings),
            });
        }
    };
    Ok(ParsedInput {
        command: parsed.request.command.clone(),
        request: parsed.request,
        notices: parsed.notices,
        findings: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::SessionName;

    #[test]
    fn parse_returns_the_same_error_for_a_request_and_for_json() {
        let with_env = |name: &str, value: &str| {
            Request::new("true").env([(name.to_owned(), Some(value.to_owned()))])
        };
        let refused = [
            Request::new("  \n"),
            Request::new("a\0b"),
            with_env("A=B", ""),
            with_env("", ""),
            with_env("A", "\0"),
            Request::new("true").session(Some(SessionName(" ".into()))),
        ];
        for request in refused {
            let json = serde_json::to_value(&request).unwrap();
            let error = parse(json.into()).unwrap_err();
            assert_eq!(parse(request.into()), Err(error));
        }
        let fine = with_env("A", "=");
        assert_eq!(parse(fine.clone().into()).unwrap().request, fine);
    }
}
