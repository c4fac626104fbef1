//! Pieces of files, as `file.read` and `file.write` carry them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::borrow::Cow;
use std::fmt;

/// Maximum number of bytes of a file in one message.
pub const MAX_PIECE: usize = 4 << 20;

/// Bytes, on the wire as base64. `Debug` shows only their number.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Base64Bytes(pub Vec<u8>);

impl fmt::Debug for Base64Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Base64Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let bytes = STANDARD
            .decode(text.as_bytes())
            .map_err(|error| D::Error::custom(format!("not base64: {error}")))?;
        if bytes.len() > MAX_PIECE {
            let error = format!("a piece has at most {} MiB", MAX_PIECE >> 20);
            return Err(D::Error::custom(error));
        }
        Ok(Self(bytes))
    }
}

impl JsonSchema for Base64Bytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Piece".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}

/// Data of `file.read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilePieceData {
    /// The bytes from `offset` on.
    pub data: Base64Bytes,
    /// Length of the whole file now.
    pub size: u64,
    /// The file's permissions, as a number: 420 is `0644`.
    pub mode: u32,
    /// True if this piece reaches the end of the file.
    pub at_end: bool,
}

/// Data of `file.write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileWrittenData {
    /// The upload that the next piece names; absent once the file is in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<u64>,
    /// Bytes received so far.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn piece_is_base64_of_bounded_length() {
        let piece = Base64Bytes(vec![0, 255, 10]);
        let wire = serde_json::to_value(&piece).unwrap();
        assert_eq!(wire, json!("AP8K"));
        assert_eq!(serde_json::from_value::<Base64Bytes>(wire).unwrap(), piece);
        assert!(serde_json::from_value::<Base64Bytes>(json!("A?")).is_err());
        let longest = serde_json::to_value(Base64Bytes(vec![7; MAX_PIECE])).unwrap();
        assert!(serde_json::from_value::<Base64Bytes>(longest).is_ok());
        let longer = serde_json::to_value(Base64Bytes(vec![7; MAX_PIECE + 1])).unwrap();
        assert!(serde_json::from_value::<Base64Bytes>(longer).is_err());
    }
}
