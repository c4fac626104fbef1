//! Splits a request for a program that forwards it.

use crate::message::RpcCall;
use serde_json::{Map, Value};

impl RpcCall {
    /// Returns the call's kind, as on the wire, and an object of its fields.
    pub fn parts(&self) -> (String, Value) {
        let mut fields = match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        match fields.remove("type") {
            Some(Value::String(kind)) => (kind, Value::Object(fields)),
            _ => (String::new(), Value::Object(fields)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Name;
    use serde_json::json;

    #[test]
    fn message_is_rebuilt_from_its_kind_and_fields() {
        let call = RpcCall::JobsInput {
            job: Name("3".to_owned()),
            text: "a\n".to_owned(),
            close: false,
        };
        let (kind, fields) = call.parts();
        assert_eq!(kind, "jobs.input");
        assert_eq!(fields, json!({"job": "3", "text": "a\n"}));
        assert_eq!(
            RpcCall::JobsList { port: None }.parts(),
            ("jobs.list".to_owned(), json!({}))
        );
    }
}
