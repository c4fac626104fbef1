//! The request: what a call asks for.

use crate::SessionName;
use crate::changes::TrialRequest;
use crate::sandbox::SandboxRequest;
use crate::setters::setters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

/// Longest script that is accepted, in bytes. Scripts are passed by descriptor, so this only guards
/// against mistakes (a file's contents as a command); it is not a system limit.
pub const MAX_COMMAND_BYTES: usize = 16 * 1024 * 1024;

/// Largest output that a call can ask to see, in KB: agents truncate longer answers themselves.
pub const MAX_SHOW_KB: u64 = 400;

/// A call as data. Parsed from JSON by [`crate::parse_request`], which knows the accepted
/// spellings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Request {
    /// The script, passed on byte for byte.
    pub command: String,
    /// How long the command may take, and whether it runs in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Time limit in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub timeout: Option<Duration>,
    /// True to wait for the command's end: no time limit unless `timeout` names one, and no answer
    /// with a handle before the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// Working directory; a relative path starts from the host's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Keep only the first lines of stdout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<NonZeroU64>,
    /// Keep only the last lines of stdout; applied after `head`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<NonZeroU64>,
    /// The part of a long output that the text shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<ShownPart>,
    /// The size of that part in KB, at most [`MAX_SHOW_KB`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show_kb: Option<NonZeroU64>,
    /// Persistent shell that runs the script; absent for a new shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// True to ask for a terminal; false to refuse a terminal that the host offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pty: Option<bool>,
    /// Environment variables for this call; `null` unsets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Option<String>>,
    /// The command's stdin.
    #[serde(default, skip_serializing_if = "StdinMode::is_null")]
    pub stdin: StdinMode,
    /// Another sandbox for this call. The user must approve one that allows more than the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxRequest>,
    /// Run the call as a trial, which holds its changes to files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialRequest>,
    /// A description for the user, never interpreted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Request {
    /// Returns a call of `command` with defaults for the other fields.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }
}

setters! {
    Request;
    command: String,
    mode: Option<Mode>,
    timeout: Option<Duration>,
    wait: Option<bool>,
    cwd: Option<String>,
    head: Option<NonZeroU64>,
    tail: Option<NonZeroU64>,
    show: Option<ShownPart>,
    show_kb: Option<NonZeroU64>,
    session: Option<SessionName>,
    pty: Option<bool>,
    env: BTreeMap<String, Option<String>>,
    stdin: StdinMode,
    description: Option<String>,
    sandbox: Option<SandboxRequest>,
    trial: Option<TrialRequest>,
}

/// How a call is run, and how long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// In the foreground, with the profile's default timeout.
    #[default]
    Default,
    /// In the foreground, with the timeout for builds, tests and installs.
    Slow,
    /// In the background: returns at once, output goes to a file.
    Background,
}

/// The part of a long output that a result's text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShownPart {
    /// The beginning.
    Start,
    /// The end.
    End,
    /// The beginning and the end.
    Both,
}

/// The source of the command's stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StdinMode {
    /// `/dev/null`.
    #[default]
    Null,
    /// A pipe that the caller writes to later; only for background jobs.
    Pipe,
}

impl StdinMode {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the signature serde asks for"
    )]
    fn is_null(&self) -> bool {
        *self == Self::Null
    }
}

/// A `Duration` as a number of seconds.
mod seconds {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};
    use std::time::Duration;

    #[expect(clippy::ref_option, reason = "the signature serde asks for")]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(duration) => serializer.serialize_f64(duration.as_secs_f64()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let Some(value) = Option::<f64>::deserialize(deserializer)? else {
            return Ok(None);
        };
        crate::duration_text::seconds(value)
            .map(Some)
            .ok_or_else(|| D::Error::custom(format!("timeout {value} is not zero or more seconds")))
    }
}
