//! Reads `xtask/crates.toml`: the crates of the workspace, their allowed dependencies, and the
//! reason for each third-party crate.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The tables of `xtask/crates.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrateTables {
    #[serde(rename = "crate")]
    pub(crate) crates: Vec<Crate>,
    /// The purpose of each third-party crate of the product.
    pub(crate) reasons: BTreeMap<String, String>,
}

/// A crate and its dependencies: the allowed ones in the table, or those in a manifest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Crate {
    pub(crate) package: String,
    /// Crates of this workspace.
    #[serde(default)]
    pub(crate) workspace: BTreeSet<String>,
    /// Crates from the registry. Dev-dependencies are not restricted.
    #[serde(default)]
    pub(crate) third_party: BTreeSet<String>,
    /// Crates of this workspace that only tests, examples and benches use.
    #[serde(default)]
    pub(crate) dev_workspace: BTreeSet<String>,
}

/// Returns the tables of the file.
pub(crate) fn read() -> Result<CrateTables> {
    toml::from_str(include_str!("../crates.toml")).context("xtask/crates.toml")
}
