//! What can be read of a line that is no request: its id, and what it asked for. Byte by byte, so that a line which is too long to be
//! kept can be read as it passes; what is wrong elsewhere in it (half a surrogate pair, an end that is missing) does not matter.

use serde_json::Value;

/// Bytes of a name or a value that are kept. One that is longer is nothing that we look for, or an id beyond reason.
const LONGEST: usize = 64 * 1024;

/// The fields by which a client finds its request, those of the outermost object alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Head {
    /// `id`.
    pub(crate) id: Option<Value>,
    /// `type`, of JSON lines.
    pub(crate) kind: Option<String>,
    /// There is a `method`, of JSON-RPC.
    pub(crate) has_method: bool,
}

/// Reads a [`Head`].
#[derive(Debug, Default)]
pub(crate) struct Scan {
    head: Head,
    /// Objects and lists that are open.
    depth: usize,
    /// The outermost thing is no object: nothing of it is looked at.
    is_other: bool,
    in_string: bool,
    /// The byte before was a backslash, in a string.
    is_escaped: bool,
    /// The name whose value comes.
    name: Option<Vec<u8>>,
    /// A name or a value of the outermost object, as it is written.
    token: Vec<u8>,
}

impl Scan {
    /// All of a line.
    pub(crate) fn line(line: &[u8]) -> Head {
        let mut scan = Self::default();
        scan.push(line);
        scan.finish()
    }

    /// The next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// The line has ended.
    pub(crate) fn finish(mut self) -> Head {
        self.end_value();
        self.head
    }

    fn byte(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            self.in_string = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return;
        }
        match byte {
            b' ' | b'\t' | b'\r' => return self.keep(byte),
            b'{' if self.depth == 0 => self.depth = 1,
            b'{' | b'[' => {
                self.is_other |= self.depth == 0;
                // Of a value that is one of these nothing but this is kept.
                self.keep(byte);
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
                self.in_string = byte == b'"';
                self.keep(byte);
            }
        }
        // Behind the outermost object there is nothing of it.
        self.is_other |= self.depth == 0;
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= LONGEST {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        let value = std::mem::take(&mut self.token);
        let Some(name) = self.name.take() else { return };
        if self.is_other {
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
    fn id_and_type_are_found_wherever_they_stand() {
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
            let head = Scan::line(line.as_bytes());
            assert_eq!((&head.id, head.kind.as_deref()), (&id, kind), "{line}");
            // In pieces of any size it is the same.
            for size in 1..5 {
                let mut scan = Scan::default();
                line.as_bytes()
                    .chunks(size)
                    .for_each(|piece| scan.push(piece));
                assert_eq!(scan.finish(), head, "{line}");
            }
        }
        assert!(Scan::line(br#"{"x":"\ud800","method":"ping"}"#).has_method);
    }

    #[test]
    fn nothing_that_comes_makes_it_keep_much() {
        let mut scan = Scan::default();
        scan.push(b"{\"id\":\"");
        for _ in 0..1000 {
            scan.push(&[b'x'; 1024]);
        }
        assert!(scan.token.capacity() <= 4 * LONGEST);
        scan.push(b"\",\"type\":\"ping\"}");
        let head = scan.finish();
        assert_eq!((head.id, head.kind.as_deref()), (None, Some("ping")));
    }
}
