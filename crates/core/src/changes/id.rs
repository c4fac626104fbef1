//! The number of a change set, and its URI.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The number of a change set in its state directory. In JSON a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangesId(pub u64);

/// The URI scheme of change sets.
const SCHEME: &str = "changes://";

impl ChangesId {
    /// Returns `changes://<id>`.
    pub fn uri(self) -> String {
        format!("{SCHEME}{}", self.0)
    }
}

impl fmt::Display for ChangesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error of a text that is not the number of a change set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a change set is named by its number, such as `7` or `changes://7`; got `{0}`")]
pub struct ChangesIdError(pub String);

impl FromStr for ChangesId {
    type Err = ChangesIdError;

    /// Parses `7` or `changes://7`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(SCHEME).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| digits.parse().ok()).flatten();
        number
            .map(Self)
            .ok_or_else(|| ChangesIdError(text.to_owned()))
    }
}

impl Serialize for ChangesId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ChangesId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ChangesId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ChangesId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9]+$" })
    }
}
