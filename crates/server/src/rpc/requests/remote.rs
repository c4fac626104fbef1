//! Passes requests about jobs, stored outputs, change sets and files of a remote host on to that
//! host.

use crate::rpc::request_error::ErrorReply;
use agent_bash::core::{Cancel, RemoteHost};
use agent_bash_protocol::RpcCall;
use agent_bash_running::terminal::NO_TARGET_TERMINALS;
use serde_json::Value;

/// Returns the remote host's answer, or a refusal; `None` if this server answers the request.
pub(in crate::rpc) async fn answer(
    remote_host: &dyn RemoteHost,
    call: &RpcCall,
    cancel: &Cancel,
) -> Option<Result<Value, ErrorReply>> {
    let (kind, fields) = call.parts();
    if kind == "adapter_call" {
        return Some(Err(ErrorReply::from(
            "tools of other agents are not served for a target; use `tool_call`".to_owned(),
        )));
    }
    if kind.starts_with("terminal.") {
        let error = NO_TARGET_TERMINALS.to_owned();
        return Some(Err(ErrorReply::from(error)));
    }
    let is_remote = ["jobs.", "artifact.", "changes.", "file."]
        .iter()
        .any(|group| kind.starts_with(group))
        || matches!(&*kind, "session.list" | "session.reset");
    if !is_remote {
        return None;
    }
    let answer = remote_host.ask(&kind, fields, cancel).await;
    Some(answer.map_err(ErrorReply::from))
}
