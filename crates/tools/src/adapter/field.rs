//! The input fields of an adapter's tool. One table serves both the schema and parsing.

use agent_bash_core::Window;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// An input field of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The field's name.
    pub name: &'static str,
    /// The field's type.
    pub kind: FieldType,
    /// True if parsing refuses a call without this field. False also for a field whose absence the
    /// adapter's plan refuses, with the published tool's own message.
    pub required: bool,
    /// The field's description for the model.
    pub about: &'static str,
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// A string.
    Text,
    /// True or false.
    Flag,
    /// A whole number, zero or more, with type `integer` in the schema.
    Integer,
    /// A whole number, zero or more, with type `number` in the published schema.
    Number,
    /// An array of strings.
    Texts,
    /// One of these strings.
    OneOf(&'static [&'static str]),
}

impl Field {
    /// Returns an optional field.
    pub const fn optional(name: &'static str, kind: FieldType, about: &'static str) -> Self {
        Self {
            name,
            kind,
            required: false,
            about,
        }
    }

    /// Returns a required field.
    pub const fn required(name: &'static str, kind: FieldType, about: &'static str) -> Self {
        Self {
            required: true,
            ..Self::optional(name, kind, about)
        }
    }

    /// Returns the field's JSON Schema.
    pub fn schema(&self) -> Value {
        let mut schema = match self.kind {
            FieldType::Text => json!({ "type": "string" }),
            FieldType::Flag => json!({ "type": "boolean" }),
            FieldType::Integer => json!({ "type": "integer" }),
            FieldType::Number => json!({ "type": "number" }),
            FieldType::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            FieldType::OneOf(values) => json!({ "type": "string", "enum": values }),
        };
        schema["description"] = self.about.into();
        schema
    }

    /// True if the value has the field's type.
    fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            FieldType::Text => value.is_string(),
            FieldType::Flag => value.is_boolean(),
            FieldType::Integer | FieldType::Number => whole_number(value).is_some(),
            FieldType::Texts => value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_string)),
            FieldType::OneOf(values) => value.as_str().is_some_and(|text| values.contains(&text)),
        }
    }

    /// Returns the name of the field's JSON type.
    fn json_type(&self) -> &'static str {
        match self.kind {
            FieldType::Text | FieldType::OneOf(_) => "string",
            FieldType::Flag => "boolean",
            FieldType::Integer => "integer",
            FieldType::Number => "number",
            FieldType::Texts => "array",
        }
    }

    /// Returns the field's type in words, for errors.
    fn expected(&self) -> String {
        match self.kind {
            FieldType::Text => "a string".to_owned(),
            FieldType::Flag => "true or false".to_owned(),
            FieldType::Integer | FieldType::Number => "a whole number, 0 or more".to_owned(),
            FieldType::Texts => "an array of strings".to_owned(),
            FieldType::OneOf(values) => format!("one of {}", values.join(", ")),
        }
    }
}

/// Why the fields of a call could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The input is not an object.
    #[error("the input must be an object of fields, got {0}")]
    NotAnObject(String),
    /// A field that the tool does not have.
    #[error("unknown field `{field}` (given {got}); the fields are {known}")]
    Unknown {
        /// The field's name in the call.
        field: String,
        /// The field's value, shortened.
        got: String,
        /// The names of the tool's fields.
        known: String,
    },
    /// A value of the wrong type.
    #[error("`{field}` must be {expected}, got {got}")]
    WrongType {
        /// The field.
        field: &'static str,
        /// The expected type, in words.
        expected: String,
        /// The expected JSON type.
        json_type: &'static str,
        /// The field's value, shortened.
        got: String,
    },
    /// A required field is missing.
    #[error("`{field}` is missing; give {expected}")]
    Missing {
        /// The field.
        field: &'static str,
        /// The expected type, in words.
        expected: String,
    },
}

/// The parsed fields of a call. Each is a field of the tool and has the right type.
#[derive(Debug, Clone, Default)]
pub struct CallFields {
    fields: Map<String, Value>,
    /// The errors of the ignored fields.
    ignored: Vec<FieldError>,
    /// The largest answer that the client passes on to the model.
    client_limit: Option<Window>,
}

