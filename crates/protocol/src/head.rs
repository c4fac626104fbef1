//! Extracts the id and the kind of request from a line that could not be parsed as a request, so
//! that the error response can name both. The scan works byte by byte, so an overlong line need not
//! be stored. Errors elsewhere in the line (half a surrogate pair, a missing end) do not matter.

use serde_json::Value;

/// Maximum length in bytes of a stored name or value. A longer text is not a field of
/// [`RequestHead`], or not a reasonable id.
const MAX_VALUE_BYTES: usize = 64 * 1024;

/// The fields that identify a request, taken from the outermost object only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestHead {
    /// The `id` field.
    pub id: Option<Value>,
    /// The `type` field of the JSON-lines protocol.
    pub kind: Option<String>,
    /// True if there is a `method` field (JSON-RPC).
    pub has_method: bool,
}

/// Extracts a [`RequestHead`].
#[derive(Debug, Default)]
pub struct HeadScan {
    head: RequestHead,
    /// Depth of open objects and arrays.
    depth: usize,
    /// True if the outermost value is not an object, so that its contents are ignored.
    is_not_object: bool,
    is_in_string: bool,
    /// True in a string after a backslash.
    is_escaped: bool,
    /// The field name whose value comes next.
    name: Option<Vec<u8>>,
    /// The current field name or value of the outermost object, as written.
    token: Vec<u8>,
}

impl HeadScan {
    /// Scans a whole line.
    pub fn line(line: &[u8]) -> RequestHead {
        let mut scan = Self::default();
        scan.push(line);
        scan.finish()
    }

    /// Scans the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.push_byte(*byte);
        }
    }

    /// Ends the scan and returns the result.
    pub fn finish(mut self) -> RequestHead {
        self.end_value();
        self.head
    }

    fn push_byte(&mut self, byte: u8) {
        if self.is_in_string {
            self.store(byte);
            self.is_in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return;
        }
        match byte {
            b' ' | b'\t' | b'\r' => return self.store(byte),
            b'{' if self.depth == 0 => self.depth = 1,
            b'{' | b'[' => {
                self.is_not_object |= self.depth == 0;
                // Only the first byte of a nested value is stored.
                self.store(byte);
                self.depth += 1;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.name = Some(std::mem::take(&mut self.token)),
            b',' if self.depth == 1 => self.end_value(),
            _ => {
                self.is_in_string = byte == b'"';
                self.store(byte);
            }
        }
        // Bytes after the outermost object do not belong to the request.
        self.is_not_object |= self.depth == 0;
    }

    /// Appends a byte to the current name or value of the outermost object.
    fn store(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_VALUE_BYTES {
            self.token.push(byte);
        }
    }

    /// Ends a field of the outermost object, and stores its value if it is part of the head.
    fn end_value(&mut self) {
        let value = std::mem::take(&mut self.token);
        let Some(name) = self.name.take() else { return };
        if self.is_not_object {
            return;
        }
        let Ok(name) = serde_json::from_slice::<String>(&name) else {
            return;
        };
        let value = serde_json::from_slice::<Value>(&value).ok();
        match (&*name, value) {
            ("id", value) => {
                self.head.id = value.filter(|value| value.is_string() || value.is_number());
            }
            ("type", Some(Value::String(kind))) => self.head.kind = Some(kind),
            ("method", _) => self.head.has_method = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scan_finds_id_and_type_at_any_position() {
        for (line, id, kind) in [
            ("", None, None),
            ("{", None, None),
            (r#"{"id":7,"type":"ping""#, Some(json!(7)), Some("ping")),
            (
                r#" { "type" : "bash" , "command":"\ud83d", "id" : "x" }"#,
                Some(json!("x")),
                Some("bash"),
            ),
            (r#"{"command":"a\"id\":5,\\","id":6}"#, Some(json!(6)), None),
            (
                r#"{"a":{"id":1,"b":[{"id":2}]},"\u0069d":3,"c":["id",4]}"#,
                Some(json!(3)),
                None,
            ),
            (r#"{"a":"{[","id":"}\"]"}"#, Some(json!("}\"]")), None),
            (r#"{"id":1.5,"x":NaN}"#, Some(json!(1.5)), None),
            (r#"{"id":"half"#, None, None),
            (r#"{"id":[1]}"#, None, None),
            (r#"{"id":null}"#, None, None),
            (r#"{"id":1 2}"#, None, None),
            (r#"[{"id":1}]"#, None, None),
            (r#""id":1"#, None, None),
            (r#"{"a":1}{"id":1}"#, None, None),
            (r#"]]{"id":1}"#, None, None),
        ] {
            let head = HeadScan::line(line.as_bytes());
            assert_eq!((&head.id, head.kind.as_deref()), (&id, kind), "{line}");
            // The result is the same for pieces of any size.
            for size in 1..5 {
                let mut scan = HeadScan::default();
                line.as_bytes()
                    .chunks(size)
                    .for_each(|piece| scan.push(piece));
                assert_eq!(scan.finish(), head, "{line}");
            }
        }
        assert!(HeadScan::line(br#"{"x":"\ud800","method":"ping"}"#).has_method);
    }

    #[test]
    fn scan_bounds_memory_for_any_input() {
        let mut scan = HeadScan::default();
        scan.push(b"{\"id\":\"");
        for _ in 0..1000 {
            scan.push(&[b'x'; 1024]);
        }
        assert!(scan.token.capacity() <= 4 * MAX_VALUE_BYTES);
        scan.push(b"\",\"type\":\"ping\"}");
        let head = scan.finish();
        assert_eq!((head.id, head.kind.as_deref()), (None, Some("ping")));
    }
}
