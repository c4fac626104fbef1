//! Parses a line into a request, or into the error response for an invalid one.

use crate::field_error::field_error;
use agent_bash_protocol::head::{HeadScan, RequestHead};
use agent_bash_protocol::message::{Response, RpcCall, RpcId, RpcResponse};
use serde::Deserialize;
use serde_json::Value;

/// A valid request.
#[derive(Debug)]
pub(super) struct ParsedRequest {
    pub(super) id: Option<RpcId>,
    /// The request's `type`, as written.
    pub(super) kind: String,
    pub(super) call: RpcCall,
}

/// Parses a line. An error response has the id and the type if they could be read, so that the
/// client can match it.
pub(super) fn request(line: &[u8]) -> Result<ParsedRequest, Box<Response>> {
    let refusal = |id: Option<RpcId>, kind: &str, error: String| {
        Err(Box::new(RpcResponse::failure(id, kind, error)))
    };
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let error = format!("the line is not JSON: {error}");
            return Err(Box::new(refusal_of(HeadScan::line(line), error)));
        }
    };
    let Value::Object(mut fields) = value else {
        let error = "a request is an object: {\"id\": 1, \"type\": \"ping\"}";
        return refusal(None, "", error.to_owned());
    };
    // `null` counts as absent: many clients send it for fields they do not use.
    fields.retain(|_, value| !value.is_null());
    let kind = fields.get("type").and_then(Value::as_str);
    let type_name = kind.unwrap_or_default().to_owned();
    let id = match fields.get("id") {
        None => None,
        Some(Value::String(text)) => Some(RpcId::Text(text.clone())),
        Some(Value::Number(number)) => Some(RpcId::Number(number.clone())),
        Some(_) => return refusal(None, &type_name, "`id` is a text or a number".to_owned()),
    };
    if kind.is_none() {
        let error = "`type` is missing or not a text; name a request, such as \"tool_call\"";
        return refusal(id, "", error.to_owned());
    }
    match RpcCall::deserialize(&fields) {
        Ok(call) => Ok(ParsedRequest {
            id,
            kind: type_name,
            call,
        }),
        Err(error) => {
            // Serde calls the `type` of this protocol a variant.
            let error = field_error::<RpcCall>(fields, &error);
            let error = error.replacen("unknown variant", "unknown type", 1);
            refusal(id, &type_name, error)
        }
    }
}

/// Returns the error response to a line with a head that could be read, but no more.
pub(super) fn refusal_of(head: RequestHead, error: String) -> Response {
    let id = match head.id {
        Some(Value::String(text)) => Some(RpcId::Text(text)),
        Some(Value::Number(number)) => Some(RpcId::Number(number)),
        _ => None,
    };
    RpcResponse::failure(id, &head.kind.unwrap_or_default(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_has_readable_id_and_type() {
        // A line; then the id, the command and the error.
        for row in [
            "{ => - - not JSON",
            "\u{0} => - - not JSON",
            r#"{"id": 7, "type": "ping" => 7 ping not JSON"#,
            r#"{"type": "bash", "command": "\ud83d", "id": "x"} => "x" bash not JSON"#,
            r#"{"id": [], "type":  => - - not JSON"#,
            r#""ping" => - - a request is an object"#,
            "[1] => - - a request is an object",
            r#"{"id": 7} => 7 - `type` is missing"#,
            r#"{"id": 7, "type": 5} => 7 - `type` is missing"#,
            r#"{"id": "a", "type": "dance"} => "a" dance unknown type `dance`, expected one of `hello`"#,
            r#"{"id": 1.5, "type": "bash"} => 1.5 bash missing field `command`"#,
            r#"{"id": [], "type": "ping"} => - ping `id` is a text or a number"#,
            r#"{"type": "cancel"} => - cancel missing field `target`"#,
            r#"{"type": "tool_call", "request": "ls", "stream": 5} => - tool_call `stream`: expected true, false"#,
            r#"{"type": "tool_call", "request": null} => - tool_call missing field `request`"#,
            r#"{"type": "jobs.kill", "job": [], "grace": 1} => - jobs.kill `job`: expected a text or a number"#,
            r#"{"type": "artifact.show", "artifact": 0, "offset": 1, "tail": 0} => - artifact.show `tail`: invalid value: integer `0`"#,
        ] {
            let (line, expected) = row.split_once(" => ").unwrap();
            let mut expected = expected.splitn(3, ' ').map(|word| word.trim_matches('-'));
            let [id, command, error] = std::array::from_fn(|_| expected.next().unwrap());
            let id: Option<Value> = serde_json::from_str(id).ok();
            let refusal = *request(line.as_bytes()).unwrap_err();
            let value = serde_json::to_value(&refusal).unwrap();
            assert_eq!(value.get("id"), id.as_ref(), "{line}");
            assert_eq!(value["command"], command, "{line}");
            assert_eq!(value["success"], false);
            assert!(value["error"].as_str().unwrap().contains(error), "{value}");
        }
    }

    #[test]
    fn invalid_utf8_and_deep_nesting_are_refused() {
        assert!(request(b"{\"id\": 1, \"type\": \"ping\xff\"}").is_err());
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(request(deep.as_bytes()).is_err());
    }

    #[test]
    fn request_is_read_with_any_id_and_unknown_fields() {
        for (id, expected) in [
            ("\"a\"", Some(RpcId::Text("a".to_owned()))),
            ("18446744073709551615", Some(RpcId::Number(u64::MAX.into()))),
            ("null", None),
        ] {
            let line = format!("{{\"id\": {id}, \"type\": \"ping\", \"more\": 1}}\r");
            let parsed = request(line.as_bytes()).unwrap();
            assert_eq!((parsed.id, parsed.call), (expected, RpcCall::Ping));
        }
        let parsed =
            request(b"{\"type\": \"bash\", \"command\": \"ls\", \"stream\": null}").unwrap();
        assert!(
            matches!(parsed.call, RpcCall::Bash { .. }),
            "null is left out"
        );
        let parsed = request(b"{\"type\": \"session.close\", \"session\": \"a\"}").unwrap();
        assert_eq!(parsed.kind, "session.close");
        assert!(matches!(parsed.call, RpcCall::SessionReset { .. }));
    }
}
