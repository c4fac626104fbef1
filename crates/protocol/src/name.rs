//! The name of a job or an artifact, as clients write it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::fmt;

/// A text; a number is accepted and converted to its digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "NameForm", into = "String")]
#[schemars(with = "NameForm")]
pub struct Name(pub String);

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a number")]
enum NameForm {
    Text(String),
    Number(Number),
}

impl From<NameForm> for Name {
    fn from(form: NameForm) -> Self {
        Self(match form {
            NameForm::Text(text) => text,
            NameForm::Number(number) => number.to_string(),
        })
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
