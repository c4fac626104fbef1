//! The policy's findings about a call, for a remote host that runs the call without checking it
//! again.

use crate::{Notice, Request, Window};
use serde::{Deserialize, Serialize};

/// A call that passed the policy and was approved.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyFindings {
    /// The request to run. Lifted filters are removed from its script.
    pub request: Request,
    /// The findings.
    pub findings: Findings,
}

/// The policy's findings in a script, so that the remote host need not parse the script again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Judged"))]
pub struct Findings {
    /// The original script, if the script that runs differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Notices for the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
    /// True if a filter was lifted off the end of the script.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lifted: bool,
    /// True if exit code 1 of the remaining script is a result, not a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exit_1_is_ok: bool,
    /// For each stage of the last pipeline, true if exit code 1 is a result; absent if the script
    /// does not end with a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_pipeline: Option<Vec<bool>>,
    /// A program in the script that gains privileges (such as `sudo`), or a program in which the
    /// user may type such a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_privileges: Option<String>,
    /// True if a rule refuses the script, and the user or the settings let it pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub excepted: bool,
    /// True if the request to leave the sandbox was approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    /// True if the call has no default time limit, because the user watches it and can end it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlimited: bool,
    /// The largest text that the client passes to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}
