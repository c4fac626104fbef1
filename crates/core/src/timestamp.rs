//! A point in wall-clock time that can be passed between processes.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch; in JSON an RFC 3339 string in UTC,
/// `2026-11-22T01:02:03.456Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl From<SystemTime> for Timestamp {
    /// Times before the epoch become the epoch.
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// The last millisecond of the year 9999, the end of RFC 3339's range.
const MAX_MILLIS: u64 = 253_402_300_799_999;

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = UNIX_EPOCH + Duration::from_millis(self.0.min(MAX_MILLIS));
        humantime::format_rfc3339_millis(time).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        humantime::parse_rfc3339(&text)
            .map(Self::from)
            .map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_rfc_3339_and_comes_back() {
        let time = Timestamp(1_795_309_323_456);
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(json, "\"2026-11-22T01:02:03.456Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
    }

    #[test]
    fn no_value_panics() {
        assert_eq!(Timestamp(u64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }
}
