//! Builds the environment of a command, in the order that the contract defines: base, minus
//! secrets, unattended defaults, session variables, call variables.

pub use crate::mise::{finds_mise, is_mise_set_up};
pub use crate::secrets::{AnswerMask, Masks, PromptAnswers, SecretFilter, SecretMask};
pub use crate::unattended::{
    CI, DefaultEffect, UNATTENDED_DEFAULTS, UnattendedDefault, UserPresence, attended,
};

use crate::git_settings;
use agent_bash_core::{Environment, words};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Selects the variables of the host that commands inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inherit {
    /// All variables of the host.
    #[default]
    All,
    /// [`CORE_VARIABLES`]: the variables that most programs need.
    Core,
    /// No variables.
    #[serde(rename = "none")]
    Nothing,
}

/// The variables of [`Inherit::Core`], in addition to `LC_*`.
pub const CORE_VARIABLES: &[&str] = &[
    "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "PWD", "SHLVL",
];

/// Variables that are never inherited: they change how a shell reads its script, or run code at its
/// start. With `TMOUT`, which ends the terminals of idle users, `read` gives up, and a loop over a
/// slow output loses the rest. A call's own `env` may set them for its children.
const NEVER_INHERITED: &[&str] =
    words!["BASH_ENV ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 BASH_XTRACEFD TMOUT"];

/// Prefix of the variables in which bash exports functions.
const EXPORTED_FUNCTION_PREFIX: &str = "BASH_FUNC_";

/// Suffix of the variables in which bash exports functions.
const EXPORTED_FUNCTION_SUFFIX: &str = "%%";

/// The beginning of the values in which bash exports functions.
const EXPORTED_FUNCTION_START: &str = "() {";

/// How to build an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentPolicy {
    /// The variables inherited from the host.
    pub inherit: Inherit,
    /// The filter for secrets, which are removed; `None` removes nothing.
    pub secrets: Option<SecretFilter>,
    /// The defaults to set; `None` sets none.
    pub unattended: Option<UserPresence>,
    /// The session's variables, set last; the value `None` removes a variable.
    pub session: BTreeMap<OsString, Option<OsString>>,
}

impl Default for EnvironmentPolicy {
    fn default() -> Self {
        Self {
            inherit: Inherit::All,
            secrets: Some(SecretFilter::default()),
            unattended: Some(UserPresence::Pipe),
            session: BTreeMap::new(),
        }
    }
}

/// A base environment that many calls share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseEnvironment {
    /// The variables.
    pub variables: Arc<BTreeMap<OsString, OsString>>,
    /// Names (never values) of variables removed as secrets, sorted.
    pub removed: Vec<String>,
    /// Names of the unattended defaults that are applied.
    pub defaults: Vec<&'static str>,
}

impl BaseEnvironment {
    /// Builds the base from the host's environment. The names of removed variables are logged at
    /// debug level. Does not set `CI` where mise is set up, which is looked up on disk: if `CI` is
    /// set, mise trusts every project.
    pub fn build(
        host: impl IntoIterator<Item = (OsString, OsString)>,
        policy: &EnvironmentPolicy,
    ) -> Self {
        let host: BTreeMap<OsString, OsString> = host.into_iter().collect();
        let leaves_ci = policy.unattended.is_some() && is_mise_set_up(&host);
        let mut variables = BTreeMap::new();
        let mut removed = Vec::new();
        for (name, value) in host {
            if !is_inherited(&name, policy.inherit) {
                continue;
            }
            if policy
                .secrets
                .as_ref()
                .is_some_and(|filter| filter.is_secret(&name, &value))
            {
                removed.push(name.to_string_lossy().into_owned());
                continue;
            }
            variables.insert(name, value);
        }
        if removed.iter().any(|name| name.starts_with("GIT_CONFIG_")) {
            git_settings::remove_incomplete(&mut variables);
        }
        let mut defaults = Vec::new();
        for default in UNATTENDED_DEFAULTS {
            let effect = match policy.unattended {
                Some(presence) if !(leaves_ci && default.name == CI) => default.setting(presence),
                _ => DefaultEffect::Leave,
            };
            match effect {
                DefaultEffect::Set(value) => {
                    drop(variables.insert(default.name.into(), value.into()));
                }
                DefaultEffect::Unset => drop(variables.remove(OsStr::new(default.name))),
                DefaultEffect::Leave => continue,
            }
            defaults.push(default.name);
        }
        for (name, value) in &policy.session {
            match value {
                Some(value) => drop(variables.insert(name.clone(), value.clone())),
                None => drop(variables.remove(name)),
            }
        }
        removed.sort();
        if !removed.is_empty() {
            tracing::debug!(names = ?removed, "variables that look like secrets are not passed on");
        }
        Self {
            variables: Arc::new(variables),
            removed,
            defaults,
        }
    }

