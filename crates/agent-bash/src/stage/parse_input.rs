//! From what a caller gives to a request whose every field is known to be good.

use agent_bash_core::{Parsed, Request, RequestError, parse_request};
use serde_json::Value;

/// A call as a caller gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// As a model writes it; read with its accepted spellings.
    Json(Value),
    /// As a program makes it.
    Request(Request),
}

impl Input {
    /// The script, where it can be told without reading the call.
    pub(crate) fn command(&self) -> Option<&str> {
        match self {
            Self::Json(Value::String(command)) => Some(command),
            Self::Json(value) => value["command"].as_str(),
            Self::Request(request) => Some(&request.command),
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

/// Reads the call. A `Request` goes through the same checks as JSON: its fields are public, so it may hold a script
/// with a NUL or an empty name.
pub(crate) fn parse(input: Input) -> Result<Parsed, RequestError> {
    match input {
        Input::Json(value) => parse_request(&value),
        Input::Request(request) => match serde_json::to_value(&request) {
            Ok(value) => parse_request(&value),
            // Every field has a JSON form, so this arm is not reached; the reader's own refusal stands in it.
            Err(_) => parse_request(&Value::Null),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::{Mode, SessionName};
    use std::num::NonZeroU64;
    use std::time::Duration;

    #[test]
    fn a_request_arrives_unchanged() {
        let request = Request {
            mode: Some(Mode::Slow),
            timeout: Some(Duration::from_millis(1500)),
            cwd: Some("src".into()),
            head: NonZeroU64::new(3),
            session: Some(SessionName("a".into())),
            env: [
                ("A".to_owned(), Some("1".to_owned())),
                ("B".to_owned(), None),
            ]
            .into(),
            description: Some("x".into()),
            ..Request::new("echo hi")
        };
        let parsed = parse(request.clone().into()).unwrap();
        assert_eq!((parsed.request, parsed.notices.len()), (request, 0));
    }

    #[test]
    fn a_request_is_checked_as_json_is() {
        for (request, want) in [
            (Request::new("  \n"), RequestError::EmptyCommand),
            (Request::new("a\0b"), RequestError::NulInCommand(1)),
            (
                Request {
                    env: [("A=B".to_owned(), None)].into(),
                    ..Request::new("true")
                },
                RequestError::BadEnvName("A=B".into()),
            ),
        ] {
            assert_eq!(parse(request.into()), Err(want));
        }
    }
}
