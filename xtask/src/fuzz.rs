//! `cargo xtask fuzz`: long runs of the tests that generate their own input.
//!
//! Each campaign is an ordinary test that takes its number of cases from the environment, so the
//! same code runs for hours here and for seconds in `cargo xtask test`. Needs no nightly toolchain.

use crate::cargo_command::{cargo, check};
use crate::{Tree, say};
use anyhow::{Context, Result, bail};

/// A test with a configurable number of cases.
struct Campaign {
    name: &'static str,
    summary: &'static str,
    package: &'static str,
    /// The arguments of `cargo test` that select the test.
    target: &'static [&'static str],
    variable: &'static str,
    /// Default number of cases.
    count: u32,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "policy",
        summary: "generated scripts, run by real bash with stand-ins that log",
        package: "agent-bash-policy",
        target: &["--test", "it", "differential::"],
        variable: "POLICY_DIFFERENTIAL",
        count: 100_000,
    },
    Campaign {
        name: "policy-variants",
        summary: "every variant of the policy's corpus (the suite takes a sample)",
        package: "agent-bash-policy",
        target: &["--test", "it", "corpus::"],
        variable: "POLICY_VARIANTS",
        count: 1_000_000,
    },
    Campaign {
        name: "policy-texts",
        summary: "any text: no panic, white space and comments change nothing, what is dangerous is found",
        package: "agent-bash-policy",
        target: &["--test", "it", "properties::"],
        variable: "AGENT_BASH_FUZZ_CASES",
        count: 50_000,
    },
    Campaign {
        name: "sink",
        summary: "any bytes, split anywhere, under every limit",
        package: "agent-bash-sink",
        target: &["--test", "it", "model::properties::"],
        variable: "AGENT_BASH_FUZZ_CASES",
        count: 50_000,
    },
];

/// `cargo xtask fuzz [NAME] [COUNT]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let (name, count) = match arguments {
        [] => {
            for campaign in CAMPAIGNS {
                say(&format!(
                    "  {:<12} {} (default: {} cases)",
                    campaign.name, campaign.summary, campaign.count
                ));
            }
            return Ok(());
        }
        [name] => (name, None),
        [name, count] => (name, Some(count)),
        [_, _, extra, ..] => bail!("unexpected argument `{extra}`"),
    };
    let Some(campaign) = CAMPAIGNS.iter().find(|campaign| campaign.name == name) else {
        bail!("no campaign `{name}`; `cargo xtask fuzz` lists them");
    };
    let count = match count {
        Some(text) => text
            .parse()
            .with_context(|| format!("`{text}` is no number of cases"))?,
        None => campaign.count,
    };
    // Release mode, for speed.
    let mut call = vec!["test", "--release", "--package", campaign.package];
    call.extend(campaign.target);
    call.extend(["--", "--nocapture"]);
    check(&cargo(tree, &call).env(campaign.variable, count.to_string()))
}
