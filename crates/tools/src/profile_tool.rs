//! The tool that a model gets under a profile, as one value.

use crate::facts::CallFacts;
use agent_bash_core::Profile;
use agent_bash_sink::Naming;
use serde_json::Value;

/// A profile, and the functions that write the texts of its tool.
#[derive(Debug, Clone)]
pub struct ProfileTool {
    /// The profile.
    pub profile: Profile,
    /// Returns the tool's description. The second argument is the working directory.
    pub description: fn(&Profile, &str) -> String,
    /// Returns the JSON Schema of the field with this name.
    pub field: fn(&Profile, &str) -> Value,
    /// Writes the text of a result.
    pub write: fn(&CallFacts<'_>) -> String,
    /// The tool by which the model reads the full output.
    pub reader: ReaderTool,
    /// The names of files with full outputs.
    pub naming: Naming,
    /// True if the fields are fixed, so that no field is added for what a host offers.
    pub has_fixed_fields: bool,
}

/// The tool by which a model reads the full output of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderTool {
    /// The tool's name.
    pub name: &'static str,
    /// The field that names the output.
    pub field: &'static str,
    /// The description of this field.
    pub field_about: &'static str,
}

impl ReaderTool {
    /// Reads an output by its number.
    pub const BY_NUMBER: Self = Self {
        name: "read_artifact",
        field: "id",
        field_about: "Its number, its link (artifact://3), or its path",
    };
    /// Reads a file by the path that a result has named.
    pub const BY_PATH: Self = Self {
        name: "view",
        field: "file_path",
        field_about: "The path that the result has named",
    };
}
