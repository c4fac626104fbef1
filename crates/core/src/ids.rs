//! Identifiers of artifacts, jobs and sessions, which outlive a call.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Number of an artifact in its state directory. Never reused.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ArtifactId(pub u64);

/// The URI scheme of artifacts.
const SCHEME: &str = "artifact://";

impl ArtifactId {
    /// Returns `artifact://<id>`, as shown to the model.
    pub fn uri(self) -> String {
        format!("{SCHEME}{}", self.0)
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error of an artifact URI whose part after `artifact://` is not a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("artifact:// ID must be numeric, got: {0}")]
pub struct ArtifactUriError(pub String);

impl FromStr for ArtifactId {
    type Err = ArtifactUriError;

    /// Parses `3` or `artifact://3`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(SCHEME).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ArtifactUriError(digits.to_owned()));
        }
        digits
            .parse()
            .map(Self)
            .map_err(|_| ArtifactUriError(digits.to_owned()))
    }
}

/// Name of a background job in its state directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct JobId(pub String);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name of a persistent shell, as the caller chose it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SessionName(pub String);

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifact_id_is_parsed_with_and_without_scheme() {
        for (text, want) in [
            ("3", Ok(3)),
            ("artifact://12", Ok(12)),
            ("artifact://", Err("")),
            ("artifact://x1", Err("x1")),
            ("-1", Err("-1")),
            ("+1", Err("+1")),
            ("99999999999999999999", Err("99999999999999999999")),
        ] {
            let got = text.parse::<ArtifactId>();
            assert_eq!(
                got,
                want.map(ArtifactId).map_err(|s| ArtifactUriError(s.into())),
                "{text}"
            );
        }
    }

    #[test]
    fn artifact_uri_error_has_a_fixed_text() {
        let error = "artifact://abc".parse::<ArtifactId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "artifact:// ID must be numeric, got: abc"
        );
    }
}
