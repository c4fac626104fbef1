//! The parts of an adapter, and the declarations of its tools for models.

pub(crate) mod field;
pub(crate) mod limits;
pub(crate) mod plan;
pub(crate) mod printed;
pub(crate) mod text;

pub use field::{CallFields, Field, FieldError, FieldType};
pub use limits::AdapterLimits;
pub use plan::{
    AdapterPlan, CallOutcome, CommandInput, FinishedRun, OutputChunk, PlannedCommand, StoppedJob,
    WrittenAnswer,
};

use serde::Serialize;
use serde_json::{Value, json};

/// The shell tool of one family of models.
#[derive(Debug)]
pub struct Adapter {
    /// The name by which the adapter is selected.
    pub name: &'static str,
    /// The models that know this tool, in a few words.
    pub about: &'static str,
    /// The package and version that published its interface.
    pub source: &'static str,
    /// The adapter's limits.
    pub limits: AdapterLimits,
    /// The adapter's tools, in the order in which a model sees them.
    pub tools: &'static [Tool],
}

/// One tool of an adapter.
#[derive(Debug)]
pub struct Tool {
    /// The tool's name.
    pub name: &'static str,
    /// The tool's description for the model.
    pub about: &'static str,
    /// Returns the declaration for a provider that has a built-in type for this tool; `None` for a
    /// tool that is declared by name and schema.
    pub provider: Option<fn() -> Value>,
    /// The tool's input fields.
    pub fields: &'static [Field],
    /// True if the tool's schema forbids additional fields.
    pub forbids_additional_fields: bool,
    /// True if unknown fields are ignored, with a line in the answer, because the adapted tool
    /// ignores them. If false, a call with an unknown field is refused.
    pub ignores_unknown_fields: bool,
    /// Returns the plan of a call, or the error of an invalid call.
    pub plan: fn(&CallFields) -> Result<AdapterPlan, String>,
    /// Writes the answer to a call with these fields and this outcome.
    pub layout: fn(&CallFields, &CallOutcome<'_>) -> WrittenAnswer,
}

/// The declaration of a tool, for a model or its provider.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ToolDeclaration {
    /// A built-in tool of the provider, named by its `type`.
    Provider(Value),
    /// A name, a description and a schema.
    Function {
        /// The tool's name.
        name: &'static str,
        /// The tool's description for the model.
        description: &'static str,
        /// JSON Schema of the tool's fields.
        input_schema: Value,
    },
}

impl Adapter {
    /// Returns the declarations of all tools, for a model or its provider.
    pub fn declared(&self) -> Vec<ToolDeclaration> {
        self.tools.iter().map(Tool::declared).collect()
    }

    /// Finds a tool by name.
    ///
    /// # Errors
    /// There is no such tool; the error lists the existing names.
    pub fn tool(&self, name: &str) -> Result<&'static Tool, String> {
        let found = self.tools.iter().find(|tool| tool.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self.tools.iter().map(|tool| tool.name).collect();
            let (adapter, names) = (self.name, names.join(", "));
            format!("`{adapter}` has no tool `{name}`; its tools: {names}")
        })
    }
}

impl Tool {
    /// Returns the tool's declaration.
    fn declared(&self) -> ToolDeclaration {
        match self.provider {
            Some(provider) => ToolDeclaration::Provider(provider()),
            None => ToolDeclaration::Function {
                name: self.name,
                description: self.about,
                input_schema: self.input_schema(),
            },
        }
    }

    /// Returns the JSON Schema of the tool's fields, even for a tool that is declared by its
    /// `type`.
    pub fn input_schema(&self) -> Value {
        let fields = self.fields.iter();
        let properties: serde_json::Map<_, _> = fields
            .map(|field| (field.name.to_owned(), field.schema()))
            .collect();
        let required = self.fields.iter().filter(|field| field.required);
        let required: Vec<_> = required.map(|field| field.name).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        if self.forbids_additional_fields {
            schema["additionalProperties"] = false.into();
        }
        schema
    }
}
