//! Requests about what is on a target: jobs, stored outputs, files. They are passed on, and
//! answered there.

use super::refused::ErrorReply;
use crate::stored_output;
use agent_bash::core::{Cancel, RemoteHost};
use agent_bash_protocol::RpcCall;
use serde_json::Value;

/// The target's answer; `None` if the request is answered here.
pub(super) async fn answer(
    place: &dyn RemoteHost,
    call: &RpcCall,
    cancel: &Cancel,
) -> Option<Result<Value, ErrorReply>> {
    let (kind, fields) = call.parts();
    if kind == "adapter_call" {
        return Some(Err(ErrorReply::from(
            "tools of other agents are not served for a target; use `tool_call`".to_owned(),
        )));
    }
    if kind.starts_with("changes.") {
        return Some(Err(ErrorReply::from(
            stored_output::NO_TARGET_CHANGES.to_owned(),
        )));
    }
    let is_there = ["jobs.", "artifact.", "file."]
        .iter()
        .any(|group| kind.starts_with(group))
        || matches!(&*kind, "session.list" | "session.reset");
    if !is_there {
        return None;
    }
    let answer = place.ask(&kind, fields, cancel).await;
    Some(answer.map_err(ErrorReply::from))
}
