//! What an adapter is made of, and how its tools are told of.

use super::{CallFields, Done, Field, Knobs, Plan, Shown};
use serde::Serialize;
use serde_json::{Value, json};

/// One family's shell tool.
#[derive(Debug)]
pub struct Adapter {
    /// As it is chosen by.
    pub name: &'static str,
    /// For which models, in a few words.
    pub about: &'static str,
    /// The package, with its version, whose published shape this is.
    pub source: &'static str,
    /// Its limits.
    pub knobs: Knobs,
    /// Its tools, in the order in which a model is told of them.
    pub tools: &'static [Tool],
}

/// One tool of an adapter.
#[derive(Debug)]
pub struct Tool {
    /// As the model calls it.
    pub name: &'static str,
    /// What the model is told.
    pub about: &'static str,
    /// How the provider's own interface declares it, where the provider knows it by a type of its own.
    pub provider: Option<fn() -> Value>,
    /// What it takes.
    pub fields: &'static [Field],
    /// Whether its schema says that there are no other fields. Others are refused all the same.
    pub closed: bool,
    /// What a call asks of the pipeline, or what is wrong with it.
    pub plan: fn(&CallFields) -> Result<Plan, String>,
    /// Writes the answer.
    pub layout: fn(&CallFields, &Done<'_>) -> Shown,
}

/// A tool as a model, or its provider, is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Declared {
    /// By a type that the provider knows.
    Provider(Value),
    /// By name, description and schema.
    Function {
        /// As the model calls it.
        name: &'static str,
        /// For the model.
        description: &'static str,
        /// JSON Schema of its fields.
        input_schema: Value,
    },
}

impl Adapter {
    /// Its tools as a model, or its provider, is told of them.
    pub fn declared(&self) -> Vec<Declared> {
        self.tools.iter().map(Tool::declared).collect()
    }

    /// The tool of that name.
    ///
    /// # Errors
    /// There is none; the names of those that there are.
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
    fn declared(&self) -> Declared {
        match self.provider {
            Some(provider) => Declared::Provider(provider()),
            None => Declared::Function {
                name: self.name,
                description: self.about,
                input_schema: self.input_schema(),
            },
        }
    }

    /// JSON Schema of its fields, also where its provider needs none.
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
