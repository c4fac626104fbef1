//! Requests about what is on a target: jobs, stored outputs, files. They are passed on, and answered there.

use super::refused::Refused;
use agent_bash::core::{Cancel, Place};
use agent_bash_protocol::RpcCall;
use serde_json::Value;

/// The target's answer; `None` if the request is answered here.
pub(super) async fn answer(
    place: &dyn Place,
    call: &RpcCall,
    cancel: &Cancel,
) -> Option<Result<Value, Refused>> {
    let (kind, fields) = match serde_json::to_value(call) {
        Ok(Value::Object(mut fields)) => match fields.remove("type") {
            Some(Value::String(kind)) => (kind, Value::Object(fields)),
            _ => return None,
        },
        _ => return None,
    };
    if kind == "adapter_call" {
        return Some(Err(Refused::from(
            "tools of other agents are not served for a target; use `tool_call`".to_owned(),
        )));
    }
    if kind.starts_with("changes.") {
        return Some(Err(Refused::from(
            "what calls on a target do to files is not kept in reach; use the target's own `agent-bash changes`".to_owned(),
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
    Some(answer.map_err(Refused::from))
}
