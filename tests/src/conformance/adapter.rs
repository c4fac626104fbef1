//! The parts of an adapter's file besides its cases: the publisher of the tool's interface, and the
//! tool definitions for the model.
//!
//! The cases of `tests/conformance/adapters/NAME.toml` call the adapter NAME; `NAME.tools.json` in
//! the same directory has the tool definitions. Both reproduce the published interface literally;
//! the project has added what is not published.

use serde::Deserialize;
use serde_json::Value;

/// The fields of an adapter's file that are not cases.
#[derive(Debug)]
pub struct Adapter {
    /// The name that calls use.
    pub name: String,
    /// The publisher of the interface.
    pub source: Source,
    /// The tool definitions: an array of objects.
    pub tools: Value,
}

/// The package that an adapter's interface was taken from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// `pypi` or `npm`.
    pub registry: String,
    /// The package name.
    pub package: String,
    /// The version that was examined.
    pub version: String,
    /// The files of the package that define the interface.
    pub files: Vec<String>,
    /// How the package was examined, and which parts of the interface are not published.
    pub note: String,
}
