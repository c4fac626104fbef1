//! The JSON-lines protocol: one object a line, requests in, responses and updates out.
//!
//! `bash` and `abort_bash` have the shape that existing clients of such a protocol use (`camelCase` data); everything
//! else is `snake_case`, as the rest of agent-bash. Reading lines and answering them is not here.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a client calls its request by; the response carries it back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RpcId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// One line from a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcRequest {
    /// How the response will name it. A request without one is answered without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// What is asked for.
    #[serde(flatten)]
    pub call: RpcCall,
}

/// What a client can ask for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RpcCall {
    /// A command in the session's own shell; the response's data is [`BashData`].
    Bash {
        /// The script.
        command: String,
    },
    /// Ends running `bash` commands; always succeeds.
    AbortBash {
        /// Only the one with this id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<RpcId>,
    },
    /// One call through the pipeline; the response's data is a `ToolResult`.
    ToolCall {
        /// The call, as `agent_bash_core::parse_request` reads it.
        request: Value,
        /// Whether updates come before the response.
        #[serde(default)]
        stream: bool,
    },
    /// Cancels a running `tool_call`.
    Cancel {
        /// The call's id.
        target: RpcId,
    },
    /// Judges a script without running it.
    Check {
        /// The script.
        command: String,
    },
    /// What a model is told about the tool.
    Schema,
    /// Answers, and does nothing else.
    Ping,
}

impl RpcCall {
    /// The `type` of the request, which its response repeats as `command`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bash { .. } => "bash",
            Self::AbortBash { .. } => "abort_bash",
            Self::ToolCall { .. } => "tool_call",
            Self::Cancel { .. } => "cancel",
            Self::Check { .. } => "check",
            Self::Schema => "schema",
            Self::Ping => "ping",
        }
    }
}

/// One line to a client: the answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcResponse {
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// Always `response`.
    #[serde(rename = "type")]
    pub kind: ResponseTag,
    /// The request's `type`.
    pub command: String,
    /// Whether `data` or `error` is there.
    pub success: bool,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// What was wrong with the request, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl RpcResponse {
    /// The answer to `request` that has what it asked for.
    pub fn success(request: &RpcRequest, data: Value) -> Self {
        Self {
            id: request.id.clone(),
            kind: ResponseTag::Response,
            command: request.call.name().to_owned(),
            success: true,
            data: Some(data),
            error: None,
        }
    }

    /// The answer to a request that could not be served. `command` is its `type`, or empty where that was not
    /// understood either.
    pub fn failure(id: Option<RpcId>, command: &str, error: impl Into<String>) -> Self {
        Self {
            id,
            kind: ResponseTag::Response,
            command: command.to_owned(),
            success: false,
            data: None,
            error: Some(error.into()),
        }
    }
}

/// The `type` of every response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseTag {
    /// `response`.
    Response,
}

/// The data of a `bash` response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BashData {
    /// What is shown of the output.
    pub output: String,
    /// Absent where the command was cancelled or its exit is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether it was called off.
    pub cancelled: bool,
    /// Whether `output` is not all of it.
    pub truncated: bool,
    /// Lines printed.
    pub total_lines: u64,
    /// Bytes printed.
    pub total_bytes: u64,
    /// Lines shown.
    pub output_lines: u64,
    /// Bytes shown.
    pub output_bytes: u64,
    /// The artifact with all of it, where something is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_are_read_and_written_as_they_are() {
        for line in [
            json!({"id": "a", "type": "bash", "command": "ls"}),
            json!({"id": 7, "type": "abort_bash"}),
            json!({"id": "b", "type": "abort_bash", "target": "a"}),
            json!({"id": "c", "type": "tool_call", "request": {"command": "ls"}, "stream": true}),
            json!({"id": "d", "type": "cancel", "target": 7}),
            json!({"type": "check", "command": "ls"}),
            json!({"type": "schema"}),
            json!({"type": "ping"}),
        ] {
            let request: RpcRequest = serde_json::from_value(line.clone()).unwrap();
            assert_eq!(line["type"], request.call.name());
            assert_eq!(serde_json::to_value(request).unwrap(), line);
        }
        let quiet = json!({"type": "tool_call", "request": "ls"});
        let request: RpcRequest = serde_json::from_value(quiet).unwrap();
        assert!(matches!(
            request.call,
            RpcCall::ToolCall { stream: false, .. }
        ));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in [
            json!({"id": "a"}),
            json!({"type": "dance"}),
            json!({"type": "bash"}),
            json!({"type": "cancel"}),
            json!({"id": [], "type": "ping"}),
            json!("ping"),
        ] {
            assert!(
                serde_json::from_value::<RpcRequest>(line.clone()).is_err(),
                "{line}"
            );
        }
    }

    #[test]
    fn responses_carry_id_and_command() {
        let request: RpcRequest = serde_json::from_value(json!({"id": 3, "type": "ping"})).unwrap();
        let good = RpcResponse::success(&request, json!({}));
        assert_eq!(
            serde_json::to_value(good).unwrap(),
            json!({"id": 3, "type": "response", "command": "ping", "success": true, "data": {}})
        );
        let bad = RpcResponse::failure(None, "", "not JSON");
        assert_eq!(
            serde_json::to_value(bad).unwrap(),
            json!({"type": "response", "command": "", "success": false, "error": "not JSON"})
        );
    }

    #[test]
    fn bash_data_is_camel_case() {
        let data = BashData {
            output: "x".to_owned(),
            exit_code: Some(0),
            cancelled: false,
            truncated: true,
            total_lines: 2,
            total_bytes: 3,
            output_lines: 1,
            output_bytes: 1,
            artifact_id: Some("4".to_owned()),
        };
        assert_eq!(
            serde_json::to_value(data).unwrap(),
            json!({"output": "x", "exitCode": 0, "cancelled": false, "truncated": true, "totalLines": 2,
                   "totalBytes": 3, "outputLines": 1, "outputBytes": 1, "artifactId": "4"})
        );
    }
}
