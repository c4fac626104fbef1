//! Secrets that only the proxy of a sandbox knows: its calls get placeholders.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A variable of a sandboxed call with a placeholder. The proxy of the sandbox puts the value into
/// requests to some hosts.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSecret {
    /// The name of the variable.
    pub variable: String,
    /// The value of the variable in the sandbox.
    pub placeholder: String,
    /// The hosts that get the value, as in the setting `sandbox.secrets`.
    pub hosts: Vec<String>,
    /// The value in the host. Not serialized, so that the supervisor, which starts the call, does
    /// not receive the value.
    #[serde(skip)]
    value: String,
}

impl HostSecret {
    /// Returns a secret that `placeholder` stands for.
    pub fn new(variable: String, value: String, placeholder: String, hosts: Vec<String>) -> Self {
        Self {
            variable,
            placeholder,
            hosts,
            value,
        }
    }

    /// The value. Empty if this secret was deserialized.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for HostSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSecret")
            .field("variable", &self.variable)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_neither_serialized_nor_printed() {
        let [variable, value, placeholder] = ["A", "value-of-a", "other-text"].map(str::to_owned);
        let made = HostSecret::new(variable, value, placeholder, Vec::new());
        let text = serde_json::to_string(&made).unwrap();
        assert!(!text.contains(made.value()) && text.contains(&made.placeholder));
        assert!(!format!("{made:?}").contains(made.value()));
        let received: HostSecret = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (received.value(), &received.placeholder),
            ("", &made.placeholder)
        );
    }
}
