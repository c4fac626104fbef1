//! Sends requests that are not calls to a remote host.

use agent_bash_core::{Cancel, RemoteHost};
use agent_bash_remote::protocol::RpcCall;
use agent_bash_tools::clean;
use serde::de::DeserializeOwned;

/// Sends a request to a remote host, and returns the answer. The answer is untrusted, so it is
/// checked to be a `T`.
///
/// # Errors
/// The reason why the answer is missing or is not a `T`, as a sentence.
pub async fn ask<T: DeserializeOwned>(
    remote_host: &dyn RemoteHost,
    call: &RpcCall,
    cancel: &Cancel,
) -> Result<T, String> {
    let (kind, fields) = call.parts();
    let answer = remote_host.ask(&kind, fields, cancel).await?;
    serde_json::from_value(answer).map_err(|error| {
        let error = clean(error.to_string().as_bytes());
        let name = remote_host.name();
        format!("the target `{name}` sent an invalid answer to `{kind}`: {error}")
    })
}
