//! One run of one attempt: the specification that the stage gets, and its observations.

use crate::kit::Kit;
use crate::row::{Row, User};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};

/// The word that makes this program the first process of a stage.
pub(crate) const STAGE: &str = "--stage";

/// The namespaces of a stage. The first process in them is pid 1: `kill -1` spares it, and with it
/// everything ends.
const NAMESPACES: [&str; 7] = [
    "--mount", "--pid", "--ipc", "--uts", "--net", "--fork", "--kill-child",
];

/// Options that make an unprivileged user the root of a stage. The stage has no other user then.
const AS_ROOT: [&str; 2] = ["--user", "--map-root-user"];

/// The specification of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) row: Row,
    pub(crate) user: User,
    pub(crate) tier: Tier,
    /// The directory of the [`Kit`].
    pub(crate) kit: String,
    /// The directory of the Rust toolchain, which lies in a home that others cannot read.
    pub(crate) rust: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tier {
    /// No sandbox.
    None,
    Base,
    Full,
}

impl Tier {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Base => "base",
            Self::Full => "full",
        }
    }
}

/// The observations of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Observations {
    pub(crate) outcome: Outcome,
    /// The promises that the sandbox reported as missing; empty without a sandbox.
    pub(crate) missing: Vec<String>,
    /// The output of the attempt, and its end.
    pub(crate) printed: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// The attempt succeeded.
    Through,
    /// The attempt did not succeed.
    Held,
    /// The machine lacks a requirement, for this reason.
    NotTried(String),
    /// The sandbox did not start, so the attempt did not run: how the host ended.
    NotBegun(String),
    /// The stage failed, for this reason.
    Fault(String),
}

impl Run {
    pub(crate) fn new(row: &Row, user: User, tier: Tier, kit: &Kit) -> Self {
        Self {
            row: row.clone(),
            user,
            tier,
            kit: kit.path().to_string_lossy().into_owned(),
            rust: kit.rust.clone(),
        }
    }

    /// True if the attempt is expected to succeed, in a sandbox that lacks the `missing` parts.
    pub(crate) fn goes_through(&self, missing: &[String]) -> bool {
        let part = self.row.part.as_ref();
        let lacking = part.is_some_and(|part| missing.contains(part))
            || self.row.full_only.is_some() && self.tier == Tier::Base;
        match self.tier {
            Tier::None => true,
            _ if self.row.works => !lacking,
            _ => lacking || self.row.is_hole(self.user),
        }
    }

    /// Makes the attempt on a stage of its own.
    pub(crate) fn on_stage(&self) -> Result<Observations> {
        let shown = Command::new("unshare")
            .args(if rustix::process::geteuid().is_root() {
                &[][..]
            } else {
                &AS_ROOT
            })
            .args(NAMESPACES)
            .arg(std::env::current_exe()?)
            .args([STAGE, &serde_json::to_string(self)?])
            .stdin(Stdio::null())
            .output()
            .context("unshare (of util-linux) makes the stage's namespaces")?;
        let stderr = String::from_utf8_lossy(&shown.stderr);
        serde_json::from_slice(&shown.stdout)
            .with_context(|| format!("the stage ended with {} and said: {stderr}", shown.status))
    }
}