impl CallFields {
    /// Parses the fields of a call. `null` counts as absent. With `ignores_unknown_fields`, unknown
    /// fields are left out; without, they are an error.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn read(
        fields: &[Field],
        ignores_unknown_fields: bool,
        input: &Value,
    ) -> Result<Self, FieldError> {
        let Value::Object(object) = input else {
            return Err(FieldError::NotAnObject(shortened(input)));
        };
        let mut parsed = Map::new();
        let mut ignored = Vec::new();
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let quoted = || shortened(value);
            let field = fields.iter().find(|field| field.name == name);
            let Some(field) = field else {
                let error = FieldError::Unknown {
                    field: name.clone(),
                    got: quoted(),
                    known: names_of(fields),
                };
                if !ignores_unknown_fields {
                    return Err(error);
                }
                ignored.push(error);
                continue;
            };
            if !field.accepts(value) {
                return Err(FieldError::WrongType {
                    field: field.name,
                    expected: field.expected(),
                    json_type: field.json_type(),
                    got: quoted(),
                });
            }
            parsed.insert(name.clone(), value.clone());
        }
        let missing = |field: &&Field| field.required && !parsed.contains_key(field.name);
        match fields.iter().find(missing) {
            // The ignored field is probably a misspelling of the missing field.
            Some(_) if !ignored.is_empty() => Err(ignored.remove(0)),
            Some(field) => Err(FieldError::Missing {
                field: field.name,
                expected: field.expected(),
            }),
            None => Ok(Self {
                fields: parsed,
                ignored,
                client_limit: None,
            }),
        }
    }

    /// Returns a line for the model about the ignored fields; `None` without such fields.
    pub fn notice(&self) -> Option<String> {
        let errors: Vec<String> = self.ignored.iter().map(ToString::to_string).collect();
        (!errors.is_empty()).then(|| format!("[Ignored: {}]", errors.join("; ")))
    }

    /// Sets the largest answer that the client passes on to the model.
    #[must_use]
    pub fn with_client_limit(self, client_limit: Option<Window>) -> Self {
        Self {
            client_limit,
            ..self
        }
    }

    /// Returns the smaller of `max_bytes` and the client's limit.
    pub fn output_limit(&self, max_bytes: usize) -> Window {
        let window = Window {
            bytes: max_bytes,
            lines: usize::MAX,
        };
        self.client_limit
            .map_or(window, |client_limit| client_limit.and(window))
    }

    /// Returns the value of a text field; `None` if absent.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// Returns the value of a boolean field; false if absent.
    pub fn flag(&self, name: &str) -> bool {
        self.fields
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// Returns the value of a numeric field; `None` if absent.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.fields.get(name).and_then(whole_number)
    }

    /// Returns the value of a field in milliseconds, as a duration; `None` if absent.
    pub fn millis(&self, name: &str) -> Option<Duration> {
        self.count(name).map(Duration::from_millis)
    }

    /// Returns the value of a field with an array of texts; empty if absent.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let items = self.fields.get(name).and_then(Value::as_array);
        items
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }
}

fn names_of(fields: &[Field]) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name).collect();
    names.join(", ")
}

/// Returns the value of a whole number, 0 or more. Models also write `5.0` for 5.
fn whole_number(value: &Value) -> Option<u64> {
    /// About 2^53: an `f64` is exact for all whole numbers below.
    const EXACT_BELOW: f64 = 9e15;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && (0.0..EXACT_BELOW).contains(&number)).then_some(number as u64)
    })
}

/// Returns a value as JSON, shortened for an error.
fn shortened(value: &Value) -> String {
    const MAX_QUOTED_CHARS: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Field; 5] = [
        Field::required("cmd", FieldType::Text, ""),
        Field::optional("tty", FieldType::Flag, ""),
        Field::optional("wait", FieldType::Number, ""),
        Field::optional("words", FieldType::Texts, ""),
        Field::optional("which", FieldType::OneOf(&["a", "b"]), ""),
    ];

    #[test]
    fn errors_name_the_field_and_the_value() {
        for (input, want) in [
            (
                json!("ls"),
                "the input must be an object of fields, got \"ls\"",
            ),
            (json!({}), "`cmd` is missing; give a string"),
            (json!({ "cmd": null }), "`cmd` is missing; give a string"),
            (json!({ "cmd": 5 }), "`cmd` must be a string, got 5"),
            (
                json!({ "cmd": "ls", "tty": "yes" }),
                "`tty` must be true or false, got \"yes\"",
            ),
            (
                json!({ "cmd": "ls", "wait": -1 }),
                "`wait` must be a whole number, 0 or more, got -1",
            ),
            (
                json!({ "cmd": "ls", "words": ["a", 1] }),
                "`words` must be an array of strings, got [\"a\",1]",
            ),
            (
                json!({ "cmd": "ls", "which": "c" }),
                "`which` must be one of a, b, got \"c\"",
            ),
            (
                json!({ "cmd": "ls", "shel": "zsh" }),
                "unknown field `shel` (given \"zsh\"); the fields are cmd, tty, wait, words, which",
            ),
        ] {
            assert_eq!(
                CallFields::read(&FIELDS, false, &input)
                    .unwrap_err()
                    .to_string(),
                want
            );
        }
    }

    #[test]
    fn fields_are_returned_with_their_type() {
        let input =
            json!({ "cmd": "ls", "tty": true, "wait": 250.0, "words": ["a"], "which": "b" });
        let given = CallFields::read(&FIELDS, false, &input).unwrap();
        assert_eq!(
            (given.text("cmd"), given.text("which")),
            (Some("ls"), Some("b"))
        );
        assert_eq!((given.flag("tty"), given.count("wait")), (true, Some(250)));
        assert_eq!(given.texts("words"), ["a"]);
        let given = CallFields::read(&FIELDS, false, &json!({ "cmd": "ls", "tty": null })).unwrap();
        assert!(!given.flag("tty") && given.count("wait").is_none());
    }
}
