//! Adds the name of the invalid field to an error of serde.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Returns the error message of a failed deserialization of `fields` as a `T`, with the name of the
/// invalid field. If the error changes without a field, that field is invalid.
pub(crate) fn field_error<T: DeserializeOwned>(
    mut fields: Map<String, Value>,
    error: &serde_json::Error,
) -> String {
    let error = error.to_string();
    let changes_error = |fields: &Map<String, Value>| {
        T::deserialize(fields).map_or_else(|other| other.to_string() != error, |_| true)
    };
    // If `T` itself lacks the field that the error names, the other fields are valid.
    let missing = error.strip_prefix("missing field `");
    if let Some(missing) = missing.and_then(|name| name.strip_suffix('`'))
        && !fields.contains_key(missing)
    {
        fields.insert(missing.to_owned(), Value::Null);
        if changes_error(&fields) {
            return error;
        }
        fields.remove(missing);
    }
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names.iter().filter(|name| *name != "type") {
        let Some(value) = fields.remove(name) else {
            continue;
        };
        if changes_error(&fields) {
            let is_named = error.contains(&format!("`{name}`"));
            return if is_named {
                error
            } else {
                format!("`{name}`: {error}")
            };
        }
        fields.insert(name.clone(), value);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_protocol::message::RpcCall;
    use serde_json::json;

    #[test]
    fn field_error_names_the_invalid_field_and_no_other() {
        for (request, expected) in [
            (
                json!({"type": "artifact.grep", "artifact": 0}),
                "missing field `pattern`",
            ),
            (
                json!({"type": "file.write", "path": "/x", "more": true}),
                "missing field `data`",
            ),
            (
                json!({"type": "artifact.show", "artifact": [], "limit": 1}),
                "`artifact`: expected a text or a number",
            ),
            (
                json!({"type": "jobs.output", "job": 1, "offset": -2}),
                "`offset`: invalid value: integer `-2`, expected u64",
            ),
            (
                json!({"type": "tool_call", "request": "ls", "findings": {"notices": [{}]}}),
                "`findings`: missing field",
            ),
        ] {
            let Value::Object(fields) = request else {
                panic!("{request}");
            };
            let error = serde_json::from_value::<RpcCall>(fields.clone().into()).unwrap_err();
            let named = field_error::<RpcCall>(fields, &error);
            assert!(named.starts_with(expected), "{named}");
        }
    }
}
