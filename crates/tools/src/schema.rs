//! The tool definition for a model: name, description, and schema of the fields.
//!
//! `agent_bash_core::parse_request` accepts more fields than a schema shows.

pub(crate) mod fields;
mod sandbox;
pub(crate) mod words;

pub use sandbox::SandboxTerms;

use agent_bash_core::sandbox::Report;
use agent_bash_policy::SafeMode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tool definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSchema {
    /// Always `bash`.
    pub name: String,
    /// The description for the model; names the working directory.
    pub description: String,
    /// JSON Schema of the call's fields.
    pub input_schema: Value,
}

impl ToolSchema {
    /// Adds the allowed commands of safe mode to the tool's description. Returns the schema
    /// unchanged if safe mode is off.
    #[must_use]
    pub fn with_safe_mode(mut self, mode: Option<&SafeMode>) -> Self {
        let Some(mode) = mode else { return self };
        let safe = format!(
            "Safe mode is on: only commands that begin with one of these may run, alone or in pipelines, without \
             variables, substitutions or files written: {}. All else is refused.",
            mode.allowed.join(", ")
        );
        self.description = format!("{}\n\n{safe}", self.description);
        self
    }

    /// Adds the field `trial`.
    #[must_use]
    pub fn with_trials(mut self) -> Self {
        if let Some(properties) = self.input_schema["properties"].as_object_mut() {
            properties.insert("trial".to_owned(), fields::trial());
        }
        self
    }

    /// Describes the field `pty`, if the schema has the field, for a server that offers its model
    /// terminals.
    #[must_use]
    pub fn with_terminals(mut self) -> Self {
        if let Some(pty) = self.input_schema["properties"].get_mut("pty") {
            *pty = fields::driven_terminal();
            let [never, without_pty] = [
                "There is no terminal,",
                "Without `pty` there is no terminal,",
            ];
            self.description = self.description.replacen(never, without_pty, 1);
        }
        self
    }

    /// Adds the field `sandbox`, and describes the access that calls have. With a `report`, the
    /// description also names the promises that this system cannot enforce. Returns the schema
    /// unchanged without a sandbox.
    #[must_use]
    pub fn with_sandbox(mut self, terms: &SandboxTerms<'_>, report: Option<&Report>) -> Self {
        let missing = report.map(|report| &report.missing[..]);
        let Some(text) = sandbox::description(terms, missing) else {
            return self;
        };
        self.description = format!("{}\n\n{text}", self.description);
        if let Some(properties) = self.input_schema["properties"].as_object_mut() {
            properties.insert("sandbox".to_owned(), sandbox::field(terms));
        }
        self
    }
}
