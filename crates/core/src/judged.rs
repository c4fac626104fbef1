//! What a judge decided about a call, for another machine that is to run it without judging again.

use crate::{Notice, Request, Window};
use serde::{Deserialize, Serialize};

/// A call that may run: it was parsed, read by all the rules, and approved.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// What is to run. Its script lacks what was lifted off its end.
    pub request: Request,
    /// What was found out.
    pub findings: Findings,
}

/// What a judge found out about a script. Whoever runs it could not find out the same without reading it again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Judged"))]
pub struct Findings {
    /// The script as given, if that is not what runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Notices for the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// A filter was lifted off the script's end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lifted: bool,
    /// Exit code 1 of what is left is a result, not a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exit_1_is_ok: bool,
    /// For each stage of the pipeline at the script's end, whether exit code 1 is a result; absent if it does not end
    /// with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_pipeline: Option<Vec<bool>>,
    /// A program that it may run which takes privileges that its user lends it, or in which somebody may type one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_privileges: Option<String>,
    /// Its request to leave the sandbox was approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    /// It has no time limit, unless its request names one: somebody follows it, and can end it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlimited: bool,
    /// How much text the reader passes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}
