//! Conditions that end a wait for a job before the job ends.

use crate::short_duration;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The conditions of a wait. The first condition that is met ends the wait, and so does the job's
/// end. In JSON also the text `"end"`: only the job's end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Until {
    /// A regular expression that matches a line of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// A TCP port that accepts connections in the job's network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// A file that exists; relative to the job's directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A time in milliseconds during which nothing is printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_ms: Option<u64>,
}

impl Until {
    /// True if only the job's end ends the wait.
    pub fn is_end(&self) -> bool {
        *self == Self::default()
    }
}

impl<'de> Deserialize<'de> for Until {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match UntilJson::deserialize(deserializer)? {
            UntilJson::Word(word) if word == "end" => Ok(Self::default()),
            UntilJson::Word(word) => Err(D::Error::custom(format!("{EXPECTED}, got {word:?}"))),
            UntilJson::Conditions(UntilFields {
                line,
                port,
                file,
                quiet_ms,
            }) => Ok(Self {
                line,
                port,
                file,
                quiet_ms,
            }),
        }
    }
}

const EXPECTED: &str = "expected \"end\", or an object with `line`, `port`, `file` or `quiet_ms`";

/// The JSON forms of [`Until`].
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"end\", or an object with `line`, `port`, `file` or `quiet_ms`"
)]
enum UntilJson {
    Word(String),
    Conditions(UntilFields),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UntilFields {
    line: Option<String>,
    port: Option<u16>,
    file: Option<PathBuf>,
    quiet_ms: Option<u64>,
}

/// The condition that ended a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MetCondition {
    /// The job has ended.
    End,
    /// A line of the output matches.
    Line {
        /// The line, without control sequences.
        line: String,
    },
    /// A process listens on the port.
    Port {
        /// The address on which it listens.
        address: SocketAddr,
        /// True if the process belongs to the job.
        of_job: bool,
    },
    /// The file exists.
    File {
        /// The absolute path of the file.
        path: PathBuf,
    },
    /// Nothing was printed for a time.
    Quiet {
        /// The time in milliseconds.
        ms: u64,
    },
}

impl fmt::Display for MetCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the job has ended"),
            Self::Line { line } => write!(f, "a line matches: {line}"),
            Self::Port {
                address,
                of_job: true,
            } => write!(f, "{address} answers"),
            Self::Port { address, .. } => {
                write!(f, "{address} answers, but no process of this job")
            }
            Self::File { path } => write!(f, "{} exists", path.display()),
            Self::Quiet { ms } => {
                let time = short_duration(Duration::from_millis(*ms));
                write!(f, "nothing was printed for {time}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn until_is_read_as_a_word_or_an_object() {
        let read = |json| serde_json::from_value::<Until>(json);
        assert!(read(json!("end")).unwrap().is_end());
        assert!(read(json!({})).unwrap().is_end());
        let until = read(json!({ "line": "ready", "port": 80 })).unwrap();
        assert_eq!(
            (until.line.as_deref(), until.port),
            (Some("ready"), Some(80))
        );
        assert_eq!(json!(until), json!({ "line": "ready", "port": 80 }));
        for wrong in [
            json!("soon"),
            json!({ "prot": 80 }),
            json!({ "port": 99_999 }),
            json!(3),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(
                error.contains("object with `line`, `port`, `file` or `quiet_ms`"),
                "{error}"
            );
        }
    }
}
