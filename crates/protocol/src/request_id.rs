//! The id of a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// The id that a client gives its request; the response repeats the id unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a number")]
pub enum RpcId {
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}
