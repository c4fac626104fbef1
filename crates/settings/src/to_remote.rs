//! Converts the settings in force to a map for a remote host, and back.

use super::Settings;
use super::key::SettingKey;
use super::keys::KEYS;
use super::layers::{Origin, SettingsError, find_key};
use serde_json::{Map, Value};

/// Prefixes of the settings that only this machine uses: a remote host records no calls, serves no
/// MCP, asks no user, and has neither an interface nor targets.
const HOST_SETTINGS: [&str; 6] = ["audit.", "journal.", "mcp.", "prompts.", "targets", "tui."];

impl Settings {
    /// Returns every key that has a value, except the keys that only this machine uses.
    pub fn to_remote(&self) -> Map<String, Value> {
        let value = |key: &SettingKey| serde_json::to_value((key.get)(self)?).ok();
        KEYS.iter()
            .filter(|key| {
                !HOST_SETTINGS
                    .iter()
                    .any(|prefix| key.name.starts_with(prefix))
            })
            .filter_map(|key| Some((key.name.to_owned(), value(key)?)))
            .collect()
    }

    /// Returns the settings that a host has sent. Other keys have their defaults.
    ///
    /// # Errors
    /// An unknown key, or an invalid value.
    pub fn from_remote(received: &Map<String, Value>) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for (name, value) in received {
            let key = find_key(name, &Origin::Host)?;
            let bad_value = |expected: String| SettingsError::BadValue {
                origin: Origin::Host,
                key: key.name,
                // The value may be a secret.
                value: "…".to_owned(),
                expected,
            };
            let value =
                toml::Value::try_from(value).map_err(|error| bad_value(error.to_string()))?;
            (key.set)(&mut settings, &value).map_err(bad_value)?;
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostContext, load};
    use serde_json::json;
    use std::ffi::OsString;
    use std::sync::Arc;

    #[test]
    fn from_remote_restores_the_settings_in_force() {
        assert_eq!(
            Settings::from_remote(&Settings::default().to_remote()).unwrap(),
            Settings::default()
        );
        let environment = [
            ("AGENT_BASH_PROFILE", "paged"),
            ("AGENT_BASH_TIMEOUT_DEFAULT", "90s"),
            ("AGENT_BASH_SAFE_MODE_LEVEL", "listed"),
            ("AGENT_BASH_SANDBOX_LEVEL", "workspace_write"),
            ("AGENT_BASH_LIMITS_MEMORY_MB", "512"),
            ("AGENT_BASH_INTERCEPTOR_TOOLS", "read,grep"),
            ("AGENT_BASH_SURVIVORS", "kill"),
            ("AGENT_BASH_CHANGES_LEVEL", "undo"),
            ("AGENT_BASH_ENVIRONMENT_DROP", "A,B"),
        ];
        let host = HostContext {
            env: Arc::new(
                environment
                    .map(|(name, value)| (OsString::from(name), OsString::from(value)))
                    .into(),
            ),
            ..HostContext::bare("/")
        };
        let mut settings = load(&host).unwrap().settings;
        assert_ne!(settings, Settings::default());
        settings.set.insert("TOKEN".to_owned(), "s3cret".to_owned());
        assert_eq!(
            Settings::from_remote(&settings.to_remote()).unwrap(),
            settings
        );
    }

    #[test]
    fn to_remote_omits_host_settings_and_from_remote_refuses_invalid_ones() {
        let settings = Settings {
            audit_file: Some("/host/log".into()),
            ..Settings::default()
        };
        let remote = settings.to_remote();
        assert!(
            !remote
                .keys()
                .any(|key| key.starts_with("audit.") || key.starts_with("mcp."))
        );
        for (wrong, printed) in [
            (json!({"profil": "paged"}), "the nearest is `profile`"),
            (json!({"profile": "s3cret"}), "`profile` = …"),
            (json!({"profile": null}), "`profile` = …"),
        ] {
            let error = Settings::from_remote(wrong.as_object().unwrap()).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(printed), "{error}");
        }
    }
}
