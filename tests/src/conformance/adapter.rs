//! What the file of an adapter says beside its cases: who published the shape, and which tools a model is offered.
//!
//! The cases of `tests/conformance/adapters/NAME.toml` call the adapter NAME; `NAME.tools.json` beside it is what a model is
//! told. What its source publishes stands in both as that source says it; the rest is ours.

use serde::Deserialize;
use serde_json::Value;

/// The head of an adapter's file.
#[derive(Debug)]
pub struct Adapter {
    /// As calls name it.
    pub name: String,
    /// Who published its shape.
    pub source: Source,
    /// The tools that a model is offered: an array of objects.
    pub tools: Value,
}

/// Where the shape of an adapter was found.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// `pypi` or `npm`.
    pub registry: String,
    /// The package there.
    pub package: String,
    /// The version that was looked at.
    pub version: String,
    /// Files of it that say the shape.
    pub files: Vec<String>,
    /// How it was looked at, and what of it is not published.
    pub note: String,
}
