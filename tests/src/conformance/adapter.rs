//! The part of an adapter's file besides its cases: who published the tool's interface, and the tool definitions
//! for the model.
//!
//! The cases of `tests/conformance/adapters/NAME.toml` call the adapter NAME; `NAME.tools.json` beside it has the
//! tool definitions. What the source publishes is reproduced literally in both; the rest is ours.

use serde::Deserialize;
use serde_json::Value;

/// The head of an adapter's file.
#[derive(Debug)]
pub struct Adapter {
    /// The name that calls use.
    pub name: String,
    /// Who published its interface.
    pub source: Source,
    /// The tool definitions: an array of objects.
    pub tools: Value,
}

/// Where an adapter's interface was found.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// `pypi` or `npm`.
    pub registry: String,
    /// The package name.
    pub package: String,
    /// The version that was examined.
    pub version: String,
    /// The files in it that define the interface.
    pub files: Vec<String>,
    /// How it was examined, and which parts are not published.
    pub note: String,
}