    /// Returns the environment of a call: the base with `changes`. A change to `None` removes the
    /// variable.
    pub fn for_call(&self, changes: &BTreeMap<String, Option<String>>) -> Environment {
        let changes = changes
            .iter()
            .map(|(name, value)| (name.into(), value.as_ref().map(OsString::from)))
            .collect();
        Environment {
            base: Arc::clone(&self.variables),
            changes,
        }
    }
}

/// True for a variable that is never inherited: an exported function, or a variable that changes
/// how a shell reads its script or runs code at its start.
pub fn affects_shells(name: &OsStr) -> bool {
    let text = name.to_string_lossy();
    NEVER_INHERITED.contains(&text.as_ref()) || is_exported_function(name)
}

/// True for a variable by which bash exports a function.
fn is_exported_function(name: &OsStr) -> bool {
    name.as_bytes()
        .starts_with(EXPORTED_FUNCTION_PREFIX.as_bytes())
}

/// Returns the name and the definition of the function that bash reads from a variable at its
/// start; `None` for other variables.
pub fn exported_function(name: &OsStr, value: &OsStr) -> Option<(String, String)> {
    let function = name.to_str()?.strip_prefix(EXPORTED_FUNCTION_PREFIX)?;
    let function = function.strip_suffix(EXPORTED_FUNCTION_SUFFIX)?;
    let value = value.to_string_lossy();
    let definition = format!("{function} {value}\n");
    value
        .starts_with(EXPORTED_FUNCTION_START)
        .then(|| (function.to_owned(), definition))
}

