//! Sends requests other than calls to a remote host.

use crate::layout::clean;
use agent_bash_core::{Cancel, RemoteHost};
use agent_bash_remote::protocol::RpcCall;
use serde::de::DeserializeOwned;

/// Sends a request to a remote host. The answer is untrusted: an answer of another shape is an
/// error.
///
/// # Errors
/// The reason for a missing answer, as a sentence.
pub async fn ask<T: DeserializeOwned>(
    remote_host: &dyn RemoteHost,
    call: &RpcCall,
    cancel: &Cancel,
) -> Result<T, String> {
    let (kind, fields) = call.parts();
    let answer = remote_host.ask(&kind, fields, cancel).await?;
    serde_json::from_value(answer).map_err(|error| {
        let said = clean(error.to_string().as_bytes());
        let name = remote_host.name();
        format!("the target `{name}` answers `{kind}` with something else: {said}")
    })
}
