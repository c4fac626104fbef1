//! The parts of an adapter, and the definitions of its tools.

use super::{AdapterLimits, AdapterPlan, CallFields, CallOutcome, Field, WrittenAnswer};
use serde::Serialize;
use serde_json::{Value, json};

/// The shell tool of one family of models.
#[derive(Debug)]
pub struct Adapter {
    /// The name by which it is selected.
    pub name: &'static str,
    /// The models that know this tool, in a few words.
    pub about: &'static str,
    /// The package and version that published its interface.
    pub source: &'static str,
    /// The adapter's limits.
    pub knobs: AdapterLimits,
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
    /// The provider's declaration, if the provider knows the tool by a type of its own.
    pub provider: Option<fn() -> Value>,
    /// The tool's input fields.
    pub fields: &'static [Field],
    /// Whether its schema forbids additional fields.
    pub closed: bool,
    /// Whether additional fields are ignored, with a line in the answer, as the adapted tool
    /// ignores them. Otherwise they are refused.
    pub tolerant: bool,
    /// Maps a call to the pipeline, or says what is wrong with it.
    pub plan: fn(&CallFields) -> Result<AdapterPlan, String>,
    /// Writes the answer.
    pub layout: fn(&CallFields, &CallOutcome<'_>) -> WrittenAnswer,
}

/// The definition of a tool for a model or its provider.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ToolDeclaration {
    /// A `type` that the provider knows.
    Provider(Value),
    /// A name, a description and a schema.
    Function {
        /// The tool's name.
        name: &'static str,
        /// The tool's description for the model.
        description: &'static str,
        /// JSON Schema of its fields.
        input_schema: Value,
    },
}

impl Adapter {
    /// The definitions of its tools, for a model or its provider.
    pub fn declared(&self) -> Vec<ToolDeclaration> {
        self.tools.iter().map(Tool::declared).collect()
    }

    /// Finds a tool by name.
    ///
    /// # Errors
    /// There is none; lists the existing names.
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

    /// JSON Schema of its fields, even if its provider does not need one.
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
        if self.closed {
            schema["additionalProperties"] = false.into();
        }
        schema
    }
}
