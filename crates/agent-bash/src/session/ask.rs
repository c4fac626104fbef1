//! Requests to a remote host besides calls.

use crate::layout::clean;
use agent_bash_core::{Cancel, RemoteHost};
use agent_bash_remote::protocol::RpcCall;
use serde::de::DeserializeOwned;

/// Asks a remote host. The answer is untrusted: an answer of another shape is an error.
///
/// # Errors
/// The reason for a missing answer, as a sentence.
pub async fn ask<T: DeserializeOwned>(
    place: &dyn RemoteHost,
    call: &RpcCall,
    cancel: &Cancel,
) -> Result<T, String> {
    let (kind, fields) = call.parts();
    let answer = place.ask(&kind, fields, cancel).await?;
    serde_json::from_value(answer).map_err(|error| {
        let said = clean(error.to_string().as_bytes());
        let name = place.name();
        format!("the target `{name}` answers `{kind}` with something else: {said}")
    })
}
