//! Why the parameters of a request are invalid.

#[expect(deprecated, reason = "as in `log`")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, GetTaskParams, InitializeRequestParams,
    PaginatedRequestParams, ReadResourceRequestParams, UpdateTaskParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Returns the error in the parameters of a supported method.
#[expect(deprecated, reason = "as in `log`")]
pub(super) fn parameter_error(method: &str, params: Value) -> Option<serde_json::Error> {
    fn error<T: DeserializeOwned>(params: Value) -> Option<serde_json::Error> {
        serde_json::from_value::<T>(params).err()
    }
    match method {
        "initialize" => error::<InitializeRequestParams>(params),
        "tools/call" => error::<CallToolRequestParams>(params),
        "resources/read" => error::<ReadResourceRequestParams>(params),
        "tasks/get" => error::<GetTaskParams>(params),
        "tasks/update" => error::<UpdateTaskParams>(params),
        "tasks/cancel" => error::<CancelTaskParams>(params),
        "logging/setLevel" => error::<SetLevelRequestParams>(params),
        "tools/list" | "resources/list" | "resources/templates/list" => {
            error::<PaginatedRequestParams>(params)
        }
        "ping" | "server/discover" => error::<Map<String, Value>>(params),
        _ => None,
    }
}
