//! The result of a request, before it becomes a response.

use super::request_error::ErrorReply;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// The serialised data of a response, or the error message.
pub(super) type RpcAnswer = Result<Option<Box<RawValue>>, ErrorReply>;

pub(super) fn data<D: Serialize>(data: D) -> RpcAnswer {
    to_raw_value(&data)
        .map(Some)
        .map_err(|error| ErrorReply::from(error.to_string()))
}

/// Runs blocking or long work on another thread, so that it does not block other tasks.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorReply> + Send + 'static,
) -> Result<T, ErrorReply> {
    agent_bash::run_blocking(work)
        .await
        .unwrap_or_else(|error| Err(format!("the request was not served: {error}").into()))
}