fn is_inherited(name: &OsStr, inherit: Inherit) -> bool {
    if affects_shells(name) {
        return false;
    }
    let text = name.to_string_lossy();
    match inherit {
        Inherit::All => true,
        Inherit::Core => CORE_VARIABLES.contains(&text.as_ref()) || text.starts_with("LC_"),
        Inherit::Nothing => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn host(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn get<'a>(base: &'a BaseEnvironment, name: &str) -> Option<&'a str> {
        base.variables
            .get(OsStr::new(name))
            .and_then(|value| value.to_str())
    }

    #[test]
    fn build_removes_secrets_and_sets_defaults() {
        let host = host(&[
            ("HOME", "/home/a"),
            ("GITHUB_TOKEN", "x"),
            ("PAGER", "less"),
            ("BASH_ENV", "/evil"),
            ("BASH_FUNC_ls%%", "() { :; }"),
            ("PS4", "$(evil)"),
            ("TMOUT", "900"),
            ("FORCE_COLOR", "1"),
        ]);
        let base = BaseEnvironment::build(host, &EnvironmentPolicy::default());
        assert_eq!(get(&base, "HOME"), Some("/home/a"));
        assert_eq!(base.removed, ["GITHUB_TOKEN"]);
        for removed in [
            "GITHUB_TOKEN", "BASH_ENV", "BASH_FUNC_ls%%", "PS4", "TMOUT", "FORCE_COLOR",
        ] {
            assert_eq!(get(&base, removed), None, "{removed}");
        }
        for (name, value) in [
            ("PAGER", "cat"),
            ("TERM", "dumb"),
            ("NO_COLOR", "1"),
            ("CI", "1"),
        ] {
            assert_eq!(get(&base, name), Some(value), "{name}");
        }
    }

    #[test]
    fn exported_function_returns_what_bash_reads() {
        let function = |name: &str, value: &str| exported_function(name.as_ref(), value.as_ref());
        let text = "() {  echo \"$1\"\n}";
        let definition = "module () {  echo \"$1\"\n}\n";
        assert_eq!(
            function("BASH_FUNC_module%%", text),
            Some(("module".to_owned(), definition.to_owned()))
        );
        for (name, value) in [
            ("BASH_FUNC_module", text),
            ("BASH_FUNC_module()", text),
            ("module", text),
            ("BASH_FUNC_module%%", "echo"),
        ] {
            assert_eq!(function(name, value), None, "{name} {value}");
        }
    }

    #[test]
    fn build_does_not_set_ci_where_mise_is_set_up() {
        let built = |pairs: &[(&str, &str)]| {
            BaseEnvironment::build(host(pairs), &EnvironmentPolicy::default())
        };
        let with_mise = built(&[("MISE_SHELL", "bash")]);
        assert_eq!(get(&with_mise, "CI"), None);
        assert!(!with_mise.defaults.contains(&"CI") && with_mise.defaults.contains(&"PAGER"));
        let own = built(&[("MISE_SHELL", "bash"), ("CI", "true")]);
        assert_eq!(get(&own, "CI"), Some("true"));
        let without = built(&[("CI", "true")]);
        assert_eq!(get(&without, "CI"), Some("1"));
        assert!(without.defaults.contains(&"CI"));
    }

    #[test]
    fn build_for_terminal_allows_colours() {
        let policy = EnvironmentPolicy {
            unattended: Some(UserPresence::Terminal),
            ..Default::default()
        };
        let base = BaseEnvironment::build(host(&[]), &policy);
        assert_eq!(get(&base, "TERM"), Some("xterm-256color"));
        assert_eq!(get(&base, "NO_COLOR"), None);
        assert_eq!(get(&base, "GIT_PAGER"), Some("cat"));
    }

    #[test]
    fn call_overrides_session_which_overrides_defaults() {
        let session = [("PAGER".into(), Some("more".into())), ("CI".into(), None)].into();
        let policy = EnvironmentPolicy {
            session,
            ..Default::default()
        };
        let base = BaseEnvironment::build(host(&[]), &policy);
        assert_eq!(
            (get(&base, "PAGER"), get(&base, "CI")),
            (Some("more"), None)
        );
        let call = [
            ("PAGER".to_owned(), Some("less".to_owned())),
            ("TERM".to_owned(), None),
        ]
        .into();
        let env = base.for_call(&call);
        assert_eq!(env.get("PAGER"), Some(OsStr::new("less")));
        assert_eq!(env.get("TERM"), None);
    }

    #[test]
    fn inherit_core_and_nothing_drop_other_variables() {
        let host = host(&[("HOME", "/h"), ("LC_ALL", "C"), ("FOO", "1")]);
        let core = EnvironmentPolicy {
            inherit: Inherit::Core,
            ..Default::default()
        };
        let base = BaseEnvironment::build(host.clone(), &core);
        assert_eq!((get(&base, "LC_ALL"), get(&base, "FOO")), (Some("C"), None));
        let nothing = EnvironmentPolicy {
            inherit: Inherit::Nothing,
            unattended: None,
            ..Default::default()
        };
        assert!(BaseEnvironment::build(host, &nothing).variables.is_empty());
    }

    #[test]
    fn build_preserves_values_that_are_not_utf_8() {
        let odd = OsString::from_vec(vec![0xff, 0xfe]);
        let base =
            BaseEnvironment::build([("ODD".into(), odd.clone())], &EnvironmentPolicy::default());
        assert_eq!(base.variables.get(OsStr::new("ODD")), Some(&odd));
    }
}
