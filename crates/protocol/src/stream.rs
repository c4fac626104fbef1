//! [`Stream`]: the updates of a running call that a request asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The updates that a call sends while it runs: `false` (none), `true` or `"snapshot"`, or
/// `"delta"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema)]
#[schemars(with = "StreamForm")]
pub enum Stream {
    /// No updates.
    #[default]
    Off,
    /// Each update is the current tail of the output.
    Snapshot,
    /// Each update is the output since the previous one.
    Delta,
}

/// [`Stream`] as serialised.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum StreamForm {
    Switch(bool),
    Kind(StreamKind),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StreamKind {
    Snapshot,
    Delta,
}

impl Serialize for Stream {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => StreamForm::Switch(false),
            Self::Snapshot => StreamForm::Switch(true),
            Self::Delta => StreamForm::Kind(StreamKind::Delta),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stream {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        match StreamForm::deserialize(deserializer) {
            Ok(StreamForm::Switch(false)) => Ok(Self::Off),
            Ok(StreamForm::Switch(true) | StreamForm::Kind(StreamKind::Snapshot)) => {
                Ok(Self::Snapshot)
            }
            Ok(StreamForm::Kind(StreamKind::Delta)) => Ok(Self::Delta),
            Err(_) => Err(D::Error::custom(
                "expected true, false, \"snapshot\" or \"delta\"",
            )),
        }
    }
}
