//! Defaults that stop programs from waiting for a user who is not present.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Whether a user can see and answer a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UserPresence {
    /// The call has no terminal: no user can answer, and colours are not shown.
    Pipe,
    /// The call has its own terminal, which a user may watch.
    Terminal,
}

/// A variable with its default effect with and without a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnattendedDefault {
    /// The variable.
    pub name: &'static str,
    /// The effect on the variable without a terminal.
    pub pipe: DefaultEffect,
    /// The effect on the variable with a terminal.
    pub terminal: DefaultEffect,
}

/// The effect of a default on its variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultEffect {
    /// Sets the variable.
    Set(&'static str),
    /// Removes the host's value.
    Unset,
    /// Leaves the host's value unchanged.
    Leave,
}

impl UnattendedDefault {
    /// Returns the effect for this presence.
    pub fn setting(&self, presence: UserPresence) -> DefaultEffect {
        match presence {
            UserPresence::Pipe => self.pipe,
            UserPresence::Terminal => self.terminal,
        }
    }
}

const fn always(name: &'static str, value: &'static str) -> UnattendedDefault {
    UnattendedDefault {
        name,
        pipe: DefaultEffect::Set(value),
        terminal: DefaultEffect::Set(value),
    }
}

const fn by_presence(
    name: &'static str,
    pipe: DefaultEffect,
    terminal: DefaultEffect,
) -> UnattendedDefault {
    UnattendedDefault {
        name,
        pipe,
        terminal,
    }
}

/// The variable by which programs detect that no user is present.
pub const CI: &str = "CI";

/// All defaults. A call's own `env` overrides each.
pub const UNATTENDED_DEFAULTS: &[UnattendedDefault] = &[
    // Pagers wait for a key.
    always("PAGER", "cat"),
    always("GIT_PAGER", "cat"),
    always("MANPAGER", "cat"),
    always("SYSTEMD_PAGER", "cat"),
    always("GH_PAGER", "cat"),
    always("PSQL_PAGER", "cat"),
    always("BAT_PAGER", "cat"),
    always("DELTA_PAGER", "cat"),
    always("AWS_PAGER", ""),
    // Editors wait for a user.
    always("EDITOR", "true"),
    always("VISUAL", "true"),
    always("GIT_EDITOR", "true"),
    always("GIT_SEQUENCE_EDITOR", "true"),
    always("GIT_MERGE_AUTOEDIT", "no"),
    // Passwords.
    always("GIT_TERMINAL_PROMPT", "0"),
    always("SSH_ASKPASS", "/usr/bin/false"),
    // Package managers and tools that ask.
    always("DEBIAN_FRONTEND", "noninteractive"),
    always("PIP_NO_INPUT", "1"),
    always("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    always("npm_config_yes", "true"),
    always("npm_config_update_notifier", "false"),
    always("npm_config_fund", "false"),
    always("YARN_ENABLE_TELEMETRY", "0"),
    always("COMPOSER_NO_INTERACTION", "1"),
    always("HOMEBREW_NO_AUTO_UPDATE", "1"),
    always("TF_INPUT", "0"),
    always("TF_IN_AUTOMATION", "1"),
    always("CLOUDSDK_CORE_DISABLE_PROMPTS", "1"),
    always(CI, "1"),
    // Colours and cursor movements are noise where no terminal interprets them.
    by_presence("NO_COLOR", DefaultEffect::Set("1"), DefaultEffect::Leave),
    by_presence("CLICOLOR_FORCE", DefaultEffect::Unset, DefaultEffect::Leave),
    by_presence("FORCE_COLOR", DefaultEffect::Unset, DefaultEffect::Leave),
    by_presence("COLORTERM", DefaultEffect::Unset, DefaultEffect::Leave),
    by_presence(
        "TERM",
        DefaultEffect::Set("dumb"),
        DefaultEffect::Set("xterm-256color"),
    ),
];

/// Returns changes that restore the user's own values of the variables that stop programs from
/// waiting. For a call on a terminal at which the user is present.
pub fn attended(own: &BTreeMap<OsString, OsString>) -> BTreeMap<String, Option<String>> {
    let same_for_both = UNATTENDED_DEFAULTS.iter().filter(|default| {
        default.pipe == default.terminal && matches!(default.terminal, DefaultEffect::Set(_))
    });
    let value = |name: &str| own.get(OsStr::new(name))?.to_str().map(str::to_owned);
    same_for_both
        .map(|default| (default.name.to_owned(), value(default.name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attended_restores_the_users_values() {
        let own = BTreeMap::from([("EDITOR".into(), "vim".into()), ("TERM".into(), "x".into())]);
        let changes = attended(&own);
        assert_eq!(changes.get("EDITOR"), Some(&Some("vim".to_owned())));
        assert_eq!(
            changes.get("GIT_EDITOR"),
            Some(&None),
            "git asks for EDITOR"
        );
        assert_eq!(changes.get("TERM"), None);
    }
}
