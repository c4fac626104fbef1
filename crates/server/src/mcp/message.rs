//! Parses a line into a message, or into the error response for an invalid one.

use agent_bash_protocol::head::{HeadScan, RequestHead};
use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::Value;

/// The result of parsing a line.
#[derive(Debug)]
pub(super) enum ParsedLine {
    /// A valid message.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// A line without an answer: blank, or an invalid notification or response.
    Nothing,
    /// Not a valid message; this is the error response.
    Refused(Box<TxJsonRpcMessage<RoleServer>>),
}

/// Parses a line.
pub(super) fn read(line: &[u8]) -> ParsedLine {
    if line.iter().all(u8::is_ascii_whitespace) {
        return ParsedLine::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(message) => ParsedLine::Message(Box::new(message)),
        Err(error) => unreadable(line, &error),
    }
}

/// Returns the error response to a line that was too long.
pub(super) fn too_long(head: &RequestHead, max_bytes: usize) -> Box<TxJsonRpcMessage<RoleServer>> {
    refusal(
        ErrorData::invalid_request(
            format!(
                "the message is longer than {} MiB and was not read",
                max_bytes >> 20
            ),
            None,
        ),
        id_of(head),
    )
}

/// Returns the id of a request. The client does not wait for an answer to an invalid notification
/// or response.
fn id_of(head: &RequestHead) -> Option<RequestId> {
    let id = head.id.as_ref().filter(|_| head.has_method);
    id.and_then(request_id)
}

fn request_id(id: &Value) -> Option<RequestId> {
    match id {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// Returns the error response to a request whose id is already in use by an unanswered request.
pub(super) fn duplicate_id(id: RequestId) -> Box<TxJsonRpcMessage<RoleServer>> {
    let error =
        format!("a request with the id {id} is in flight; give each request a different id");
    refusal(ErrorData::invalid_request(error, None), Some(id))
}

/// Returns the result for a line that is not a valid message.
fn unreadable(line: &[u8], error: &serde_json::Error) -> ParsedLine {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let error = format!("the line is not JSON: {error}");
            let id = id_of(&HeadScan::line(line));
            return ParsedLine::Refused(refusal(ErrorData::parse_error(error, None), id));
        }
    };
    let Value::Object(fields) = &value else {
        let error = "a message is an object; batches are not served";
        return ParsedLine::Refused(refusal(ErrorData::invalid_request(error, None), None));
    };
    let is_request = fields.contains_key("method") && fields.contains_key("id");
    let is_answer = fields.contains_key("result") || fields.contains_key("error");
    if !is_request && (fields.contains_key("method") || is_answer) {
        return ParsedLine::Nothing;
    }
    // The response has the id of the request, so that the client can match the two.
    let id = fields.get("id").and_then(request_id);
    let answer = if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        "`jsonrpc` must be \"2.0\"".to_owned()
    } else if id.is_none() {
        "`id` must be a text or an integer".to_owned()
    } else if fields
        .get("params")
        .is_some_and(|params| !params.is_object())
    {
        "`params` must be an object".to_owned()
    } else {
        format!("not a request: {error}")
    };
    ParsedLine::Refused(refusal(ErrorData::invalid_request(answer, None), id))
}

fn refusal(error: ErrorData, id: Option<RequestId>) -> Box<TxJsonRpcMessage<RoleServer>> {
    Box::new(JsonRpcMessage::error(error, id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_invalid_requests_are_answered() {
        for (line, expected) in [
            ("", None),
            (" \r", None),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/made_up","params":7}"#,
                None,
            ),
            (
                r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
                None,
            ),
            (r#"{"jsonrpc":"2.0","id":[],"result":{}}"#, None),
            ("{", Some((json!(null), -32700, "not JSON"))),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}"#,
                Some((json!(1), -32700, "not JSON")),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"ping","params":{"x":"\ud83d"},"id":"a"}"#,
                Some((json!("a"), -32700, "not JSON")),
            ),
            // A response to a request of the server is not a request.
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"x":"\ud83d"}}"#,
                Some((json!(null), -32700, "not JSON")),
            ),
            ("[]", Some((json!(null), -32600, "batches"))),
            (
                r#"{"id":7,"method":"ping"}"#,
                Some((json!(7), -32600, "`jsonrpc`")),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
                Some((json!(1), -32600, "`params`")),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a"}"#,
                Some((json!("a"), -32600, "not a request")),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                Some((json!(null), -32600, "`id`")),
            ),
        ] {
            let answer = match read(line.as_bytes()) {
                ParsedLine::Nothing => None,
                ParsedLine::Refused(answer) => Some(serde_json::to_value(answer).unwrap()),
                ParsedLine::Message(message) => panic!("{line}: {message:?}"),
            };
            match (expected, answer) {
                (None, None) => {}
                (Some((id, code, text)), Some(answer)) => {
                    let error = &answer["error"];
                    assert_eq!(
                        (&answer["id"], &error["code"]),
                        (&id, &json!(code)),
                        "{line}"
                    );
                    assert!(
                        error["message"].as_str().unwrap().contains(text),
                        "{answer}"
                    );
                }
                (expected, answer) => panic!("{line}: {expected:?}, {answer:?}"),
            }
        }
    }

    #[test]
    fn message_is_read_regardless_of_its_parameters() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":[]}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(
                matches!(read(line.as_bytes()), ParsedLine::Message(_)),
                "{line}"
            );
        }
    }
}
