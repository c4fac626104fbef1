//! The responses to requests.

use crate::request_id::RpcId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// One line to a client: the response to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound(deserialize = "D: Deserialize<'de>"))]
#[schemars(rename = "RpcResponse")]
pub struct RpcResponse<D = Value> {
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RpcId>,
    /// Always `response`.
    #[serde(rename = "type")]
    pub kind: ResponseTag,
    /// The request's `type`; empty if it could not be read.
    pub command: String,
    /// True if the request was served. True even if the command it ran failed.
    pub success: bool,
    /// The response's data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<D>,
    /// The error of the request, and what to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The kind of error, where a program can do something about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
}

/// Kinds of errors that a program tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The two ends speak different versions of the protocol.
    Protocol,
    /// The token differs: the state directory belongs to another host.
    Token,
    /// The call has no `findings`: a worker runs only calls that its host's policy has checked.
    NotJudged,
    /// There is no such file.
    NotFound,
    /// The user of the server has no permission.
    PermissionDenied,
    /// The path is not a regular file.
    NotAFile,
    /// The file system is full.
    NoSpace,
    /// Any other system error.
    Io,
    /// Another process changed files meanwhile; nothing was changed.
    Conflict,
}

impl<D> RpcResponse<D> {
    /// Returns the response to a request that was served, with its data if it has data.
    pub fn success(id: Option<RpcId>, command: &str, data: Option<D>) -> Self {
        Self {
            id,
            kind: ResponseTag::Response,
            command: command.to_owned(),
            success: true,
            data,
            error: None,
            code: None,
        }
    }

    /// Returns the response to a request that could not be served. `command` is the `type` of the
    /// request; empty if the type could not be read.
    pub fn failure(id: Option<RpcId>, command: &str, error: impl Into<String>) -> Self {
        Self {
            id,
            kind: ResponseTag::Response,
            command: command.to_owned(),
            success: false,
            data: None,
            error: Some(error.into()),
            code: None,
        }
    }

    /// Adds the kind of the error.
    #[must_use]
    pub fn with_code(self, code: Option<ErrorCode>) -> Self {
        Self { code, ..self }
    }
}

/// The `type` of every response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseTag {
    /// `response`.
    Response,
}

/// A response whose data is already serialised.
pub type Response = RpcResponse<Box<RawValue>>;
